/* fork.c: a child process has the locks of its parent, but not the threads that hold them, and not
 * the driver: so the thread that forks takes what the emulator needs first, and the child's calls
 * of a GPU are refused before they come to any other lock. */
#include "runtime.h"

static void before(void)
{
    pthread_mutex_lock(&tile_the_process.lock);
    tile_memory_lock();
}

static void in_parent(void)
{
    tile_memory_unlock();
    pthread_mutex_unlock(&tile_the_process.lock);
}

/* Who holds a lock is not the same thread any more: they are made anew. */
static void in_child(void)
{
    tile_process *process = &tile_the_process;
    tile_memory_unlock_child();
    pthread_mutex_init(&process->lock, NULL);
    if (!atomic_load_explicit(&process->driver, memory_order_relaxed)) return;
    process->was_forked = 1;
    atomic_store_explicit(&process->driver, NULL, memory_order_relaxed);
}

static void watch(void)
{
    pthread_atfork(before, in_parent, in_child);
}

void tile_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}
