/* library.c: libtilec: one specialisation, compiled for a call and loaded.
 *
 * Each build has a thread of its own, with a session and an LLVM context of its own, so builds know
 * nothing of each other, and the caller's stack may be small. Files of the disk are not looked at:
 * the object carries the program's. Results are kept in the cache that the caller names. */
#include "library/library.h"

#include "codegen/codegen.h"
#include "build/load.h"
#include "driver.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { STACK_BYTES = 64 << 20 };

typedef struct Job {
    const tile_build_request *request;
    const tile_kernel *kernel; /* what comes of it */
    tile_status status;
    char *fault;
    size_t fault_bytes;
} Job;

/* ---- what to compile ---- */

/* The architectures; those that no row of the table names take portable PTX. */
static const char *arch_list(Arena *arena, const tile_build_request *request)
{
    const char *list =
        request->compute_count ? "" : arena_printf(arena, "emulator:%s", request->emulated);
    for (uint32_t i = 0; i < request->compute_count; i++) {
        const Target *target = target_for_chip((int)request->computes[i]);
        list =
            arena_printf(arena, "%s%s%s", list, i ? "," : "", target ? target->name : "compute_80");
    }
    return list;
}

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

static const tile_kernel *build_wanted(Session *session, const tile_build_request *request,
                                       const Options *options, Program *program)
{
    static const BuildWish wish = {.emit = {.tables_only = true}, .in_threads = true};
    ArchList archs;
    ExportList exports;
    Build made = {0};
    const tile_kernel *kernel = NULL;
    if (!arch_parse(session, arch_list(session->arena, request), &archs) ||
        !program_export_wanted(program, options->exports.items, options->exports.count,
                               request->wanted, &exports) ||
        exports.count != 1)
        return NULL;
    if (build_exports(session, options, &archs, &exports, &wish, &made)) {
        LLVMOrcLLJITRef jit; /* never disposed of: it holds the kernel */
        kernel = load_kernel(session, &made, made.exports[0].name, request->emulator, &jit);
    }
    build_free(&made);
    return kernel;
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
    Options options;
    Program *program = NULL;
    if (read_options(session, job->request, &options)) {
        const Carried *carried = read_files(session, job->request->source);
        program = open_source(session, &options, carried->files[0], carried, NULL);
    }
    if (program) {
        job->kernel = build_wanted(session, job->request, &options, program);
        program_free(program);
    }
    if (!job->kernel) tell(session, job);
    job->status = job->kernel ? TILE_OK : TILE_ERROR_NO_SPECIALISATION;
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

/* On a thread that hears no signals. 0 or an errno. */
static int on_thread(void *(*function)(void *), void *context)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, &attributes, function, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error) pthread_join(thread, NULL);
    return error;
}

static void prepare_once(void)
{
    on_thread(prepare, NULL);
}

tile_status tilec_build(const tile_build_request *request, const tile_kernel **out, char *fault,
                        size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    Job job = {.request = request, .fault = fault, .fault_bytes = bytes};
    pthread_once(&once, prepare_once);
    if (request->abi_version != TILE_ABI_VERSION) {
        snprintf(fault, bytes, "libtilec knows version %u of libtile's binary interface, not %u",
                 TILE_ABI_VERSION, request->abi_version);
        return TILE_ERROR_NO_SPECIALISATION;
    }
    const int error = on_thread(run, &job);
    if (error) {
        snprintf(fault, bytes, "no thread for it: %s", strerror(error));
        return TILE_ERROR_MEMORY;
    }
    *out = job.kernel;
    return job.status;
}
