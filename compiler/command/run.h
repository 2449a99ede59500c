/* run.h: running a file's host code, for the commands that do. */
#ifndef TILEC_COMMAND_RUN_H
#define TILEC_COMMAND_RUN_H

#include "tunings.h"

/* What a run is to find out beside what the program does. */
typedef struct RunWish {
    Tunings *tunings; /* what is measured, or NULL */
    bool only_plans;  /* launches are noted there, and not made */
} RunWish;

/* Runs the file as __main__, or the statements in its scope. */
ExitStatus run_file(Session *session, const Options *options, const char *statements,
                    const RunWish *wish);

#endif
