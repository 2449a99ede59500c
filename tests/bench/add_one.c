/* add_one.c: every element of add_one(n, a, b) for sizes around the block's, on the GPU or, with
 * TILE_DEVICE=emulator, on the emulator.
 *
 *     add_one [--json FILE]
 *
 * Each size runs twice: with the pointers that the allocator gives, and one element further on,
 * where no vector access is aligned. `b` lies between canaries; `a` ends where its allocation ends,
 * so that a memory checker sees a read beyond it. Exit status 5 if anything was wrong. */
#include "bench.h"

#ifndef HEADER
#define HEADER "add_one.h"
#define ENTRY  add_one
#endif
#include HEADER

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANARIES = 1024 };
static const float CANARY = -12345.0f;

typedef struct result {
    int n, shift;
    tile_status status;
    int wrong, first_wrong; /* elements */
    int overwritten;        /* canaries */
} result;

static float input(int i)
{
    return (float)(i % 100003) / 4; /* exact, and so is the sum */
}

static void *upload(const float *from, size_t count)
{
    void *device;
    bench_must(tile_alloc(&device, count * sizeof *from), "tile_alloc");
    bench_must(tile_copy_in(device, from, count * sizeof *from, NULL), "tile_copy_in");
    return device;
}

static void count_errors(result *result, const float *memory, size_t room)
{
    const size_t begin = CANARIES + (size_t)result->shift, end = begin + (size_t)result->n;
    for (size_t i = 0; i < room; i++) {
        if (i < begin || i >= end) {
            result->overwritten += memory[i] != CANARY;
        } else if (!(memory[i] == input((int)(i - begin)) + 1)) {
            if (!result->wrong++) result->first_wrong = (int)(i - begin);
        }
    }
}

static result run(int n, int shift)
{
    result result = {.n = n, .shift = shift};
    const size_t in = (size_t)(n + shift), room = in + 2 * CANARIES;
    float *a = bench_new(in + 1, sizeof *a), *b = bench_new(room, sizeof *b);
    for (int i = 0; i < n; i++) a[i + shift] = input(i);
    for (size_t i = 0; i < room; i++) b[i] = CANARY;
    void *da = upload(a, in ? in : 1), *db = upload(b, room);
    result.status = ENTRY(NULL, n, (float *)da + shift, (float *)db + CANARIES + shift);
    if (result.status == TILE_OK) result.status = tile_copy_out(b, db, room * sizeof *b, NULL);
    if (result.status == TILE_OK) result.status = tile_synchronize(NULL);
    if (result.status == TILE_OK) count_errors(&result, b, room);
    tile_free(da);
    tile_free(db);
    free(a);
    free(b);
    return result;
}

static int print_result(const result *result)
{
    const int good = !result->status && !result->wrong && !result->overwritten;
    printf("add_one: n = %-8d shift = %d: %s", result->n, result->shift, good ? "ok" : "WRONG");
    if (result->status) printf(": %s: %s", tile_status_name(result->status), tile_last_error());
    if (result->wrong) printf(", %d wrong, the first at %d", result->wrong, result->first_wrong);
    if (result->overwritten) printf(", %d canaries overwritten", result->overwritten);
    printf("\n");
    fflush(stdout);
    return good;
}

static void write_json(const char *path, int runs, int good)
{
    FILE *file = fopen(path, "w");
    if (!file) bench_stop(path);
    fprintf(file, "{\"program\": \"add_one\", \"runs\": %d, \"right\": %d}\n", runs, good);
    fclose(file);
}

int main(int count, char **words)
{
    static const int sizes[] = {0, 1, 16, 127, 128, 129, 1000003};
    int runs = 0, good = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int shift = 0; shift < 2; shift++) {
            const result result = run(sizes[i], shift);
            good += print_result(&result);
            runs++;
        }
    }
    printf("add_one: %d of %d right\n", good, runs);
    if (count == 3 && !strcmp(words[1], "--json")) write_json(words[2], runs, good);
    return good == runs ? 0 : 5;
}
