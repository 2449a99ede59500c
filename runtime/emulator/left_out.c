/* left_out.c: code may be compiled to do without one of its ops, to see whether the checks find
 * that. Which one is the process's to say; it is told which ones threads came to. */
#include <stdatomic.h>

#include "emulator/emulator.h"

enum { MOST = 1 << 18 }; /* numbers */

static struct {
    _Atomic uint32_t number; /* left out; 0: none */
    atomic_bool stops;       /* at the first fault */
    atomic_bool came_to[MOST];
} the;

TILE_API void tile_emulator_leave_out(uint32_t number)
{
    the.number = number;
}

TILE_API void tile_emulator_stop_at_fault(int stops)
{
    the.stops = stops != 0;
}

bool tile_emu_stops_at_fault(void)
{
    return the.stops;
}

TILE_API int tile_emulator_came_to(uint32_t number)
{
    return number >= MOST || the.came_to[number];
}

TILE_API uint32_t tile_emu_left_out(tile_emu_thread *thread, uint32_t number, uint32_t holds)
{
    (void)thread;
    if (holds) return 1;
    if (number < MOST) atomic_store_explicit(&the.came_to[number], true, memory_order_relaxed);
    return number == atomic_load_explicit(&the.number, memory_order_relaxed);
}
