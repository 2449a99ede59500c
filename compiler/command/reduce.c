/* reduce.c: tilec reduce --test COMMAND FILE: the shortest text that is found for which the command
 * still ends with 0.
 *
 * Whatever an edit leaves is written to a file of the same name in a folder of its own, whose path
 * is $1 in the command, or its last word; what the command refuses is not looked at again. Rounds
 * are repeated until none of them finds anything more. */
#include "command/reduce.h"

#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEST_SECONDS = 60 };

typedef struct Reducer {
    Session *session;
    const Options *options;
    const char *path; /* of what is tested */
    char *text;       /* the shortest so far; malloc'd */
    size_t length;
    VEC(uint64_t) tried;
    size_t tests;
} Reducer;

static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool was_tried(Reducer *reducer, const Buf *text)
{
    const uint64_t hash = hash_text(text->data, text->length);
    for (size_t i = 0; i < reducer->tried.count; i++)
        if (reducer->tried.data[i] == hash) return true;
    vec_push(reducer->session->arena, &reducer->tried, hash);
    return false;
}

static bool holds(Reducer *reducer, const char *text, size_t length)
{
    Session *session = session_new();
    const char *limit = reducer->options->timeout;
    const uint64_t seconds = limit ? strtoull(limit, NULL, 10) : TEST_SECONDS;
    /* What the command starts ends in time, too: many programs that are tried do not. */
    const char *test = reducer->options->reduce_test;
    const char *command =
        arena_printf(session->arena, "ulimit -t %llu; %s%s", (unsigned long long)seconds, test,
                     strstr(test, "$1") ? "" : " \"$1\"");
    const char *words[] = {"sh", "-c", command, "sh", reducer->path, NULL};
    char *output = NULL;
    reducer->tests++;
    OsProcess *process =
        os_write_file(reducer->path, text, length) ? os_start(session->arena, words) : NULL;
    const int status = process ? os_wait_for(process, seconds * 1000000000, &output) : 1;
    session_free(session);
    return status == 0;
}

static void apply(const Edit *edit, const char *text, size_t length, Buf *out)
{
    size_t at = 0;
    for (int i = 0; i < edit->piece_count; i++) {
        buf_bytes(out, text + at, edit->pieces[i].begin - at);
        buf_text(out, edit->pieces[i].text);
        at = edit->pieces[i].end;
    }
    buf_bytes(out, text + at, length - at);
}

/* Whether the text that the edit leaves does; then it is the text. */
static bool try_edit(Reducer *reducer, const Edit *edit)
{
    Buf text = {0};
    apply(edit, reducer->text, reducer->length, &text);
    const bool same =
        text.length == reducer->length && memcmp(text.data, reducer->text, text.length) == 0;
    const bool better =
        !same && !was_tried(reducer, &text) && holds(reducer, text.data, text.length);
    if (better) {
        char *kept = malloc(text.length + 1);
        CHECK(kept != NULL);
        if (text.length > 0) memcpy(kept, text.data, text.length);
        kept[text.length] = '\0';
        free(reducer->text);
        reducer->text = kept;
        reducer->length = text.length;
    }
    buf_free(&text);
    return better;
}

static void show_progress(const Reducer *reducer, bool is_last)
{
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r%zu bytes after %zu tests\033[K%s", reducer->length, reducer->tests,
            is_last ? "\n" : "");
    fflush(stderr);
}

/* Each edit that does good is followed by those behind it on the new tree. */
static bool run_round(Reducer *reducer, EditRound round)
{
    bool any = false, again = true;
    for (size_t first = 0; again;) {
        Session *session = session_new();
        EditVec edits = {0};
        edits_find(session, reducer->text, reducer->length, round, &edits);
        again = false;
        for (; first < edits.count && !again; first++)
            again = try_edit(reducer, &edits.data[first]);
        if (again) first--;
        any |= again;
        show_progress(reducer, false);
        session_free(session);
    }
    return any;
}

static void reduce_text(Reducer *reducer)
{
    bool any = true;
    while (any) {
        any = false;
        for (int round = 0; round < EDIT_ROUNDS; round++)
            any |= run_round(reducer, (EditRound)round);
    }
    show_progress(reducer, true);
}

static bool open_text(Reducer *reducer, const char *path, const char *folder)
{
    const char *name = strrchr(path, '/');
    const Source *source = source_from_file(reducer->session, path);
    if (!source) return false;
    reducer->path = os_join_path(reducer->session->arena, folder, name ? name + 1 : path);
    reducer->length = source->length;
    reducer->text = malloc(source->length + 1);
    CHECK(reducer->text != NULL);
    memcpy(reducer->text, source->text, source->length + 1);
    if (holds(reducer, reducer->text, reducer->length)) return true;
    diag_report(reducer->session->diags, DIAG_nothing_to_reduce, (Span){0}, path);
    return false;
}

ExitStatus command_reduce(Session *session, const Options *options)
{
    Reducer reducer = {.session = session, .options = options};
    if (options->inputs.count != 1 || !options->reduce_test) {
        diag_report(session->diags, DIAG_command_words, (Span){0}, "reduce",
                    "one file, and --test with a command");
        return EXIT_USAGE;
    }
    const char *folder = os_temp_folder(session->arena);
    if (!folder) {
        diag_report(session->diags, DIAG_cannot_write, (Span){0}, "a temporary folder",
                    strerror(errno));
        return session_status(session);
    }
    if (open_text(&reducer, options->inputs.items[0], folder)) {
        reduce_text(&reducer);
        write_output(session, options->output ? options->output : "-", reducer.text,
                     reducer.length);
    }
    os_remove_folder(folder);
    free(reducer.text);
    return session_status(session);
}
