/* check.c: the errors of stdlib/math.tile in units in the last place, against the C library's
 * functions in 128-bit floats (113 digits, themselves right to about one unit of those).
 *
 *   check [--points N] [--all] [--table] [--digest] [--dump] [FUNCTION...]
 *
 * N points a function and format (default 20000): a quarter of them bit patterns, which go over all
 * exponents alike, half of them from the range where the function has its shape, a quarter near
 * multiples of hard places; first come pairs of the ends: zeros, infinities, NaN, subnormals, the
 * largest numbers. The 16-bit formats get every pattern, and f32 too with --all.
 *
 * A quick reference, in double for f32 and in 80-bit floats for f64, sorts out the points whose
 * error is below the greatest one so far; what is left, and every 64th point, is measured in 128
 * bits, and there the quick reference has to agree.
 *
 * --table prints the greatest error of each, --digest a number made of all results, by which two
 * devices are compared: TILE_DEVICE says where the kernels run (the emulator); quick instructions
 * differ, and so there is none of what begins with device_. --dump prints points of f64 and the
 * reference there, for cross_check.py. Exit status 1 if one is above its bound, or if an infinity,
 * NaN or zero's sign is not where C's is. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "tile/emulator.h"

typedef _Float128 Wide;

typedef struct Format {
    const char *name;
    int bytes, digits, least; /* least: exponent of the last place of subnormals */
    int most;                 /* numbers lie below 2 ** most */
} Format;

static const Format f16 = {"f16", 2, 11, -24, 16}, bf16 = {"bf16", 2, 8, -133, 128};
static const Format f32 = {"f32", 4, 24, -149, 128}, f64 = {"f64", 8, 53, -1074, 1024};

typedef tile_status OneKernel(tile_stream stream, int32_t n, const void *x, void *y);
typedef tile_status TwoKernel(tile_stream stream, int32_t n, const void *x, const void *y, void *z);

typedef struct Row {
    const char *name;
    const Format *format;
    OneKernel *one;
    TwoKernel *two;
    Wide (*reference)(Wide x);
    Wide (*reference_two)(Wide x, Wide y);
    long double (*quick)(long double x);
    long double (*quick_two)(long double x, long double y);
    double (*quicker)(double x); /* for f32 and less */
    double (*quicker_two)(double x, double y);
    double low, high; /* the range that half of the points are from */
    double bound;     /* in units in the last place */
} Row;

static Wide inverse_rootf128(Wide x)
{
    return 1 / sqrtf128(x);
}

static long double inverse_rootl(long double x)
{
    return 1 / sqrtl(x);
}

static double inverse_root(double x)
{
    return 1 / sqrt(x);
}

/* Exact functions keep to their bound of 0 in the 16-bit formats. */
#define SMALL_BOUND(bound) ((bound) == 0 ? 0 : 0.51)
#define ONE_ROW(f, of, number, from, to, most)                                                     \
    {.name = #f,                                                                                   \
     .format = &number,                                                                            \
     .one = f##_##number,                                                                          \
     .reference = of##f128,                                                                        \
     .quick = of##l,                                                                               \
     .quicker = of,                                                                                \
     .low = from,                                                                                  \
     .high = to,                                                                                   \
     .bound = most},
#define TWO_ROW(f, of, number, from, to, most)                                                     \
    {.name = #f,                                                                                   \
     .format = &number,                                                                            \
     .two = f##_##number,                                                                          \
     .reference_two = of##f128,                                                                    \
     .quick_two = of##l,                                                                           \
     .quicker_two = of,                                                                            \
     .low = from,                                                                                  \
     .high = to,                                                                                   \
     .bound = most},
#define EACH(row, f, of, from, to, bound32, bound64)                                               \
    row(f, of, f16, from, to, SMALL_BOUND(bound32))                                                \
        row(f, of, bf16, from, to, SMALL_BOUND(bound32)) row(f, of, f32, from, to, bound32)        \
            row(f, of, f64, from, to, bound64)
#define ONE(f, of, from, to, bound32, bound64) EACH(ONE_ROW, f, of, from, to, bound32, bound64)
#define TWO(f, of, from, to, bound32, bound64) EACH(TWO_ROW, f, of, from, to, bound32, bound64)
#define ONE_OF_DEVICE(f, from, to, most)       ONE_ROW(device_##f, f, f32, from, to, most)
#define TWO_OF_DEVICE(f, from, to, most)       TWO_ROW(device_##f, f, f32, from, to, most)

static const Row rows[] = {
#include "functions.def"
};

/* ---- numbers as bits ---- */

static double decode(const Format *format, uint64_t bits)
{
    double wide;
    float narrow;
    _Float16 half;
    uint32_t word = (uint32_t)bits;
    uint16_t small = (uint16_t)bits;
    if (format == &f64) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    if (format == &f16) {
        memcpy(&half, &small, sizeof half);
        return (double)half;
    }
    if (format == &bf16) word <<= 16;
    memcpy(&narrow, &word, sizeof narrow);
    return narrow;
}

static uint64_t encode(const Format *format, double value)
{
    uint64_t bits = 0;
    float narrow = (float)value;
    _Float16 half = (_Float16)value;
    if (format == &f64)
        memcpy(&bits, &value, sizeof value);
    else if (format == &f16)
        memcpy(&bits, &half, sizeof half);
    else
        memcpy(&bits, &narrow, sizeof narrow);
    return format == &bf16 ? bits >> 16 : bits;
}

/* ---- errors ---- */

/* Where the last place of a number below 2 ** exponent is. */
static int place_of(const Format *format, int exponent)
{
    const int place = exponent - format->digits, most = format->most - format->digits;
    return place < format->least ? format->least : place > most ? most : place;
}

/* The distance in places of the format at the reference; infinity for what is of another kind. */
static double error_of(const Format *format, double got, Wide wanted)
{
    int exponent;
    if (wanted != wanted || got != got) return wanted != wanted && got != got ? 0 : INFINITY;
    Wide limit = ldexpf128(1, format->most) - ldexpf128(1, format->most - format->digits - 1);
    if (fabsf128(wanted) >= limit)
        wanted = wanted > 0 ? ldexpf128(1, format->most) : -ldexpf128(1, format->most);
    Wide found = got;
    if (isinf(got)) found = got > 0 ? ldexpf128(1, format->most) : -ldexpf128(1, format->most);
    if (found == wanted) return 0;
    frexpf128(wanted, &exponent);
    int place = wanted == 0 ? format->least : place_of(format, exponent);
    return (double)ldexpf128(fabsf128(found - wanted), -place);
}

/* About the same, of finite numbers within the format's range; infinity for others. */
static double quick_error(const Format *format, double got, long double wanted)
{
    int exponent;
    const double rough = (double)wanted;
    if (!(fabs(got) < INFINITY) || !(fabs(rough) < ldexp(1, format->most - 1)) || rough == 0)
        return INFINITY;
    frexpl(wanted, &exponent);
    return (double)ldexpl(fabsl(got - wanted), -place_of(format, exponent));
}

/* Zero where C has the other zero. */
static bool has_wrong_zero(double got, Wide wanted)
{
    return got == 0 && wanted == 0 && !signbit(got) != !signbit(wanted);
}

/* ---- points ---- */

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* SplitMix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static const double ends[] = {
    0.0,
    -0.0,
    INFINITY,
    -INFINITY,
    NAN,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    1.5,
    -1.5,
    0x1p-149,
    -0x1p-149,
    0x1p-1074,
    -0x1p-1074,
    0x1p-126,
    0x1p-1022,
    0x1.fffffep127,
    -0x1.fffffep127,
    0x1.fffffffffffffp1023,
    -0x1.fffffffffffffp1023,
    0x1.8p126, /* whose double is finite */
    0x1.8p1022,
    0x1p23,
    0x1p24,
    0x1p52,
    0x1p53,
    0x1.fffffep-1,
    0x1.fffffffffffffp-1,
    0x1.000002p0,
    0x1.0000000000001p0,
    0x1.921fb54442d18p0,
    0x1.921fb54442d18p1,
    0x1.921fb6p0,
    0x1.6ac5b262ca1ffp849, /* the double nearest to a multiple of pi / 2 */
    0x1.62e42fefa39efp9,
    0x1.62e42ep6,
    -0x1.74385446d71c3p9,
    -0x1.9fe368p6,
    88.8,
    709.8,
    710.4,
    89.3,
    0x1.921fb54442d18p60,
    1e22,
    0.1,
    10,
    1e10,
    0x1.3333333333333p0,
    26.5,
    27.2,
    9.3,
    100,
    1000,
};
enum { END_COUNT = sizeof ends / sizeof *ends };

/* Some places beside a multiple of an end. */
static uint64_t near_end(const Format *format, uint64_t *state)
{
    const uint64_t bits = random_bits(state), multiple = bits >> 32;
    const double scale = bits & 1 ? (double)(multiple >> (bits >> 1 & 31)) : 1;
    const int64_t step = (int64_t)(random_bits(state) >> (40 + (bits >> 6 & 15))) - 4;
    return encode(format, ends[(bits >> 10 & 0xffff) % END_COUNT] * scale) + (uint64_t)step;
}

typedef enum PointKind { PATTERN, NEAR_END, WITHIN } PointKind;

static uint64_t random_point(const Row *row, uint64_t *state, PointKind kind)
{
    const Format *format = row->format;
    const uint64_t mask = UINT64_MAX >> (64 - 8 * format->bytes);
    if (kind == NEAR_END) return near_end(format, state) & mask;
    uint64_t bits = random_bits(state);
    if (kind == PATTERN) return bits & mask;
    return encode(format, row->low + (row->high - row->low) * (double)(bits >> 11) * 0x1p-53);
}

typedef struct Points {
    uint64_t *x, *y;
    void *memory[3]; /* x, y and results as the kernels see them, here */
    void *device[3]; /* and there */
    int count;
} Points;

static void put(const Format *format, void *memory, int index, uint64_t bits)
{
    memcpy((char *)memory + (size_t)index * (size_t)format->bytes, &bits, (size_t)format->bytes);
}

static uint64_t take(const Format *format, const void *memory, int index)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)memory + (size_t)index * (size_t)format->bytes,
           (size_t)format->bytes);
    return bits;
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(3);
    }
    return memory;
}

/* `first` numbers the points of all the batches of a row. */
static void fill(const Row *row, Points *points, uint64_t *state, long first, bool all)
{
    static const PointKind kinds[2][4] = {{PATTERN, WITHIN, NEAR_END, WITHIN},
                                          {PATTERN, PATTERN, WITHIN, WITHIN}};
    for (int i = 0; i < points->count; i++) {
        const long number = first + i;
        const bool end = number < END_COUNT * END_COUNT;
        points->x[i] = all   ? (uint64_t)number
                       : end ? encode(row->format, ends[number % END_COUNT])
                             : random_point(row, state, kinds[0][number % 4]);
        points->y[i] = end ? encode(row->format, ends[number / END_COUNT])
                           : random_point(row, state, kinds[1][number / 2 % 4]);
        put(row->format, points->memory[0], i, points->x[i]);
        put(row->format, points->memory[1], i, points->y[i]);
    }
}

/* ---- a row ---- */

typedef struct Result {
    double error, x, y, got, wanted;
    uint64_t digest;
} Result;

static bool launch(const Row *row, Points *points)
{
    void **at = points->device;
    const size_t bytes = (size_t)points->count * (size_t)row->format->bytes;
    tile_status status = TILE_OK;
    for (int i = 0; !status && i < 2; i++)
        status = tile_copy_in(at[i], points->memory[i], bytes, NULL);
    if (!status)
        status = row->one ? row->one(NULL, points->count, at[0], at[2])
                          : row->two(NULL, points->count, at[0], at[1], at[2]);
    if (!status) status = tile_copy_out(points->memory[2], at[2], bytes, NULL);
    if (!status) status = tile_synchronize(NULL);
    if (status) fprintf(stderr, "%s: %s\n", row->name, tile_last_error());
    return !status;
}

/* The sign and payload of a NaN may differ. */
static void digest(Result *result, double got)
{
    uint64_t bits = 0;
    if (got == got) memcpy(&bits, &got, sizeof bits);
    result->digest = (result->digest ^ bits) * 0x100000001b3u;
    result->digest ^= result->digest >> 29;
}

static double error_in_brief(const Row *row, double x, double y, double got)
{
    long double wanted;
    if (row->format == &f64)
        wanted = row->one ? row->quick(x) : row->quick_two(x, y);
    else
        wanted = row->one ? row->quicker(x) : row->quicker_two(x, y);
    return quick_error(row->format, got, wanted);
}

/* The reference as the sum of three doubles. */
static void dump(const Row *row, const Points *points)
{
    for (int i = END_COUNT * END_COUNT; i < points->count; i++) {
        double x = decode(row->format, points->x[i]), y = decode(row->format, points->y[i]);
        Wide wanted = row->one ? row->reference(x) : row->reference_two(x, y);
        const double high = (double)wanted, middle = (double)(wanted - high);
        printf("%s %a %a %a %a %a\n", row->name, x, y, high, middle,
               (double)(wanted - high - middle));
    }
}

static const double SLACK = 0.01; /* of the quick reference, in places */

static void judge(const Row *row, const Points *points, Result *result)
{
    for (int i = 0; i < points->count; i++) {
        double x = decode(row->format, points->x[i]), y = decode(row->format, points->y[i]);
        double got = decode(row->format, take(row->format, points->memory[2], i));
        double brief = error_in_brief(row, x, y, got);
        digest(result, got);
        if (i % 64 != 0 && brief < result->error - SLACK) continue;
        Wide wanted = row->one ? row->reference(x) : row->reference_two(x, y);
        double error = error_of(row->format, got, wanted);
        if (brief < INFINITY && fabs(brief - error) > SLACK) error = INFINITY;
        if (has_wrong_zero(got, wanted)) error = INFINITY;
        if (!(error <= result->error))
            *result = (Result){error, x, y, got, (double)wanted, result->digest};
    }
}

enum { BATCH = 65536 };

static void points_new(const Row *row, Points *points)
{
    const size_t bytes = (size_t)BATCH * (size_t)row->format->bytes;
    points->x = must(calloc(BATCH, sizeof *points->x));
    points->y = must(calloc(BATCH, sizeof *points->y));
    for (int i = 0; i < 3; i++) {
        points->memory[i] = must(calloc(1, bytes));
        if (tile_alloc(&points->device[i], bytes) == TILE_OK) continue;
        fprintf(stderr, "%s\n", tile_last_error());
        exit(3);
    }
}

static void points_free(Points *points)
{
    for (int i = 0; i < 3; i++) {
        free(points->memory[i]);
        tile_free(points->device[i]);
    }
    free(points->x);
    free(points->y);
}

typedef struct Wishes {
    long points;
    bool all, table, digest, dump;
} Wishes;

static void report(const Row *row, const Wishes *wishes, const Result *result, bool fine)
{
    if (wishes->table)
        printf("%-12s %-4s %8.4f of %g\n", row->name, row->format->name, result->error, row->bound);
    if (wishes->digest && strncmp(row->name, "device_", 7) != 0)
        printf("%-12s %-4s %016llx\n", row->name, row->format->name,
               (unsigned long long)result->digest);
    if (!fine)
        printf("%s %s(%a, %a) = %a, not %a: %g places\n", row->name, row->format->name, result->x,
               result->y, result->got, result->wanted, result->error);
    fflush(stdout);
}

static bool check_row(const Row *row, const Wishes *wishes)
{
    const bool all = row->one && (row->format->bytes == 2 || (row->format == &f32 && wishes->all));
    const long count = all ? 1l << 8 * row->format->bytes : wishes->points;
    Points points;
    Result result = {0};
    uint64_t state = 1;
    bool fine = true;
    points_new(row, &points);
    for (long done = 0; fine && done < count; done += points.count) {
        points.count = (int)(count - done < BATCH ? count - done : BATCH);
        fill(row, &points, &state, done, all);
        fine = launch(row, &points);
        if (fine) judge(row, &points, &result);
        if (wishes->dump && row->format == &f64) dump(row, &points);
    }
    fine = fine && result.error <= row->bound;
    report(row, wishes, &result, fine);
    points_free(&points);
    return fine;
}

static bool is_wanted(const Row *row, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], row->name) == 0) return true;
    return count == 0;
}

int main(int count, char **words)
{
    Wishes wishes = {.points = 20000};
    bool fine = true;
    int at = 1;
    for (; at < count && words[at][0] == '-'; at++) {
        if (strcmp(words[at], "--table") == 0)
            wishes.table = true;
        else if (strcmp(words[at], "--all") == 0)
            wishes.all = true;
        else if (strcmp(words[at], "--dump") == 0)
            wishes.dump = true;
        else if (strcmp(words[at], "--digest") == 0)
            wishes.digest = true;
        else if (strcmp(words[at], "--points") == 0 && at + 1 < count)
            wishes.points = atol(words[++at]);
        else
            return 2;
    }
    if (getenv("TILE_DEVICE") == NULL) tile_set_device("emulator");
    tile_emulator_set_checked(0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_wanted(&rows[i], count - at, words + at)) fine &= check_row(&rows[i], &wishes);
    return fine ? 0 : 1;
}
