/* library.c: libtilec: one specialisation, compiled for a call and loaded.
 *
 * Each build has a thread of its own, with a session and an LLVM context of its own, so builds know
 * nothing of each other, and the caller's stack may be small. Several configurations are compiled
 * by further such threads (a crew), not by processes: a fork inside of someone's program would copy
 * its locks as other threads hold them, and its children are its own to wait for. Files of the disk
 * are not looked at: the object carries the program's. Results are kept in the cache that the
 * caller names. */
#include "library/library.h"

#include "codegen/codegen.h"
#include "build/load.h"
#include "driver.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    const tile_build_request *request;
    const tile_kernel *kernel; /* what comes of it */
    tile_status status;
    char *fault;
    size_t fault_bytes;
    Crew crew;
    struct Helper *helpers; /* one a thread; so many of them have not been waited for */
    size_t running;
} Job;

/* A thread of the crew. Its session stays as long as the job: places in messages are of it. */
typedef struct Helper {
    Job *job;
    Buf *share;
    Session *session;
    pthread_t thread;
} Helper;

/* ---- what to compile ---- */

/* As a command line. */
static bool read_options(Session *session, const tile_build_request *request, Options *out)
{
    const tile_source *source = request->source;
    char **words = arena_new_array(session->arena, char *, source->word_count + 2);
    int count = 0;
    words[count++] = (char *)"tilec";
    for (uint64_t i = 0; i < source->word_count; i++)
        words[count++] = (char *)(uintptr_t)source->words[i];
    words[count++] = request->cache ? arena_printf(session->arena, "--cache=%s", request->cache)
                                    : (char *)"--no-cache";
    return options_parse(session, count, words, out);
}

static Carried *read_files(Session *session, const tile_source *source)
{
    const Source **files = arena_new_array(session->arena, const Source *, source->file_count + 1);
    Carried *carried = arena_new_of(session->arena, Carried);
    for (uint64_t i = 0; i < source->file_count; i++)
        files[i] = source_from_text(session, source->files[i].path, source->files[i].text,
                                    source->files[i].bytes);
    *carried = (Carried){.files = files, .file_count = (int)source->file_count};
    return carried;
}

/* ---- compiling ---- */

/* What is wanted of the program. */
static bool build_wanted(Session *session, const tile_build_request *request,
                         const Options *options, Program *program, const BuildWish *wish,
                         Build *made)
{
    ArchList archs;
    ExportList exports;
    return arch_parse(session,
                      library_archs(session->arena, request->computes, request->compute_count,
                                    request->emulated),
                      &archs) &&
           program_export_wanted(program, options->exports.items, options->exports.count,
                                 request->wanted, &exports) &&
           exports.count == 1 && build_exports(session, options, &archs, &exports, wish, made);
}

/* From the request to the build, or to a share of it. */
static bool build_request(Session *session, const tile_build_request *request,
                          const BuildWish *wish, Build *made)
{
    Options options;
    if (!read_options(session, request, &options)) return false;
    const Carried *carried = read_files(session, request->source);
    Program *program = open_source(session, &options, carried->files[0], carried, NULL);
    const bool fine = program && build_wanted(session, request, &options, program, wish, made);
    if (program) program_free(program);
    return fine;
}

/* The messages as tilec shows them. */
static void tell(const Session *session, const Job *job)
{
    Buf text = {0};
    diag_render(session->diags, DIAG_TEXT, false, &text);
    while (text.length && text.data[text.length - 1] == '\n') text.data[--text.length] = '\0';
    snprintf(job->fault, job->fault_bytes, "%s", text.length ? text.data : "it says nothing");
    buf_free(&text);
}

static void compile(Session *session, Job *job)
{
    const BuildWish wish = {.emit = {.tables_only = true}, .crew = &job->crew};
    Build made = {0};
    if (build_request(session, job->request, &wish, &made)) {
        LLVMOrcLLJITRef jit; /* never disposed of: it holds the kernel */
        job->kernel =
            load_kernel(session, &made, made.exports[0].name, job->request->emulator, &jit);
    }
    build_free(&made);
    if (!job->kernel) tell(session, job);
    job->status = job->kernel ? TILE_OK : TILE_ERROR_NO_SPECIALISATION;
}

/* ---- threads ---- */

/* What it can't do is left to the job's own thread, which tells of it. */
static void *help(void *context)
{
    Helper *helper = context;
    char fault[256];
    Refuge refuge = {.text = fault, .bytes = sizeof fault};
    os_use_c_locale();
    refuge_set(&refuge);
    if (setjmp(refuge.place) == 0) {
        const BuildWish wish = {.crew = &helper->job->crew, .share = helper->share};
        Build made = {0};
        helper->session = session_new();
        build_request(helper->session, helper->job->request, &wish, &made);
        build_free(&made);
    }
    return NULL;
}

static Job *job_of(Crew *crew)
{
    return (Job *)(void *)((char *)crew - offsetof(Job, crew));
}

static void start_crew(Crew *crew, size_t most)
{
    Job *job = job_of(crew);
    crew->results = calloc(most, sizeof *crew->results);
    job->helpers = calloc(most, sizeof *job->helpers);
    for (; crew->results && job->helpers && crew->count < most; crew->count++) {
        Helper *helper = &job->helpers[crew->count];
        *helper = (Helper){.job = job, .share = &crew->results[crew->count]};
        if (library_thread(&helper->thread, help, helper)) break;
    }
    job->running = crew->count;
}

static void join_crew(Crew *crew)
{
    Job *job = job_of(crew);
    for (; job->running > 0; job->running--)
        pthread_join(job->helpers[job->running - 1].thread, NULL);
}

/* Of a job that the compiler broke off, too. */
static void dismiss_crew(Crew *crew)
{
    Job *job = job_of(crew);
    join_crew(crew);
    for (size_t i = 0; i < crew->count; i++) {
        buf_free(&crew->results[i]);
        if (job->helpers[i].session) session_free(job->helpers[i].session);
    }
    free(crew->results);
    free(job->helpers);
}

static void *run(void *context)
{
    Job *job = context;
    Refuge refuge = {.text = job->fault, .bytes = job->fault_bytes};
    job->status = TILE_ERROR_NO_SPECIALISATION;
    os_use_c_locale();
    refuge_set(&refuge);
    if (setjmp(refuge.place) == 0) {
        Session *session = session_new();
        compile(session, job);
        session_free(session);
    }
    dismiss_crew(&job->crew);
    return NULL;
}

/* ---- the front ---- */

static void *prepare(void *context)
{
    (void)context;
    char fault[256];
    Refuge refuge = {.text = fault, .bytes = sizeof fault};
    os_use_c_locale();
    refuge_set(&refuge);
    if (setjmp(refuge.place) == 0) {
        Session *session = session_new();
        codegen_prepare(session);
        session_free(session);
    }
    return NULL;
}

static void prepare_once(void)
{
    library_run(prepare, NULL);
}

void library_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

tile_status tilec_build(const tile_build_request *request, const tile_kernel **out, char *fault,
                        size_t bytes)
{
    Job job = {.request = request,
               .fault = fault,
               .fault_bytes = bytes,
               .crew = {.start = start_crew, .join = join_crew}};
    library_prepare();
    if (request->abi_version != TILE_ABI_VERSION) {
        snprintf(fault, bytes, "libtilec knows version %u of libtile's binary interface, not %u",
                 TILE_ABI_VERSION, request->abi_version);
        return TILE_ERROR_NO_SPECIALISATION;
    }
    const int error = library_run(run, &job);
    if (error) {
        snprintf(fault, bytes, "no thread for it: %s", strerror(error));
        return TILE_ERROR_MEMORY;
    }
    *out = job.kernel;
    return job.status;
}
