/* team.c: threads that are told when one of them fails, and a limit for all. */
#include "team.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GRACE = 10 }; /* seconds that the others have to end when one has failed */

/* ---- failing --------------------------------------------------------------------------------- */

static void note(Rank *rank, const char *why)
{
    Team *team = rank->team;
    pthread_mutex_lock(&team->lock);
    if (!team->has_failed) {
        snprintf(team->why, sizeof team->why, "rank %d: %s", rank->index, why);
        team->has_failed = 1;
    }
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
}

static void leave(Rank *rank)
{
    Team *team = rank->team;
    pthread_mutex_lock(&team->lock);
    team->running--;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
}

static _Noreturn void stop(Rank *rank)
{
    if (rank->team->reducer) rank->team->reducer->abort(rank);
    leave(rank);
    pthread_exit(NULL);
}

void rank_fail(Rank *rank, const char *format, ...)
{
    char why[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    note(rank, why);
    stop(rank);
}

void rank_check(Rank *rank)
{
    if (rank->team->has_failed) stop(rank);
    const Reducer *reducer = rank->team->reducer;
    const char *fault = reducer ? reducer->fault(rank) : NULL;
    if (fault) rank_fail(rank, "%s: %s", reducer->name, fault);
}

void rank_must(Rank *rank, tile_status status, const char *what)
{
    if (status) rank_fail(rank, "%s: %s: %s", what, tile_status_name(status), tile_last_error());
    rank_check(rank);
}

/* ---- together -------------------------------------------------------------------------------- */

void rank_meet(Rank *rank)
{
    Team *team = rank->team;
    const char *doing = rank->doing;
    rank->doing = "waiting for the others";
    pthread_mutex_lock(&team->lock);
    const unsigned meeting = team->meetings;
    if (++team->waiting == team->size) {
        team->waiting = 0;
        team->meetings++;
        pthread_cond_broadcast(&team->changed);
    }
    while (meeting == team->meetings && !team->has_failed)
        pthread_cond_wait(&team->changed, &team->lock);
    pthread_mutex_unlock(&team->lock);
    rank->doing = doing;
    rank_check(rank);
}

void rank_sum(Rank *rank, void *halves, size_t count)
{
    const Reducer *reducer = rank->team->reducer;
    const char *fault = reducer ? reducer->sum(rank, halves, count, rank->reduce) : NULL;
    if (fault) rank_fail(rank, "%s: %s", reducer->name, fault);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct Start {
    Rank *rank;
    RankFunction *function;
    void *argument;
} Start;

static void *begin(void *argument)
{
    const Start *start = argument;
    start->function(start->rank, start->argument);
    leave(start->rank);
    return NULL;
}

/* Until no rank runs, or it takes too long. */
static int wait_for_ranks(Team *team, int seconds)
{
    struct timespec end;
    int late = 0, had_failed = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += seconds;
    pthread_mutex_lock(&team->lock);
    while (team->running && !late) {
        late = pthread_cond_timedwait(&team->changed, &team->lock, &end);
        if (!had_failed && team->has_failed) {
            clock_gettime(CLOCK_REALTIME, &end);
            end.tv_sec += GRACE;
            had_failed = 1;
        }
    }
    const int running = team->running;
    pthread_mutex_unlock(&team->lock);
    return running;
}

/* Threads that do not end can only be left behind. */
static _Noreturn void give_up(const Team *team, const Rank *ranks, int running)
{
    fprintf(stderr, "tensor_parallel: %d of %d ranks do not end:", running, team->size);
    for (int i = 0; i < team->size; i++) fprintf(stderr, " %d is %s;", i, ranks[i].doing);
    fprintf(stderr, " %s\n", team->has_failed ? team->why : "none has failed");
    fflush(NULL);
    _exit(4);
}

int team_run(Team *team, Rank *ranks, RankFunction *function, void *argument, int seconds)
{
    pthread_t threads[MOST_RANKS];
    Start starts[MOST_RANKS];
    team->running = team->size;
    for (int i = 0; i < team->size; i++) {
        starts[i] = (Start){&ranks[i], function, argument};
        ranks[i].doing = "at its start";
        if (pthread_create(&threads[i], NULL, begin, &starts[i])) {
            fprintf(stderr, "tensor_parallel: no thread for rank %d\n", i);
            _exit(3);
        }
    }
    const int running = wait_for_ranks(team, seconds);
    if (running) give_up(team, ranks, running);
    for (int i = 0; i < team->size; i++) pthread_join(threads[i], NULL);
    if (team->has_failed) fprintf(stderr, "tensor_parallel: %s\n", team->why);
    return team->has_failed ? 3 : 0;
}
