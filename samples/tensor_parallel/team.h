/* team.h: ranks that compute one layer together, a thread and a GPU each. One that fails ends the
 * others. */
#ifndef TEAM_H
#define TEAM_H

#include <tile/tile.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { MOST_RANKS = 64, LANES = 4 };

/* How halves are summed over the ranks, each rank's own replaced by the sums. */
struct Rank;

typedef struct Reducer {
    const char *name;
    int goes_into_graphs;
    /* For all ranks, before their threads begin. False: why says why. */
    int (*open)(int ranks, const int *devices, char *why, size_t room);
    /* In stream order, in a rank's thread. NULL, or why not. */
    const char *(*sum)(struct Rank *rank, void *halves, size_t count, tile_stream stream);
    const char *(*fault)(const struct Rank *rank); /* of a sum that was begun before; NULL: none */
    void (*abort)(const struct Rank *rank);        /* the sums that wait for others end */
    void (*close)(void);                           /* once, at the end */
} Reducer;
extern const Reducer nccl, loop_back;

typedef struct Team {
    int size;
    const Reducer *reducer; /* NULL: there is one rank */
    pthread_mutex_t lock;   /* of what follows */
    pthread_cond_t changed;
    int running, waiting; /* ranks that are; that are at the barrier */
    unsigned meetings;    /* that have been */
    atomic_int has_failed;
    char why[512]; /* the first that failed says it */
} Team;

typedef struct Rank {
    Team *team;
    int index, device;        /* a device below 0 is the emulator */
    tile_stream compute;      /* what is done for all tokens together */
    tile_stream lanes[LANES]; /* for some of them: what is in one goes before what is in the next */
    tile_stream reduce;       /* sums, and what is done with them: before all others */
    _Atomic(const char *) doing; /* what a rank that is late is at */
} Rank;

typedef void RankFunction(Rank *rank, void *argument);

/* Runs `function` on each rank. 0, or the exit status: a rank failed, or `seconds` have passed. */
int team_run(Team *team, Rank *ranks, RankFunction *function, void *argument, int seconds);

/* Notes why and ends the rank, and with it all others. */
_Noreturn void rank_fail(Rank *rank, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the rank if another one has failed. */
void rank_check(Rank *rank);
void rank_must(Rank *rank, tile_status status, const char *what);
/* Waits until all ranks are there. */
void rank_meet(Rank *rank);
/* Sums over all ranks, behind what `rank->reduce` has. */
void rank_sum(Rank *rank, void *halves, size_t count);

#endif
