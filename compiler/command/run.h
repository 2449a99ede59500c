/* run.h: running a file's host code, for the commands that do. */
#ifndef TILEC_COMMAND_RUN_H
#define TILEC_COMMAND_RUN_H

#include "build/tunings.h"

#include "eval/host.h"

/* Who looks on at launches: tests. The cells are the arguments as the kernel takes them, those of
 * results included. False: reported, and the run ends. */
typedef struct RunWatch RunWatch;
struct RunWatch {
    bool (*before)(RunWatch *watch, Session *session, const HostLaunch *launch,
                   const uint64_t *cells);
    bool (*after)(RunWatch *watch, Session *session, const HostLaunch *launch,
                  const uint64_t *cells);
};

/* What a run is to find out beside what the program does. */
typedef struct RunWish {
    Tunings *tunings; /* what is measured, or NULL */
    bool only_plans;  /* launches are noted there, and not made */
    RunWatch *watch;  /* or NULL */
    /* Nothing is launched: the kernels that the file's own code makes are staged, and shown. */
    const Survey *survey; /* or NULL */
} RunWish;

/* The extents of a result of a launch that is not made, as far as the call tells them; false: they
 * are computed. */
bool surveyed_extents(const HostLaunch *launch, int index, int64_t extents[TYPE_RANK]);
/* Runs the file as __main__, or the statements in its scope. */
ExitStatus run_file(Session *session, const Options *options, const char *statements,
                    const RunWish *wish);

#endif
