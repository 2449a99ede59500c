/* library.h: the compiler as a library inside other people's programs. */
#ifndef TILEC_LIBRARY_H
#define TILEC_LIBRARY_H

#include "base/base.h"
#include "target/target.h"

#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>

/* Where this thread goes on when the compiler finds that it is wrong (fault.c): the text is filled,
 * and what was allocated is lost. NULL: nowhere. */
typedef struct Refuge {
    jmp_buf place;
    char *text;
    size_t bytes;
} Refuge;
void refuge_set(Refuge *refuge);

/* ---- thread.c ---- */

/* On a thread that hears no signals and whose stack is large. 0 or an errno. */
int library_thread(pthread_t *thread, void *(*function)(void *), void *context);
int library_run(void *(*function)(void *), void *context); /* to its end */

/* The architectures of these GPUs, those that no row of the table names being portable PTX; of
 * none, the emulator of `emulated` (NULL: the default). */
const char *library_archs(Arena *arena, const uint32_t *computes, uint32_t count,
                          const char *emulated);

/* Makes what the threads of all builds share; any number of times. */
void library_prepare(void);

#endif
