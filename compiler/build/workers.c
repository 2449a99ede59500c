/* workers.c: the units of a build, by several processes or threads at a time.
 *
 * A worker is a copy of this process, or a thread with a copy of the program: it takes one unit
 * after the other, runs passes, LLVM and ptxas for it, and leaves what came of it as bytes. Code
 * for the emulator goes into the object's own module, so it is made here, as is all that shows its
 * steps. */
#include "build/units.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Workers {
    Stages *stages;
    Board *board;
    pid_t *processes;
    const char *folder;
    size_t count, alive;
} Workers;

/* ---- one worker ---- */

static const char *result_path(const Workers *workers, size_t index)
{
    Arena *arena = workers->stages->session->arena;
    return os_join_path(arena, workers->folder, arena_printf(arena, "%zu", index));
}

static void put_part(const Buf *part, Buf *out)
{
    put_number(out, part->length);
    buf_bytes(out, part->data, part->length);
}

/* Its number, why it cannot be built, its images, what was reported. */
static void put_result(const Stages *stages, size_t index, size_t reported, Buf *out)
{
    const Unit *unit = &stages->units.data[index];
    Buf images = {0}, reports = {0};
    put_number(out, index);
    put_text(out, unit->fault ? unit->fault : "");
    buf_bytes(out, &unit->fault_at, sizeof unit->fault_at);
    put_unit(unit->images, true, &images);
    diag_put_since(stages->session->diags, reported, &reports);
    put_part(&images, out);
    put_part(&reports, out);
    buf_free(&images);
    buf_free(&reports);
}

static void build_unit(Stages *stages, Unit *unit)
{
    if (!unit_start(stages, unit) || !finish_images(stages, 0)) unit->images->variant_count = 0;
}

/* Units that nobody took, one after the other. `out` gets what came of them; NULL: it stays here.
 */
static void take_units(Stages *own, Board *board, Buf *out)
{
    size_t taken;
    own->jobs = 1;
    while ((taken = atomic_fetch_add(&board->next, 1)) < own->units.count) {
        const size_t reported = diag_report_count(own->session->diags);
        build_unit(own, &own->units.data[taken]);
        if (out) put_result(own, taken, reported, out);
        atomic_fetch_add(&board->done, 1);
    }
}

static _Noreturn void work(const Workers *workers, size_t index)
{
    Stages own = *workers->stages;
    Buf out = {0};
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would read what is left */
    own.codegen = codegen_new(own.session, &own.codegen_options);
    if (!own.codegen) _exit(EXIT_TOOL);
    take_units(&own, workers->board, &out);
    if (os_write_file(result_path(workers, index), out.data, out.length)) _exit(EXIT_DONE);
    atomic_store(&workers->board->fault, errno);
    _exit(EXIT_TOOL);
}

/* ---- all of them ---- */

static bool take_part(Taker *taker, const char **bytes, size_t *length)
{
    *length = taker_number(taker);
    *bytes = taker_bytes(taker, *length);
    return !taker->failed;
}

/* Those of one worker; the bytes stay. */
static bool take_results(const Stages *stages, const char *bytes, size_t count)
{
    Session *session = stages->session;
    Taker taker = {.session = session, .at = bytes, .left = count};
    while (taker.at && taker.left && !taker.failed) {
        const size_t unit = taker_number(&taker);
        const char *fault = taker_text(&taker), *images, *reports;
        size_t length, reports_length;
        const char *fault_at = taker_bytes(&taker, sizeof(Span));
        if (!take_part(&taker, &images, &length) || !take_part(&taker, &reports, &reports_length) ||
            unit >= stages->units.count)
            return false;
        Unit *out = &stages->units.data[unit];
        out->fault = *fault ? fault : NULL;
        memcpy(&out->fault_at, fault_at, sizeof out->fault_at);
        Taker part = {.session = session, .at = images, .left = length};
        take_unit(&part, stages->archs, true, out->images);
        diag_take(session->diags, reports, reports_length);
        if (part.failed) return false;
    }
    return taker.at && !taker.failed;
}

static bool take_file(const Workers *workers, size_t index)
{
    size_t length = 0;
    const char *bytes =
        os_read_file(workers->stages->session->arena, result_path(workers, index), &length);
    return take_results(workers->stages, bytes, length);
}

static void show_progress(const Workers *workers, bool at_end)
{
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, at_end ? "\r\033[K" : "\rcompiling: %zu of %zu",
            atomic_load(&workers->board->done), workers->stages->units.count);
    fflush(stderr);
}

/* What a worker's end stands for; an internal error it has told of itself. */
static bool check_end(const Workers *workers, int status)
{
    Session *session = workers->stages->session;
    const int fault = atomic_load(&workers->board->fault);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE) return true;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERNAL) exit(EXIT_INTERNAL);
    if (fault)
        diag_report(session->diags, DIAG_cannot_write, (Span){0}, workers->folder, strerror(fault));
    else
        diag_report(session->diags, DIAG_tool_failed, (Span){0}, "tilec",
                    WIFSIGNALED(status)
                        ? arena_printf(session->arena, "a process of it was killed by signal %d",
                                       WTERMSIG(status))
                        : "a process of it left nothing behind");
    return false;
}

static bool wait_for_all(const Workers *workers)
{
    static const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    bool fine = true;
    const bool watched = isatty(STDERR_FILENO);
    for (size_t i = 0; i < workers->alive; i++) {
        int status = 0;
        pid_t ended;
        while ((ended = waitpid(workers->processes[i], &status, watched ? WNOHANG : 0)) == 0) {
            show_progress(workers, false);
            nanosleep(&pause, NULL);
        }
        fine &= ended > 0 && check_end(workers, status);
    }
    show_progress(workers, true);
    return fine;
}

static bool start_all(Workers *workers)
{
    fflush(NULL);
    for (; workers->alive < workers->count; workers->alive++) {
        const pid_t process = fork();
        if (process == 0) work(workers, workers->alive);
        if (process < 0) return workers->alive > 0; /* fewer do it, too */
        workers->processes[workers->alive] = process;
    }
    return true;
}

static bool fork_workers(Stages *stages, size_t count)
{
    Arena *arena = stages->session->arena;
    Workers workers = {.stages = stages,
                       .count = count,
                       .folder = os_temp_folder(arena),
                       .processes = arena_new_array(arena, pid_t, count)};
    workers.board =
        mmap(NULL, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool fine = workers.folder && workers.board != MAP_FAILED;
    const uint64_t start = os_now_ns();
    if (fine && !start_all(&workers)) fine = false;
    if (!fine)
        diag_report(stages->session->diags, DIAG_tool_failed, (Span){0}, "tilec", strerror(errno));
    fine = fine && wait_for_all(&workers);
    for (size_t i = 0; fine && i < workers.alive; i++) fine = take_file(&workers, i);
    times_add(stages->session->times, "workers", start);
    if (workers.board != MAP_FAILED) munmap(workers.board, sizeof(Board));
    if (workers.folder) os_remove_folder(workers.folder);
    return fine;
}

/* ---- threads ---- */

void build_share(Stages *stages)
{
    Crew *crew = stages->wish.crew;
    if (stages->units.count == crew->unit_count)
        take_units(stages, &crew->board, stages->wish.share);
}

static bool take_shares(Stages *stages)
{
    Arena *arena = stages->session->arena;
    const Crew *crew = stages->wish.crew;
    for (size_t i = 0; i < crew->count; i++) {
        const Buf *share = &crew->results[i];
        if (share->length &&
            !take_results(stages, arena_copy_text(arena, share->data, share->length),
                          share->length))
            return false;
    }
    return true;
}

/* What a thread left undone, as the compiler is wrong about it, is done once more here, where that
 * is told. */
static void build_rest(Stages *stages)
{
    for (size_t i = 0; i < stages->units.count; i++)
        if (!stages->units.data[i].images->variants) build_unit(stages, &stages->units.data[i]);
}

static bool share_units(Stages *stages, size_t count)
{
    Crew *crew = stages->wish.crew;
    const uint64_t start = os_now_ns();
    crew->unit_count = stages->units.count;
    crew->start(crew, count - 1);
    take_units(stages, &crew->board, NULL);
    crew->join(crew);
    const bool fine = take_shares(stages);
    if (fine) build_rest(stages);
    times_add(stages->session->times, "workers", start);
    return fine;
}

/* ---- in this process ---- */

static bool build_here(Stages *stages)
{
    for (size_t i = 0; i < stages->units.count; i++) {
        Unit *unit = &stages->units.data[i];
        const Unit *before = i > 0 ? unit - 1 : NULL;
        unit->is_skipped = stages->wish.first_only && before && before->row == unit->row &&
                           (before->is_skipped || before->images->variant_count > 0);
        if (!unit->is_skipped && !unit_start(stages, unit)) return false;
    }
    return finish_images(stages, 0);
}

static bool can_share(const Stages *stages)
{
    for (size_t i = 0; i < stages->archs->count; i++)
        if (stages->archs->items[i].emulator) return false;
    return !stages->wish.first_only && build_is_plain(stages->options);
}

/* What shows steps of the build, or what they give, needs them made, and here. */
bool build_is_plain(const Options *options)
{
    return !options->print_after && !options->verbose && !options->dry_run &&
           !options->save_temps && !options->assembly && !text_in_list(options->emit, "llvm") &&
           !text_in_list(options->emit, "ptx") && !text_in_list(options->emit, "cubin");
}

bool build_units(Stages *stages)
{
    const size_t count = stages->jobs < stages->units.count ? stages->jobs : stages->units.count;
    if (count <= 1 || !can_share(stages)) return build_here(stages);
    return stages->wish.crew ? share_units(stages, count) : fork_workers(stages, count);
}
