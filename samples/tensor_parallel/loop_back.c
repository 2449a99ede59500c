/* loop_back.c: sums over ranks of one process in its memory: for the emulator, and for ranks that
 * share a GPU. */
#include "half.h"
#include "team.h"

#include <stdlib.h>
#include <string.h>

static uint16_t *parts[MOST_RANKS]; /* each rank's, while they are summed */
static size_t rooms[MOST_RANKS];

static int open_loop_back(int ranks, const int *devices, char *why, size_t room)
{
    (void)ranks, (void)devices, (void)why, (void)room;
    return 1;
}

static int make_room(int rank, size_t count)
{
    if (rooms[rank] >= count) return 1;
    free(parts[rank]);
    parts[rank] = malloc(count * sizeof *parts[rank]);
    rooms[rank] = parts[rank] ? count : 0;
    return parts[rank] != NULL;
}

static void sum_parts(int ranks, size_t count, uint16_t *out)
{
    for (size_t i = 0; i < count; i++) {
        float sum = 0;
        for (int r = 0; r < ranks; r++) sum += float_of_half(parts[r][i]);
        out[i] = half_of_float(sum);
    }
}

static const char *sum(Rank *rank, void *halves, size_t count, tile_stream stream)
{
    const size_t bytes = count * sizeof **parts;
    uint16_t *sums = malloc(bytes);
    if (!sums || !make_room(rank->index, count)) return "out of memory";
    rank_must(rank, tile_copy_out(parts[rank->index], halves, bytes, stream), "loop-back");
    rank_must(rank, tile_synchronize(stream), "loop-back");
    rank_meet(rank);
    sum_parts(rank->team->size, count, sums);
    rank_must(rank, tile_copy_in(halves, sums, bytes, stream), "loop-back");
    rank_must(rank, tile_synchronize(stream), "loop-back");
    rank_meet(rank); /* nobody changes a part that another one reads */
    free(sums);
    return NULL;
}

static const char *fault(const Rank *rank)
{
    (void)rank;
    return NULL;
}

static void stop(const Rank *rank)
{
    (void)rank; /* who waits is in rank_meet */
}

static void close_loop_back(void)
{
    for (int i = 0; i < MOST_RANKS; i++) {
        free(parts[i]);
        parts[i] = NULL;
        rooms[i] = 0;
    }
}

const Reducer loop_back = {"loop-back", 0, open_loop_back, sum, fault, stop, close_loop_back};
