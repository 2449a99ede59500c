/* stack.c: how large stacks are, and how much of the running thread's is left, for what follows a
 * program's own nesting.
 */
#include "base/base.h"

#include <pthread.h>
#include <sys/resource.h>

/* A quarter is kept for what is called from there, and for the passes behind it. */
static const char *find_mark(void)
{
    pthread_attr_t attributes;
    void *end;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return NULL;
    const bool known = pthread_attr_getstack(&attributes, &end, &size) == 0;
    pthread_attr_destroy(&attributes);
    return known ? (const char *)end + size / 4 : NULL;
}

bool stack_is_low(void)
{
    static _Thread_local bool asked;
    static _Thread_local const char *mark;
    if (!asked) mark = find_mark();
    asked = true;
    return (const char *)__builtin_frame_address(0) < mark;
}

/* Linux keeps 128 MiB free below the main thread's stack, whatever the limit was at the start. */
void stack_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_BYTES) return;
    limit.rlim_cur = limit.rlim_max < STACK_BYTES ? limit.rlim_max : STACK_BYTES;
    setrlimit(RLIMIT_STACK, &limit);
}
