/* fault_injection.h: a program run without one of the ops that its kernels are ordered by. */
#ifndef TILEC_COMMAND_MUTANTS_H
#define TILEC_COMMAND_MUTANTS_H

#include "driver.h"

bool wants_mutants(const Options *options);
/* Runs the program, or the statements in it, as the options say; `mutants` are those of the kernels
 * that were built on the way. Reports what came of it. */
void run_mutants(Session *session, const Options *options, Program *program, const char *statements,
                 const MutantVec *mutants);

#endif
