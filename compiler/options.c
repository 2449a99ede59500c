/* options.c: the command line, from options.def and commands.def. */
#include "options.h"

#include "passes/passes.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum OptionKind { FLAG, VALUE, JOINED, LIST, JOINED_LIST } OptionKind;

typedef struct OptionRow {
    const char *spelling, *argument, *help;
    OptionKind kind;
    size_t offset;
} OptionRow;

static const OptionRow options[] = {
#define OPTION(field, spelling, kind, argument, help)                                              \
    {spelling, argument, help, kind, offsetof(Options, field)},
#include "options.def"
#undef OPTION
};
enum { OPTION_TOTAL = sizeof options / sizeof options[0] };

static const struct {
    const char *name, *arguments, *help;
} commands[] = {
#define COMMAND(name, spelling, arguments, help) {spelling, arguments, help},
#include "commands.def"
#undef COMMAND
};
enum { COMMAND_TOTAL = sizeof commands / sizeof commands[0] };

typedef VEC(const char *) Words;

typedef struct Parser {
    Session *session;
    Words words;
    size_t at;
    Options *out;
} Parser;

static void list_add(Arena *arena, TextList *list, const char *text)
{
    const char **items = arena_new_array(arena, const char *, list->count + 1);
    if (list->count) memcpy(items, list->items, sizeof *items * (size_t)list->count);
    items[list->count++] = text;
    list->items = items;
}

static bool is_glued(const OptionRow *row)
{
    return row->kind == JOINED || row->kind == JOINED_LIST;
}

/* The longest spelling that `word` is, or begins with in a way that the row allows. */
static const OptionRow *find_option(const char *word)
{
    const OptionRow *best = NULL;
    for (int i = 0; i < OPTION_TOTAL; i++) {
        const OptionRow *row = &options[i];
        size_t length = strlen(row->spelling);
        if (strncmp(word, row->spelling, length) != 0) continue;
        bool fits =
            word[length] == '\0' || is_glued(row) || (word[length] == '=' && row->kind != FLAG);
        if (fits && (!best || length > strlen(best->spelling))) best = row;
    }
    return best;
}

static const char *option_argument(Parser *parser, const OptionRow *row, const char *word)
{
    const char *rest = word + strlen(row->spelling);
    if (*rest == '=') return rest + 1;
    if (*rest) return rest;
    if (parser->at < parser->words.count) return parser->words.data[parser->at++];
    diag_report(parser->session->diags, DIAG_option_argument, (Span){0}, row->spelling,
                row->argument);
    return NULL;
}

static bool refuse_option(Session *session, const char *word)
{
    const size_t length = strcspn(word, "=");
    Nearest nearest = nearest_to(arena_copy_text(session->arena, word, length));
    for (int i = 0; i < OPTION_TOTAL; i++) nearest_try(&nearest, options[i].spelling);
    diag_report(session->diags, DIAG_unknown_option, (Span){0}, word);
    if (length > 2) diag_hint_nearest(session->diags, &nearest); /* not of one letter */
    return false;
}

static bool parse_option(Parser *parser, const char *word)
{
    const OptionRow *row = find_option(word);
    if (!row) return refuse_option(parser->session, word);
    char *field = (char *)parser->out + row->offset;
    list_add(parser->session->arena, &parser->out->given, row->spelling);
    if (row->kind == FLAG) {
        *(bool *)field = true;
        return true;
    }
    const char *argument = option_argument(parser, row, word);
    if (!argument) return false;
    if (row->kind == VALUE || row->kind == JOINED)
        *(const char **)field = argument;
    else
        list_add(parser->session->arena, (TextList *)field, argument);
    return true;
}

static bool is_command(const char *word)
{
    for (int i = 0; i < COMMAND_TOTAL; i++)
        if (strcmp(commands[i].name, word) == 0) return true;
    return false;
}

void options_hint_command(Session *session, const char *word)
{
    Nearest nearest = nearest_to(word);
    for (int i = 0; i < COMMAND_TOTAL; i++) nearest_try(&nearest, commands[i].name);
    diag_hint_nearest(session->diags, &nearest);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Words of a response file, as gcc's: separated by white space, quoted by ' or "; a backslash
 * before a character means that character. */
static bool read_response(Parser *parser, const char *path, Words *out)
{
    size_t length;
    Arena *arena = parser->session->arena;
    char *text = os_read_file(arena, path, &length);
    if (!text) {
        diag_report(parser->session->diags, DIAG_cannot_read, (Span){0}, path, strerror(errno));
        return false;
    }
    for (const char *at = text; *at;) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        Buf word = {0};
        for (char quote = 0; *at && (quote || !is_blank(*at)); at++) {
            if (*at == '\\' && at[1])
                buf_char(&word, *++at);
            else if (*at == quote)
                quote = 0;
            else if (!quote && (*at == '\'' || *at == '"'))
                quote = *at;
            else
                buf_char(&word, *at);
        }
        vec_push(arena, out, arena_copy_text(arena, word.data ? word.data : "", word.length));
        buf_free(&word);
    }
    return true;
}

static bool expand_words(Parser *parser, int count, char **words)
{
    for (int i = 1; i < count; i++) {
        const bool is_argument =
            strcmp(words[i - 1], "--export") == 0; /* which takes @FILE itself */
        if (words[i][0] == '@' && words[i][1] && !is_argument) {
            if (!read_response(parser, words[i] + 1, &parser->words)) return false;
        } else {
            vec_push(parser->session->arena, &parser->words, words[i]);
        }
    }
    return true;
}

/* ---- values ---- */

static bool refuse_value(Session *session, const char *option, const char *value, const char *why)
{
    diag_report(session->diags, DIAG_option_value, (Span){0}, option, value, why);
    return false;
}

/* What must be a whole number; NULL: not given. */
static bool check_number(Session *session, const char *option, const char *value, unsigned low,
                         unsigned high)
{
    if (!value) return true;
    char *end;
    errno = 0;
    unsigned long number = strtoul(value, &end, 10);
    if (value[0] >= '0' && value[0] <= '9' && !*end && !errno && number >= low && number <= high)
        return true;
    return refuse_value(
        session, option, value,
        arena_printf(session->arena, "a number from %u to %u is needed", low, high));
}

/* A pass, or all of them. */
static bool check_pass(Session *session, const char *name)
{
    if (!name || strcmp(name, "all") == 0) return true;
    Nearest nearest = nearest_to(name);
    for (int i = 0; pass_name_at(i); i++) {
        if (strcmp(pass_name_at(i), name) == 0) return true;
        nearest_try(&nearest, pass_name_at(i));
    }
    refuse_value(session, "--print-after", name,
                 "there is no such pass: tilec opt --list names them");
    diag_hint_nearest(session->diags, &nearest);
    return false;
}

/* What names in C may begin with, "": nothing is put before them. */
static bool check_prefix(Session *session, const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    bool fine = !text || !*text || strchr(letters, *text) || *text & 0x80;
    for (const char *at = text; at && *at; at++)
        fine &= strchr(letters, *at) || (*at >= '0' && *at <= '9') || *at & 0x80;
    return fine || refuse_value(session, "--prefix", text,
                                "letters, digits and _ are needed, and no digit first");
}

static bool check_values(Session *session, const Options *options)
{
    const char *format = options->diagnostics;
    bool fine = !format || strcmp(format, "text") == 0 || strcmp(format, "json") == 0 ||
                refuse_value(session, "--diagnostics", format, "text or json is needed");
    const char *each = options->leave_each_out;
    fine &= !each || strcmp(each, "waits") == 0 || strcmp(each, "predicates") == 0 ||
            strcmp(each, "all") == 0 ||
            refuse_value(session, "--leave-each-out", each, "waits, predicates or all is needed");
    const char *contraction = options->contraction;
    fine &= !contraction || strcmp(contraction, "fast") == 0 || strcmp(contraction, "off") == 0 ||
            refuse_value(session, "-ffp-contract", contraction, "fast or off is needed");
    fine &= check_prefix(session, options->prefix);
    fine &= check_pass(session, options->print_after);
    fine &= check_number(session, "-O", options->optimise, 0, 3);
    fine &= check_number(session, "-j", options->jobs, 1, 1024);
    fine &= check_number(session, "--max-calls", options->max_calls, 1, 1000000000);
    fine &= check_number(session, "--leave-out", options->leave_out, 1, 1000000);
    fine &= check_number(session, "--at-most", options->at_most, 1, 1000000);
    fine &= check_number(session, "--timeout", options->timeout, 1, 1000000);
    return fine;
}

bool text_in_list(const char *list, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = list; at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, text, length) == 0 && (at[length] == ',' || !at[length])) return true;
    }
    return false;
}

/* "@FILE" among the exports stands for the file's lines; those that begin with # say nothing. */
static bool read_exports(Session *session, Options *out)
{
    const TextList given = out->exports;
    out->exports = (TextList){0};
    for (int i = 0; i < given.count; i++) {
        size_t length;
        if (given.items[i][0] != '@') {
            list_add(session->arena, &out->exports, given.items[i]);
            continue;
        }
        char *text = os_read_file(session->arena, given.items[i] + 1, &length);
        if (!text) {
            diag_report(session->diags, DIAG_cannot_read, (Span){0}, given.items[i] + 1,
                        strerror(errno));
            return false;
        }
        list_add(session->arena, &out->export_files, given.items[i] + 1);
        for (char *line = text; line;) {
            char *end = strchr(line, '\n');
            if (end) *end = 0;
            line += strspn(line, " \t\r");
            if (*line && *line != '#') list_add(session->arena, &out->exports, line);
            line = end ? end + 1 : NULL;
        }
    }
    return true;
}

/* The command that the text begins with, as "run: ...", "run --other: ..." or "opt, test: ...";
 * NULL: it begins with none. */
static const char *named_command(const char *text)
{
    for (int i = 0; i < COMMAND_TOTAL; i++) {
        const size_t length = strlen(commands[i].name);
        const char *behind = text + length;
        if (strncmp(text, commands[i].name, length) == 0 &&
            (*behind == ':' || strncmp(behind, " --", 3) == 0 || strncmp(behind, ", ", 2) == 0))
            return commands[i].name;
    }
    return NULL;
}

/* What runs kernels takes what `run` does. */
static bool takes(const char *command, const char *owner)
{
    return strcmp(command, owner) == 0 ||
           (strcmp(owner, "run") == 0 &&
            (strcmp(command, "test") == 0 || strcmp(command, "tune") == 0));
}

/* Whether one of the commands that the help begins with takes the option. */
static bool is_for(const char *help, const char *command)
{
    const char *owner = named_command(help);
    if (!owner || takes(command, owner)) return true;
    const char *next = help + strlen(owner);
    return strncmp(next, ", ", 2) == 0 && is_for(next + 2, command);
}

void options_warn(Session *session, const Options *options)
{
    for (int i = 0; i < options->given.count; i++) {
        const char *spelling = options->given.items[i], *help = find_option(spelling)->help;
        if (!is_for(help, options->command))
            diag_report(session->diags, DIAG_unused_option, (Span){0}, spelling, options->command,
                        named_command(help));
    }
}

bool options_parse(Session *session, int count, char **words, Options *out)
{
    Parser parser = {.session = session, .out = out};
    *out = (Options){.command = "compile"};
    if (!expand_words(&parser, count, words)) return false;
    bool command_seen = false, only_inputs = false, fine = true;
    while (parser.at < parser.words.count) {
        const char *word = parser.words.data[parser.at++];
        if (!only_inputs && strcmp(word, "--") == 0)
            only_inputs = true;
        else if (!only_inputs && word[0] == '-' && word[1])
            fine &= parse_option(&parser, word);
        else if (!command_seen && !only_inputs && out->inputs.count == 0 && is_command(word)) {
            out->command = word;
            command_seen = true;
        } else
            list_add(session->arena, &out->inputs, word);
    }
    return read_exports(session, out) && check_values(session, out) && fine;
}

void options_help(Buf *out)
{
    buf_text(
        out,
        "usage: tilec [options] FILE -o OUT [-H HEADER]\n       tilec COMMAND ...\n\ncommands:\n");
    for (int i = 0; i < COMMAND_TOTAL; i++)
        buf_printf(out, "  %-8s %-24s %s\n", commands[i].name, commands[i].arguments,
                   commands[i].help);
    buf_text(out, "\noptions:\n");
    for (int i = 0; i < OPTION_TOTAL; i++) {
        const char *spelling = options[i].spelling;
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", spelling,
                 spelling[strlen(spelling) - 1] == '=' ? "" : " ", options[i].argument);
        buf_printf(out, "  %-26s %s\n", left, options[i].help);
    }
}
