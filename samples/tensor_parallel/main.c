/* main.c: a transformer's layer on one GPU and on several, which share its weights: the times, and
 * how far the results differ.
 *
 *     tensor_parallel [--gpus 1,2] [--chunks 1,4] [--parts mlp,attention,layer] [--small]
 *                     [--rounds N] [--limit SECONDS] [--lanes N] [--loop-back] [--always] [--eager]
 *                     [--fail RANK] [--stall RANK] [--json FILE]
 *
 * Every result is compared with that of one GPU, and that one, of a small layer, with double
 * precision on the CPU. */
#include "gpu.h"
#include "half.h"
#include "layer.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_VALUES = 16, MOST_ROUNDS = 32, WARM_UP = 3 };

static const Model large = {.batch = 2, .rows = 4096, .heads = 64, .dim = 128, .inner = 28672};
static const Model small = {.batch = 2, .rows = 64, .heads = 4, .dim = 64, .inner = 512};
static const double TOLERANCE = 4e-3; /* of the norm of the difference, in that of the result */

typedef struct List {
    int count, values[MOST_VALUES];
} List;

typedef struct Options {
    List ranks, chunks, parts;
    const Model *model;
    int rounds, limit, lanes, fail, stall, is_eager, is_emulated, devices;
    int is_small, loops_back, sums_always; /* over one rank, too */
    const Reducer *reducer;                /* of several ranks */
    FILE *json;
} Options;

/* One row of the table. */
typedef struct Case {
    const Options *options;
    Part part;
    int chunks;
    uint16_t *expected;                   /* one GPU's result; the first case makes it */
    double error[MOST_RANKS];             /* of each rank, from that */
    double from_reference;                /* of the first case; negative: not computed */
    float times[MOST_RANKS][MOST_ROUNDS]; /* milliseconds */
} Case;

static const char *const part_names[PART_COUNT] = {
    [PART_MLP] = "mlp", [PART_ATTENTION] = "attention", [PART_LAYER] = "layer"};

/* ---- a rank ---------------------------------------------------------------------------------- */

static size_t result_count(const Model *model)
{
    return (size_t)model_tokens(model) * (size_t)model_width(model);
}

/* NaN if there is one. */
static double difference(const uint16_t *a, const uint16_t *b, size_t count)
{
    double squares = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = (double)float_of_half(a[i]), y = (double)float_of_half(b[i]);
        squares += (x - y) * (x - y);
        all += y * y;
    }
    return sqrt(squares / all);
}

static uint16_t *result_of(const Layer *layer)
{
    const size_t bytes = result_count(layer->model) * sizeof *layer->result;
    uint16_t *result = malloc(bytes);
    if (!result) rank_fail(layer->rank, "out of memory");
    rank_must(layer->rank, tile_copy_out(result, layer->result, bytes, layer->rank->compute),
              "result");
    gpu_wait(layer->rank);
    return result;
}

static void compare(Case *row, const Layer *layer)
{
    const size_t count = result_count(layer->model);
    uint16_t *result = result_of(layer);
    layer->rank->doing = "comparing";
    if (!row->expected && layer->model == &small) {
        uint16_t *reference = reference_of(layer);
        row->from_reference = reference ? difference(result, reference, count) : (double)NAN;
        free(reference);
    }
    if (!row->expected) {
        row->expected = result;
        return;
    }
    row->error[layer->rank->index] = difference(result, row->expected, count);
    free(result);
}

/* Where it is asked for. */
static void go_wrong(const Case *row, Rank *rank)
{
    const struct timespec hour = {3600, 0};
    if (rank->team->size == 1) return;
    if (rank->index == row->options->fail) rank_fail(rank, "told to fail");
    rank->doing = rank->index == row->options->stall ? "asleep" : rank->doing;
    if (rank->index == row->options->stall) nanosleep(&hour, NULL);
}

static void launch(Layer *layer, Graph *graph)
{
    if (graph)
        gpu_launch(layer->rank, graph);
    else
        layer_run(layer);
}

static int launches_of(const Options *options)
{
    return options->model == &large ? 10 : 100;
}

static void measure(Case *row, Layer *layer, Graph *graph)
{
    Rank *rank = layer->rank;
    const int launches = launches_of(row->options);
    rank->doing = "measuring";
    for (int i = 0; i < WARM_UP; i++) launch(layer, graph);
    for (int round = 0; round < row->options->rounds; round++) {
        gpu_wait(rank);
        rank_meet(rank);
        gpu_time(rank);
        for (int i = 0; i < launches; i++) launch(layer, graph);
        row->times[rank->index][round] = gpu_timed(rank) / (float)launches;
    }
}

static Graph *record(const Case *row, Layer *layer)
{
    const Team *team = layer->rank->team;
    if (row->options->is_eager || (team->reducer && !team->reducer->goes_into_graphs)) return NULL;
    layer->rank->doing = "recording a graph";
    gpu_record(layer->rank);
    layer_run(layer);
    return gpu_recorded(layer->rank);
}

/* Once by itself, which sets up what a graph must not; then the graph, again and again. */
static void run_rank(Rank *rank, void *argument)
{
    Case *row = argument;
    Layer layer;
    gpu_open(rank);
    layer_open(&layer, row->options->model, rank, row->part);
    layer.chunks = row->chunks;
    layer.lanes = row->options->lanes;
    rank_meet(rank);
    rank->doing = "at its first run";
    go_wrong(row, rank);
    layer_run(&layer);
    gpu_wait(rank);
    if (!row->options->is_emulated) {
        Graph *graph = record(row, &layer);
        layer_forget(&layer);
        measure(row, &layer, graph);
        gpu_wait(rank);
        if (graph) gpu_free(rank, graph);
    }
    compare(row, &layer);
    layer_close(&layer);
    gpu_close(rank);
}

/* ---- a case ---------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of the rounds, each as long as its slowest rank. */
static double milliseconds(const Case *row, int ranks)
{
    const int rounds = row->options->rounds;
    float slowest[MOST_ROUNDS] = {0};
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < ranks; i++)
            slowest[round] = fmaxf(slowest[round], row->times[i][round]);
    qsort(slowest, (size_t)rounds, sizeof *slowest, by_size);
    return (double)slowest[rounds / 2];
}

/* What a case comes to. */
typedef struct Figures {
    int ranks;
    double ms, rate, faster; /* 0: the emulator has no times */
    double difference; /* of the rank that is farthest from one GPU's result; NaN if one has NaN */
} Figures;

static Figures figures_of(const Case *row, int ranks, double *one)
{
    Figures out = {.ranks = ranks};
    for (int i = 0; i < ranks; i++)
        if (!(row->error[i] <= out.difference)) out.difference = row->error[i];
    if (row->options->is_emulated) return out;
    out.ms = milliseconds(row, ranks);
    if (*one == 0) *one = out.ms;
    out.rate = model_flops(row->options->model, row->part) / out.ms / 1e9 / ranks;
    out.faster = *one / out.ms;
    return out;
}

static void print_row(const Case *row, const Figures *of)
{
    printf("| %s | %d | %d |", part_names[row->part], of->ranks, row->chunks);
    if (of->ms > 0)
        printf(" %.3f | %.0f | %.3f |", of->ms, of->rate, of->faster);
    else
        printf(" - | - | - |");
    printf(" %.1e |", of->difference);
    if (row->from_reference >= 0) printf(" from double precision: %.1e", row->from_reference);
    printf("\n");
    fflush(stdout);
}

static void write_json(const Case *row, const Figures *of)
{
    static const char format[] =
        "{\"part\": \"%s\", \"gpus\": %d, \"chunks\": %d, \"ms\": %.4f, \"tflops_a_gpu\": %.1f, "
        "\"times_one_gpu\": %.4f, \"difference\": %.3e}\n";
    if (row->options->json)
        fprintf(row->options->json, format, part_names[row->part], of->ranks, row->chunks, of->ms,
                of->rate, of->faster, of->difference);
}

/* Whether the results are right. */
static int report(const Case *row, int ranks, double *one)
{
    const Figures figures = figures_of(row, ranks, one);
    print_row(row, &figures);
    write_json(row, &figures);
    return figures.difference <= TOLERANCE && row->from_reference <= TOLERANCE;
}

static int run_case(Case *row, int ranks, double *one)
{
    const Options *options = row->options;
    Rank members[MOST_RANKS] = {0};
    int devices[MOST_RANKS];
    Team team = {
        .size = ranks, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    team.reducer = ranks > 1 || options->sums_always ? options->reducer : NULL;
    for (int i = 0; i < ranks; i++) {
        devices[i] = options->is_emulated ? -1 : i % options->devices;
        members[i] = (Rank){.team = &team, .index = i, .device = devices[i]};
    }
    if (team.reducer && !team.reducer->open(ranks, devices, team.why, sizeof team.why)) {
        fprintf(stderr, "tensor_parallel: %s: %s\n", team.reducer->name, team.why);
        return 3;
    }
    row->from_reference = -1;
    const int status = team_run(&team, members, run_rank, row, options->limit);
    if (status) return status;
    return report(row, ranks, one) ? 0 : 5;
}

/* All cases of a part: first one GPU, without chunks, which the others are compared with. */
static int run_part(const Options *options, Part part)
{
    Case row = {.options = options, .part = part, .chunks = 1};
    double one = 0;
    int status = run_case(&row, 1, &one);
    for (int i = 0; i < options->ranks.count && status != 3; i++) {
        for (int j = 0; j < options->chunks.count && status != 3; j++) {
            row.chunks = options->chunks.values[j];
            if (options->ranks.values[i] == 1 && row.chunks == 1) continue;
            const char *why = model_refuses(options->model, options->ranks.values[i], row.chunks);
            if (why) fprintf(stderr, "tensor_parallel: %s\n", why);
            const int now = why ? 2 : run_case(&row, options->ranks.values[i], &one);
            if (now) status = now;
        }
    }
    free(row.expected);
    return status;
}

/* ---- options --------------------------------------------------------------------------------- */

static void read_numbers(List *list, const char *text)
{
    list->count = 0;
    for (const char *at = text; at && *at && list->count < MOST_VALUES; at = strchr(at, ',')) {
        at += *at == ',';
        list->values[list->count++] = atoi(at);
    }
}

static void read_parts(List *list, const char *text)
{
    list->count = 0;
    for (int i = 0; i < PART_COUNT; i++)
        if (strstr(text, part_names[i])) list->values[list->count++] = i;
}

static _Noreturn void usage(const char *what)
{
    fprintf(stderr, "tensor_parallel: what is '%s'? main.c and README.md have the options\n", what);
    exit(2);
}

typedef enum Kind { FLAG, NUMBER, NUMBERS, PARTS, OUTPUT } Kind;

static const struct Word {
    const char *word;
    Kind kind;
    size_t offset; /* of its field of Options */
} known[] = {
    {"--gpus", NUMBERS, offsetof(Options, ranks)},
    {"--chunks", NUMBERS, offsetof(Options, chunks)},
    {"--parts", PARTS, offsetof(Options, parts)},
    {"--small", FLAG, offsetof(Options, is_small)},
    {"--rounds", NUMBER, offsetof(Options, rounds)},
    {"--limit", NUMBER, offsetof(Options, limit)},
    {"--lanes", NUMBER, offsetof(Options, lanes)},
    {"--loop-back", FLAG, offsetof(Options, loops_back)},
    {"--always", FLAG, offsetof(Options, sums_always)},
    {"--eager", FLAG, offsetof(Options, is_eager)},
    {"--fail", NUMBER, offsetof(Options, fail)},
    {"--stall", NUMBER, offsetof(Options, stall)},
    {"--json", OUTPUT, offsetof(Options, json)},
};

static FILE *open_output(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file) return file;
    perror(path);
    exit(2);
}

static void read_value(Kind kind, void *field, const char *value)
{
    switch (kind) {
    case FLAG: *(int *)field = 1; break;
    case NUMBER: *(int *)field = atoi(value); break;
    case NUMBERS: read_numbers(field, value); break;
    case PARTS: read_parts(field, value); break;
    case OUTPUT: *(FILE **)field = open_output(value); break;
    }
}

/* The number of words that it takes; 0: it is none. */
static int read_word(Options *options, char **at)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(at[0], known[i].word) != 0) continue;
        if (known[i].kind != FLAG && !at[1]) return 0;
        read_value(known[i].kind, (char *)options + known[i].offset, at[1]);
        return known[i].kind == FLAG ? 1 : 2;
    }
    return 0;
}

static void read_options(Options *options, char **words)
{
    for (char **at = words + 1; *at;) {
        const int taken = read_word(options, at);
        if (!taken) usage(*at);
        at += taken;
    }
    if (options->is_small) options->model = &small;
    if (options->loops_back) options->reducer = &loop_back;
    if (options->lanes < 1 || options->lanes > LANES) options->lanes = LANES;
    if (options->rounds > MOST_ROUNDS) options->rounds = MOST_ROUNDS;
}

/* As many GPUs as there are, by twos; on the emulator two ranks. */
static Options usual_options(void)
{
    Options options = {.model = &large,
                       .rounds = 9,
                       .limit = 120,
                       .lanes = LANES,
                       .fail = -1,
                       .stall = -1,
                       .reducer = &nccl};
    const char *wanted = getenv("TILE_DEVICE"); /* has the last word */
    options.devices = wanted && !strcmp(wanted, "emulator") ? 0 : tile_device_count();
    options.is_emulated = options.devices == 0 || !gpu_find();
    if (options.is_emulated) {
        tile_set_device("emulator");
        options.model = &small;
        options.reducer = &loop_back;
    }
    read_parts(&options.parts, options.is_emulated ? "layer" : "mlp,attention,layer");
    read_numbers(&options.chunks, "1,4");
    read_numbers(&options.ranks, options.is_emulated ? "1,2" : "1");
    for (int n = 2; n <= options.devices && n <= MOST_RANKS; n *= 2)
        options.ranks.values[options.ranks.count++] = n;
    return options;
}

int main(int count, char **words)
{
    (void)count;
    Options options = usual_options();
    read_options(&options, words);
    int status = 0;
    printf("| part | GPUs | chunks | ms | TFLOP/s a GPU | times one GPU | difference |\n"
           "|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < options.parts.count && status != 3; i++) {
        const int now = run_part(&options, (Part)options.parts.values[i]);
        if (now) status = now;
    }
    if (options.json) fclose(options.json);
    fflush(NULL);
    if (status == 3) _exit(status); /* what a rank left behind is not for those who clean up */
    options.reducer->close();
    return status;
}
