/* migrate_report.c: tilec migrate-report PATH...: which kernels a tree of Python files has, and
 * what becomes of each. A file's own host code says with which arguments a kernel is made: it is
 * run without launching anything, and what fails of it is left out (eval/python/survey.c). Each
 * file has a process of its own, so that one that takes too long, or too much, ends alone. */
#include "base/diags.h"
#include "command/run.h"
#include "driver.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

typedef struct Reason {
    const char *code, *text;
    const char *path;
    Location at;
} Reason;

typedef struct KernelRow {
    Span span;
    const char *name;
    uint32_t line;
    int made, evaluated, compiled; /* with how many keys */
    uint64_t time_ns;
    VEC(Reason) reasons;
} KernelRow;

typedef VEC(KernelRow) KernelRows;

/* ---- looking at one file ---- */

typedef struct Look {
    Session *session;
    const Options *options;
    ArchList archs;
    KernelRows rows;
    size_t claimed, begun; /* reports of kernels that were staged; of the one at hand */
    size_t host_reports;
    bool is_staging;
} Look;

static bool lies_in(Span part, Span whole)
{
    return strcmp(part.source->path, whole.source->path) == 0 && part.begin >= whole.begin &&
           part.end <= whole.end;
}

static KernelRow *row_at(Look *look, Span span)
{
    for (size_t i = 0; span.source && i < look->rows.count; i++)
        if (lies_in(span, look->rows.data[i].span)) return &look->rows.data[i];
    return NULL;
}

static void add_reason(Look *look, KernelRow *row, const Report *report)
{
    /* What the host code takes says nothing of a kernel that is compiled. */
    const bool is_of_run = report->code == DIAG_too_much && row->compiled > 0;
    if (report->severity != SEVERITY_ERROR || is_of_run) return;
    const char *code = diag_row(report->code)->code;
    for (size_t i = 0; i < row->reasons.count; i++)
        if (strcmp(row->reasons.data[i].code, code) == 0 &&
            strcmp(row->reasons.data[i].text, report->text) == 0)
            return;
    Reason reason = {.code = code, .text = report->text, .path = ""};
    if (report->at.source) {
        reason.path = report->at.source->path;
        reason.at = source_location(report->at.source, report->at.begin);
    }
    vec_push(look->session->arena, &row->reasons, reason);
}

/* The kernel in which a report is, or the call that led to it. */
static KernelRow *row_of_report(Look *look, const Report *report)
{
    KernelRow *row = row_at(look, report->at);
    for (size_t i = 0; !row && i < report->frames.count; i++)
        row = row_at(look, report->frames.data[i].at);
    return row;
}

static void find_kernel(void *context, Span at, Span span, const char *name)
{
    Look *look = context;
    vec_push(look->session->arena, &look->rows,
             ((KernelRow){
                 .span = span, .name = name, .line = source_location(at.source, at.begin).line}));
}

static void begin_kernel(void *context)
{
    Look *look = context;
    if (!look->is_staging) look->host_reports = look->session->diags->reports.count;
    look->is_staging = true;
    look->begun = look->session->diags->reports.count;
    look->session->diags->seen = (Map){0}; /* what one kernel was refused for stops others, too */
}

static bool compiles(Look *look, Kernel *kernel)
{
    Export export = {
        .name = kernel->export_name, .specialisations = &kernel, .specialisation_count = 1};
    const ExportList exports = {&export, 1};
    const BuildWish wish = {
        .emit = {.tables_only = true}, .first_only = true, .general_only = true};
    Build build;
    const bool fine =
        build_exports(look->session, look->options, &look->archs, &exports, &wish, &build);
    build_free(&build);
    return fine;
}

/* An extent that a call tells. */
static bool is_for_calls(const Report *report)
{
    return report->code == DIAG_untold_extent ||
           (report->code == DIAG_unknown_extent && strstr(report->text, ".compile("));
}

/* Whether it was asked for with what the host code alone knows: the file's calls tell no more. */
static bool is_unknown(const Look *look, const SurveyedKernel *kernel)
{
    const Diags *diags = look->session->diags;
    for (size_t i = look->begun; i < diags->reports.count; i++)
        if (!is_for_calls(diags->reports.data[i])) return false;
    return !kernel->kernel;
}

static void look_at_kernel(void *context, const SurveyedKernel *kernel)
{
    Look *look = context;
    const uint64_t start = os_now_ns();
    KernelRow *row = row_at(look, kernel->at);
    if (!row || is_unknown(look, kernel)) return; /* or of a library */
    row->made++;
    row->evaluated += kernel->kernel != NULL;
    if (kernel->kernel) row->compiled += compiles(look, kernel->kernel);
    row->time_ns += os_now_ns() - start;
    const Diags *diags = look->session->diags;
    for (size_t i = look->begun; i < diags->reports.count; i++)
        add_reason(look, row, diags->reports.data[i]);
}

/* What was refused before there was a kernel: in the function that makes it. */
static void look_at_host(Look *look)
{
    const Diags *diags = look->session->diags;
    const size_t count = look->is_staging ? look->host_reports : diags->reports.count;
    for (size_t i = 0; i < count; i++) {
        KernelRow *row = row_of_report(look, diags->reports.data[i]);
        if (row) add_reason(look, row, diags->reports.data[i]);
    }
}

/* A line a file, a kernel and a reason, for the process that asked. */
static void write_file(const Look *look, bool is_parsed, FILE *out)
{
    fprintf(out, "F\t%d\n", is_parsed);
    for (size_t i = 0; i < look->rows.count; i++) {
        const KernelRow *row = &look->rows.data[i];
        fprintf(out, "K\t%s\t%u\t%d\t%d\t%d\t%llu\n", row->name, row->line, row->made,
                row->evaluated, row->compiled, (unsigned long long)(row->time_ns / 1000000));
        for (size_t j = 0; j < row->reasons.count; j++) {
            const Reason *reason = &row->reasons.data[j];
            fprintf(out, "R\t%s\t%s\t%u\t%u\t", reason->code, reason->path, reason->at.line,
                    reason->at.column);
            for (const char *c = reason->text; *c; c++) fputc(*c < ' ' && *c >= 0 ? ' ' : *c, out);
            fputc('\n', out);
        }
    }
}

static void look_at_file(const Options *options, const char *path, FILE *out)
{
    Options one = *options;
    one.inputs = (TextList){&path, 1};
    one.jobs = "1";
    if (!one.ptxas) one.ptxas = "none";
    Look look = {.session = session_new(), .options = &one};
    diag_limit_errors(look.session->diags, SIZE_MAX);
    const Source *source = source_from_file(look.session, path);
    const Module *module = source ? parse_source(look.session, source) : NULL;
    const bool is_parsed = module && diag_error_count(look.session->diags) == 0;
    if (is_parsed &&
        choose_archs(look.session, options->arch ? options->arch : "sm_90a", &look.archs)) {
        const Survey survey = {find_kernel, begin_kernel, look_at_kernel, &look};
        const RunWish wish = {.survey = &survey};
        one.device = "emulator";
        one.arch = NULL;
        run_file(look.session, &one, NULL, &wish);
        look_at_host(&look);
    }
    if (options->verbose) show_messages(look.session, options);
    write_file(&look, is_parsed, out);
    session_free(look.session);
}

/* ---- all files ---- */

typedef struct Lines { /* what a process has written of a file */
    const char *path;
    pid_t process;
    FILE *out;
    uint64_t started_ns;
} Lines;

typedef struct Tally {
    const char *text;
    const char *example;
    int kernels;
} Tally;

typedef struct Overview {
    Session *session;
    const Options *options;
    bool is_json;
    Buf out;
    int files, parsed, ended;                 /* ended: too long, or by a fault */
    int kernels, compiled, refused, not_made; /* not_made: nothing in the file calls for them */
    Map seen;                                 /* text of a reason -> Tally */
    VEC(Tally *) tallies;
    int rows; /* of the JSON list at hand */
} Overview;

static void collect_files(Session *session, const char *path, TextList *out);

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_path(Session *session, TextList *list, const char *path)
{
    const char **items = arena_new_array(session->arena, const char *, list->count + 1);
    if (list->count) memcpy(items, list->items, sizeof *items * (size_t)list->count);
    items[list->count] = path;
    *list = (TextList){items, list->count + 1};
}

static void collect_folder(Session *session, const char *path, TextList *out)
{
    DIR *folder = opendir(path);
    TextList names = {0};
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            add_path(session, &names, os_join_path(session->arena, path, entry->d_name));
    if (folder) closedir(folder);
    if (names.count) qsort((void *)names.items, (size_t)names.count, sizeof *names.items, by_text);
    for (int i = 0; i < names.count; i++) collect_files(session, names.items[i], out);
}

static bool is_python(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".py") == 0 || strcmp(dot, ".tile") == 0);
}

static void collect_files(Session *session, const char *path, TextList *out)
{
    struct stat info;
    if (lstat(path, &info) != 0) return;
    if (S_ISDIR(info.st_mode))
        collect_folder(session, path, out);
    else if (S_ISREG(info.st_mode) && is_python(path))
        add_path(session, out, path);
}

/* What was named by itself is looked at, whatever its name. */
static void collect_input(Session *session, const char *path, TextList *out)
{
    struct stat info;
    if (stat(path, &info) != 0)
        diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, "there is no such file");
    else if (S_ISDIR(info.st_mode))
        collect_folder(session, path, out);
    else
        add_path(session, out, path);
}

static void start_file(const Options *options, const char *path, Lines *out)
{
    *out = (Lines){.path = path, .out = tmpfile(), .started_ns = os_now_ns()};
    CHECK(out->out != NULL);
    fflush(stdout);
    out->process = fork();
    CHECK(out->process >= 0);
    if (out->process > 0) return;
    alarm(options->timeout ? (unsigned)strtoul(options->timeout, NULL, 10) : 300);
    look_at_file(options, path, out->out);
    fclose(out->out);
    _exit(0);
}

/* One reason for one kernel. */
static void count_reason(Overview *overview, const char *code, const char *text, const char *where)
{
    const Name key = intern_printf(overview->session->names, "%s %s", code, text);
    Tally *tally = map_get(&overview->seen, key);
    if (!tally) {
        tally = arena_new_of(overview->session->arena, Tally);
        *tally = (Tally){.text = key, .example = where};
        map_set(overview->session->arena, &overview->seen, key, tally);
        vec_push(overview->session->arena, &overview->tallies, tally);
    }
    tally->kernels++;
}

/* The fields of a line, which is cut up. */
static int split(char *line, char **fields, int most)
{
    int count = 0;
    for (char *at = line; count < most; at++) {
        fields[count++] = at;
        at += strcspn(at, "\t\n");
        if (*at != '\t') {
            *at = '\0';
            break;
        }
        *at = '\0';
    }
    return count;
}

enum { FIELDS = 7 };

static void take_kernel(Overview *overview, const char *path, char **fields, bool has_reasons)
{
    const int made = atoi(fields[3]), compiled = atoi(fields[5]);
    const bool refused = has_reasons || compiled < made;
    const char *state = refused ? "refused" : made ? "compiles" : "not made";
    overview->kernels++;
    ++*(refused ? &overview->refused : made ? &overview->compiled : &overview->not_made);
    if (!overview->is_json) {
        buf_printf(&overview->out, "%s:%s: %s: %s", path, fields[2], fields[1], state);
        if (made) buf_printf(&overview->out, " (%d of %d, %s ms)", compiled, made, fields[6]);
        buf_char(&overview->out, '\n');
        return;
    }
    buf_text(&overview->out, overview->rows++ ? ",\n  {\"file\": " : "\n  {\"file\": ");
    buf_quoted(&overview->out, path, strlen(path));
    buf_printf(&overview->out,
               ", \"line\": %s, \"kernel\": \"%s\", \"state\": \"%s\", \"made\": %d, "
               "\"evaluated\": %s, \"compiled\": %d, \"milliseconds\": %s, \"reasons\": [",
               fields[2], fields[1], state, made, fields[4], compiled, fields[6]);
}

static void take_reason(Overview *overview, char **fields, bool is_first)
{
    const char *where =
        arena_printf(overview->session->arena, "%s:%s:%s", fields[2], fields[3], fields[4]);
    count_reason(overview, fields[1], fields[5], where);
    if (!overview->is_json) {
        buf_printf(&overview->out, "    %s: %s %s\n", where, fields[1], fields[5]);
        return;
    }
    buf_printf(&overview->out, "%s{\"code\": \"%s\", \"place\": ", is_first ? "" : ", ", fields[1]);
    buf_quoted(&overview->out, where, strlen(where));
    buf_text(&overview->out, ", \"text\": ");
    buf_quoted(&overview->out, fields[5], strlen(fields[5]));
    buf_char(&overview->out, '}');
}

typedef VEC(char *) LineVec;

static void read_lines(Overview *overview, FILE *from, LineVec *out)
{
    char *line = NULL;
    size_t room = 0;
    rewind(from);
    for (ssize_t length; (length = getline(&line, &room, from)) > 0;)
        vec_push(overview->session->arena, out,
                 arena_copy_text(overview->session->arena, line, (size_t)length));
    free(line);
    fclose(from);
}

static void take_parsed(Overview *overview, const char *path, bool is_parsed)
{
    overview->parsed += is_parsed;
    if (!is_parsed && !overview->is_json) buf_printf(&overview->out, "%s: does not parse\n", path);
}

static void take_lines(Overview *overview, const char *path, const LineVec *lines)
{
    char *fields[FIELDS];
    bool is_first = false, open = false;
    for (size_t i = 0; i < lines->count; i++) {
        const char kind = lines->data[i][0];
        split(lines->data[i], fields, FIELDS);
        if (kind == 'F') take_parsed(overview, path, atoi(fields[1]));
        if (kind == 'R') take_reason(overview, fields, is_first);
        is_first = kind == 'K';
        if (kind != 'K') continue;
        if (open && overview->is_json) buf_text(&overview->out, "]}");
        open = true;
        take_kernel(overview, path, fields, i + 1 < lines->count && lines->data[i + 1][0] == 'R');
    }
    if (open && overview->is_json) buf_text(&overview->out, "]}");
}

static void take_file(Overview *overview, const Lines *file, int status)
{
    LineVec lines = {0};
    overview->files++;
    read_lines(overview, file->out, &lines);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        take_lines(overview, file->path, &lines);
        return;
    }
    overview->ended++;
    if (!overview->is_json)
        buf_printf(&overview->out, "%s: %s\n", file->path,
                   WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "takes too long"
                                                                      : "ends by a fault");
}

/* In order, several at a time. */
static void look_at_files(Overview *overview, const TextList *files)
{
    const Options *options = overview->options;
    long jobs = options->jobs ? strtol(options->jobs, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    if (jobs < 1) jobs = 1;
    Lines *lines = arena_new_array(overview->session->arena, Lines, (size_t)files->count + 1);
    for (int next = 0, done = 0; done < files->count; done++) {
        for (; next < files->count && next < done + jobs; next++)
            start_file(options, files->items[next], &lines[next]);
        int status = 0;
        waitpid(lines[done].process, &status, 0);
        take_file(overview, &lines[done], status);
        if (overview->out.length) fwrite(overview->out.data, 1, overview->out.length, stdout);
        overview->out.length = 0;
    }
}

static int by_kernels(const void *a, const void *b)
{
    const Tally *left = *(Tally *const *)a, *right = *(Tally *const *)b;
    if (left->kernels != right->kernels) return left->kernels < right->kernels ? 1 : -1;
    return strcmp(left->text, right->text);
}

static void print_summary(Overview *overview)
{
    const int made = overview->compiled + overview->refused;
    if (overview->tallies.count)
        qsort(overview->tallies.data, overview->tallies.count, sizeof *overview->tallies.data,
              by_kernels);
    if (overview->is_json) {
        printf("\n],\n\"files\": %d, \"parsed\": %d, \"ended\": %d, \"kernels\": %d, "
               "\"compile\": %d, \"refused\": %d, \"not_made\": %d}\n",
               overview->files, overview->parsed, overview->ended, overview->kernels,
               overview->compiled, overview->refused, overview->not_made);
        return;
    }
    printf(
        "\n%d files, %d of them parse, %d end early; %d kernels: %d compile, %d refused (%.1f %% "
        "of those made compile), %d not made\n",
        overview->files, overview->parsed, overview->ended, overview->kernels, overview->compiled,
        overview->refused, made ? 100.0 * overview->compiled / made : 100.0, overview->not_made);
    for (size_t i = 0; i < overview->tallies.count; i++)
        printf("%6d  %s  (%s)\n", overview->tallies.data[i]->kernels,
               overview->tallies.data[i]->text, overview->tallies.data[i]->example);
}

static bool is_top(Session *session, const char *folder)
{
    static const char *const marks[] = {"pyproject.toml", "setup.py", "setup.cfg", ".git"};
    struct stat info;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (stat(os_join_path(session->arena, folder, marks[i]), &info) == 0) return true;
    return false;
}

/* The nearest folder above that is the top of a project; NULL: there is none. */
static const char *top_above(Session *session, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *found = NULL;
    for (char *end; whole && !found && (end = strrchr(whole, '/')) && end != whole;) {
        *end = '\0';
        if (is_top(session, whole)) found = arena_printf(session->arena, "%s", whole);
    }
    free(whole);
    return found;
}

/* Modules of a tree import one another by their places in it, be it named whole or in part. */
static Options import_from_inputs(Session *session, const Options *options)
{
    Options changed = *options;
    struct stat info;
    for (int i = 0; i < options->inputs.count; i++) {
        const char *input = options->inputs.items[i];
        if (stat(input, &info) != 0) continue;
        const bool is_folder = S_ISDIR(info.st_mode);
        const char *top = is_folder && is_top(session, input) ? NULL : top_above(session, input);
        if (is_folder) add_path(session, &changed.import_paths, input);
        if (top) add_path(session, &changed.import_paths, top);
    }
    return changed;
}

ExitStatus command_migrate_report(Session *session, const Options *options)
{
    if (options->inputs.count == 0) {
        diag_report(session->diags, DIAG_source_needed, (Span){0});
        return EXIT_USAGE;
    }
    TextList files = {0};
    for (int i = 0; i < options->inputs.count; i++)
        collect_input(session, options->inputs.items[i], &files);
    const Options with_folders = import_from_inputs(session, options);
    Overview overview = {.session = session,
                         .options = &with_folders,
                         .is_json =
                             options->diagnostics && strcmp(options->diagnostics, "json") == 0};
    if (overview.is_json) printf("{\"table\": [");
    look_at_files(&overview, &files);
    print_summary(&overview);
    buf_free(&overview.out);
    return session_status(session);
}
