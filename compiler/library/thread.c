/* thread.c: the library's own threads: with room for what nests, the C locale, and a refuge. */
#include "library/library.h"

#include "base/base.h"

#include <signal.h>

int library_thread(pthread_t *thread, void *(*function)(void *), void *context)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, &attributes, function, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

int library_run(void *(*function)(void *), void *context)
{
    pthread_t thread;
    const int error = library_thread(&thread, function, context);
    if (!error) pthread_join(thread, NULL);
    return error;
}

const char *library_archs(Arena *arena, const uint32_t *computes, uint32_t count,
                          const char *emulated)
{
    const char *list = count      ? ""
                       : emulated ? arena_printf(arena, "emulator:%s", emulated)
                                  : "emulator";
    for (uint32_t i = 0; i < count; i++) {
        const Target *target = target_for_chip((int)computes[i]);
        list =
            arena_printf(arena, "%s%s%s", list, i ? "," : "", target ? target->name : "compute_80");
    }
    return list;
}
