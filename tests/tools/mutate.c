/* mutate.c: broken texts for the parser, in large numbers.
 *
 *     mutate [--count=N] [--first=N] [--write=FOLDER] FILE|FOLDER...
 *
 * Each input is a piece of one of the files (.py and .tile below the folders), cut at random places
 * and changed at a few: bytes, marks, words, ranges that vanish or come twice. Its number alone
 * decides what it is, given the same files: `--first=N --count=1 --write=FOLDER` gives input N
 * again, as FOLDER/N.py, and nothing is parsed.
 *
 * A child process parses them one after the other, renders the messages, prints the tree and checks
 * its places; the parent sees it crash, or hang. Exit status 1 if an input crashed, took more than
 * a second of processor time, or gave a node or message whose place is not in the text. */
#include "base/base.h"
#include "base/vec.h"
#include "syntax/parser.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALLEST = 16, LARGEST = 4096, MAX_CHANGES = 6, HANG_SECONDS = 20 };
static const uint64_t slow_ns = 1000000000;

typedef struct Input {
    const char *path, *text;
    size_t length;
} Input;

typedef struct Corpus {
    Arena *arena;
    VEC(Input) files;
} Corpus;

typedef struct Progress { /* shared with the child */
    uint64_t number, slowest, slowest_ns, accepted, refused, bytes;
} Progress;

/* ---- files ---- */

static Corpus *walking; /* nftw passes nothing on */

static bool has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static int visit_file(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)place;
    if (kind != FTW_F || (!has_ending(path, ".py") && !has_ending(path, ".tile"))) return 0;
    Input input = {.path = arena_copy_text(walking->arena, path, strlen(path))};
    input.text = os_read_file(walking->arena, path, &input.length);
    if (input.text != NULL && input.length > 0) vec_push(walking->arena, &walking->files, input);
    return 0;
}

/* The order in which folders list their files must not matter. */
static int compare_paths(const void *left, const void *right)
{
    return strcmp(((const Input *)left)->path, ((const Input *)right)->path);
}

/* ---- changes ---- */

/* splitmix64: good from any seed, so an input's number may be one. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t random_below(uint64_t *state, size_t bound)
{
    return bound == 0 ? 0 : (size_t)(next_random(state) % bound);
}

typedef struct Text {
    char data[2 * LARGEST];
    size_t length;
} Text;

static void replace_range(Text *text, size_t at, size_t count, const char *with, size_t length)
{
    if (text->length - count + length > sizeof text->data) return;
    memmove(text->data + at + length, text->data + at + count, text->length - at - count);
    memcpy(text->data + at, with, length);
    text->length = text->length - count + length;
}

static void insert_word(uint64_t *random, Text *text, size_t at)
{
    static const char *const words[] = {
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "'",
        "\"",
        "'''",
        "f'{",
        "f\"",
        "{x!r:",
        "=}",
        "\\",
        "\n",
        "\n    ",
        "\r\n",
        "\t",
        "\f",
        "#",
        ";",
        "=",
        ":=",
        "==",
        "->",
        "*",
        "**",
        "...",
        ".",
        "@",
        "!",
        "\\N{",
        "\\x",
        "rb'",
        " if ",
        " else ",
        " elif ",
        " for ",
        " in ",
        " as ",
        " not ",
        "def ",
        "class ",
        "match",
        "case ",
        "type ",
        "try:",
        "except*",
        "with ",
        "lambda ",
        "async ",
        "await ",
        "yield",
        "from ",
        "del ",
        "global",
        "0x",
        "1e",
        "0_",
        "9j",
        "\xc3\xa9",
        "\xef\xbd\x81",
        "\xe2\x80\x9c",
        "\xcc\x81",
        "\xed\xa0\x80",
        "\xff",
        "\xef\xbb\xbf",
    };
    const char *word = words[random_below(random, sizeof words / sizeof *words)];
    replace_range(text, at, 0, word, strlen(word));
}

static void change_text(uint64_t *random, Text *text)
{
    size_t at = random_below(random, text->length);
    size_t count = random_below(random, text->length - at);
    if (count > 40) count = random_below(random, 40);
    char copy[40], byte = (char)next_random(random);
    memcpy(copy, text->data + at, count);
    switch (next_random(random) % 6) {
    case 0:
        if (text->length > 0) text->data[at] = byte;
        return;
    case 1: replace_range(text, at, count, "", 0); return;
    case 2: replace_range(text, at, 0, copy, count); return;
    case 3: replace_range(text, random_below(random, text->length), 0, copy, count); return;
    default: insert_word(random, text, at);
    }
}

/* A line that no block holds. */
static bool is_outer_line(const Input *file, size_t at)
{
    if (at > 0 && file->text[at - 1] != '\n') return false;
    return at == file->length || strchr(" \t\r\n#)]}", file->text[at]) == NULL;
}

/* Half of the pieces hold whole statements: a change to them is all that is wrong, if anything. */
static void cut_piece(uint64_t *random, const Input *file, Text *text)
{
    size_t begin = random_below(random, file->length);
    size_t end = begin + SMALLEST + random_below(random, LARGEST - SMALLEST);
    if (end > file->length) end = file->length;
    if (next_random(random) % 2 == 0) {
        while (begin > 0 && !is_outer_line(file, begin)) begin--;
        while (end > begin + 1 && !is_outer_line(file, end)) end--;
        if (end > begin + LARGEST) end = begin + LARGEST;
    }
    text->length = end - begin;
    memcpy(text->data, file->text + begin, text->length);
}

static void make_input(const Corpus *corpus, uint64_t number, Text *text)
{
    uint64_t random = number;
    const Input *file = &corpus->files.data[random_below(&random, corpus->files.count)];
    cut_piece(&random, file, text);
    size_t changes = random_below(&random, random_below(&random, MAX_CHANGES + 1) + 1);
    for (size_t i = 0; i < changes; i++) change_text(&random, text);
}

/* ---- parsing ---- */

static void check_place(void *context, const Node *node)
{
    const Source *source = context;
    if (node->span.source != source || node->span.begin > node->span.end ||
        node->span.end > source->length)
        ICE("%s at %u-%u of %zu bytes", node_kind_name(node->kind), node->span.begin,
            node->span.end, source->length);
    node_visit_children(node, check_place, context);
}

static bool parse_text(const Text *text)
{
    Session *session = session_new();
    Source *source = source_from_text(session, "input", text->data, text->length);
    Module *module = parse_source(session, source);
    bool accepted = diag_error_count(session->diags) == 0;
    Buf out = {0};
    check_place(source, &module->tree->base);
    print_tree(&module->tree->base, &out);
    diag_render(session->diags, DIAG_TEXT, false, &out);
    buf_free(&out);
    session_free(session);
    return accepted;
}

static uint64_t processor_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void parse_all(const Corpus *corpus, uint64_t first, uint64_t count, Progress *progress)
{
    Text text;
    for (uint64_t number = first; number < first + count; number++) {
        progress->number = number;
        make_input(corpus, number, &text);
        uint64_t begin = processor_ns();
        if (parse_text(&text))
            progress->accepted++;
        else
            progress->refused++;
        uint64_t taken = processor_ns() - begin;
        progress->bytes += text.length;
        if (taken <= progress->slowest_ns) continue;
        progress->slowest = number;
        progress->slowest_ns = taken;
    }
}

/* Waits for the child; kills it if it stands still. */
static int watch_child(pid_t child, const Progress *progress)
{
    uint64_t seen = UINT64_MAX, since = os_now_ns();
    int status;
    const volatile uint64_t *number = &progress->number;
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return status;
        if (ended < 0 && errno != EINTR) return -1;
        if (*number != seen) {
            seen = *number;
            since = os_now_ns();
        } else if (os_now_ns() - since > (uint64_t)HANG_SECONDS * 1000000000u) {
            kill(child, SIGKILL);
        }
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
}

static int run_child(const Corpus *corpus, uint64_t first, uint64_t count)
{
    Progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return perror("mmap"), 1;
    pid_t child = fork();
    if (child < 0) return perror("fork"), 1;
    if (child == 0) {
        parse_all(corpus, first, count, progress);
        _exit(0);
    }
    int status = watch_child(child, progress);
    if (status != 0)
        printf("input %llu: the child ended with status %#x\n",
               (unsigned long long)progress->number, (unsigned)status);
    if (progress->slowest_ns > slow_ns)
        printf("input %llu: too slow\n", (unsigned long long)progress->slowest);
    printf("%llu inputs (%llu accepted, %llu refused), %.1f MB; slowest: %llu, %.1f ms\n",
           (unsigned long long)(progress->accepted + progress->refused),
           (unsigned long long)progress->accepted, (unsigned long long)progress->refused,
           (double)progress->bytes / 1e6, (unsigned long long)progress->slowest,
           (double)progress->slowest_ns / 1e6);
    return status != 0 || progress->slowest_ns > slow_ns;
}

static bool write_inputs(const Corpus *corpus, const char *folder, uint64_t first, uint64_t count)
{
    Text text;
    for (uint64_t number = first; number < first + count; number++) {
        char *path = arena_printf(corpus->arena, "%s/%llu.py", folder, (unsigned long long)number);
        make_input(corpus, number, &text);
        if (!os_write_file(path, text.data, text.length)) return perror(path), false;
    }
    return true;
}

int main(int argument_count, char **arguments)
{
    Corpus corpus = {.arena = arena_new()};
    uint64_t first = 1, count = 10000;
    const char *folder = NULL;
    walking = &corpus;
    for (int i = 1; i < argument_count; i++) {
        const char *word = arguments[i];
        if (strncmp(word, "--count=", 8) == 0)
            count = strtoull(word + 8, NULL, 10);
        else if (strncmp(word, "--first=", 8) == 0)
            first = strtoull(word + 8, NULL, 10);
        else if (strncmp(word, "--write=", 8) == 0)
            folder = word + 8;
        else if (nftw(word, visit_file, 32, FTW_PHYS) != 0)
            return perror(word), 1;
    }
    if (corpus.files.count == 0) {
        fprintf(stderr, "usage: mutate [--count=N] [--first=N] [--write=FOLDER] FILE|FOLDER...\n");
        return 2;
    }
    qsort(corpus.files.data, corpus.files.count, sizeof(Input), compare_paths);
    int status = 0;
    if (folder != NULL)
        status = !write_inputs(&corpus, folder, first, count);
    else
        status = run_child(&corpus, first, count);
    arena_free(corpus.arena);
    return status;
}
