/* parse_speed.c: how fast text becomes a checked tree. `make build/bench/parse_speed`, then
 *
 *     parse_speed [--rounds=N] FILE|FOLDER...
 *
 * reads all .py and .tile files below the folders first, and then parses each in a session of its
 * own, as a run of the compiler does: finding lines, tokens, tree, checks, and the release of it
 * all are in the time, which is the processor's. Files that are refused are timed too, and counted.
 * The table gives the best and the median round; `--slowest` names the files that are slowest for
 * their size. */
#include "base/base.h"
#include "base/vec.h"
#include "syntax/syntax.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 101, SHOWN_SLOWEST = 10, SMALLEST_SHOWN = 4096 };

typedef struct Input {
    const char *path, *text;
    size_t length;
    uint64_t best_ns;
} Input;

typedef struct Bench {
    Arena *arena;
    VEC(Input) inputs;
    size_t bytes, refused;
} Bench;

static bool has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static void add_file(Bench *bench, const char *path)
{
    Input input = {.path = arena_copy_text(bench->arena, path, strlen(path)),
                   .best_ns = UINT64_MAX};
    input.text = os_read_file(bench->arena, path, &input.length);
    if (input.text == NULL) {
        perror(path);
        exit(1);
    }
    vec_push(bench->arena, &bench->inputs, input);
    bench->bytes += input.length;
}

static Bench *walking; /* nftw passes nothing on */

static int visit_file(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)place;
    if (kind == FTW_F && (has_ending(path, ".py") || has_ending(path, ".tile")))
        add_file(walking, path);
    return 0;
}

static uint64_t processor_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool parse_input(Input *input)
{
    uint64_t begin = processor_ns();
    Session *session = session_new();
    parse_source(session, source_from_text(session, input->path, input->text, input->length));
    bool accepted = diag_error_count(session->diags) == 0;
    session_free(session);
    uint64_t taken = processor_ns() - begin;
    if (taken < input->best_ns) input->best_ns = taken;
    return accepted;
}

static uint64_t run_round(Bench *bench)
{
    uint64_t begin = processor_ns();
    bench->refused = 0;
    for (size_t i = 0; i < bench->inputs.count; i++)
        bench->refused += !parse_input(&bench->inputs.data[i]);
    return processor_ns() - begin;
}

static int compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static double speed_of(size_t bytes, uint64_t ns) /* MB/s, a MB being 10^6 bytes */
{
    return (double)bytes * 1e3 / (double)(ns == 0 ? 1 : ns);
}

static int compare_speeds(const void *left, const void *right)
{
    const Input *a = left, *b = right;
    double x = speed_of(a->length, a->best_ns), y = speed_of(b->length, b->best_ns);
    return x < y ? -1 : x > y;
}

static void print_slowest(Bench *bench)
{
    qsort(bench->inputs.data, bench->inputs.count, sizeof(Input), compare_speeds);
    int shown = 0;
    for (size_t i = 0; i < bench->inputs.count && shown < SHOWN_SLOWEST; i++) {
        const Input *input = &bench->inputs.data[i];
        if (input->length < SMALLEST_SHOWN) continue;
        printf("%8.1f MB/s  %s\n", speed_of(input->length, input->best_ns), input->path);
        shown++;
    }
}

int main(int count, char **words)
{
    Bench bench = {.arena = arena_new()};
    int rounds = 7;
    bool slowest = false;
    walking = &bench;
    for (int i = 1; i < count; i++) {
        if (strncmp(words[i], "--rounds=", 9) == 0)
            rounds = atoi(words[i] + 9);
        else if (strcmp(words[i], "--slowest") == 0)
            slowest = true;
        else if (nftw(words[i], visit_file, 32, FTW_PHYS) != 0)
            return perror(words[i]), 1;
    }
    if (bench.inputs.count == 0 || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: parse_speed [--rounds=N] [--slowest] FILE|FOLDER...\n");
        return 2;
    }
    uint64_t times[MAX_ROUNDS];
    for (int i = 0; i < rounds; i++) times[i] = run_round(&bench);
    qsort(times, (size_t)rounds, sizeof *times, compare_times);
    printf("%zu files (%zu refused), %.2f MB: best %.1f MB/s, median %.1f MB/s of %d rounds\n",
           bench.inputs.count, bench.refused, (double)bench.bytes / 1e6,
           speed_of(bench.bytes, times[0]), speed_of(bench.bytes, times[rounds / 2]), rounds);
    if (slowest) print_slowest(&bench);
    arena_free(bench.arena);
    return 0;
}
