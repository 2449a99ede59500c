/* library.h: the compiler as a library inside other people's programs. */
#ifndef TILEC_LIBRARY_H
#define TILEC_LIBRARY_H

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

#endif
