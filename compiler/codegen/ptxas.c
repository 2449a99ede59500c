/* ptxas.c: NVIDIA's assembler: find it, start it while the compiler goes on, read what it says.
 * Without it the PTX text itself is embedded, and the driver assembles it. */
#include "codegen/llvm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct PtxasJob {
    OsProcess *process;
    char *folder, *cubin;
    Span span;
};

/* ---- finding it ---- */

static char *find_in_toolkit(Arena *arena, const char *toolkit)
{
    if (toolkit == NULL || toolkit[0] == 0) return NULL;
    char *path = os_join_path(arena, toolkit, "bin/ptxas");
    return os_file_exists(path) ? path : NULL;
}

static char *ptxas_find(Codegen *codegen)
{
    Arena *arena = codegen->session->arena;
    const char *given = codegen->options.ptxas;
    if (given != NULL) return given[0] == 0 ? NULL : arena_copy_text(arena, given, strlen(given));
    char *path = find_in_toolkit(arena, getenv("CUDA_HOME"));
    if (path == NULL) path = os_find_program(arena, "ptxas");
    return path != NULL ? path : find_in_toolkit(arena, "/usr/local/cuda");
}

/* ---- running it ---- */

static void tool_failed(Codegen *codegen, Span span, const char *text)
{
    diag_report(codegen->session->diags, DIAG_tool_failed, span, "ptxas", text);
}

static PtxasJob *job_fail(Codegen *codegen, PtxasJob *job)
{
    tool_failed(codegen, job->span, strerror(errno));
    if (job->folder != NULL) os_remove_folder(job->folder);
    return NULL;
}

/* As a shell would take it. */
static void show_command(const char *const *arguments)
{
    for (; *arguments != NULL; arguments++) fprintf(stderr, " \"%s\"", *arguments);
    fprintf(stderr, "\n");
}

PtxasJob *ptxas_start(Codegen *codegen, const Image *image, Span span)
{
    Arena *arena = codegen->session->arena;
    if (!codegen->looked_for_ptxas) codegen->ptxas = ptxas_find(codegen);
    codegen->looked_for_ptxas = true;
    if (codegen->ptxas == NULL) return NULL;
    PtxasJob *job = arena_new_of(arena, PtxasJob);
    job->span = span;
    job->folder = os_temp_folder(arena);
    if (job->folder == NULL) return job_fail(codegen, job);
    char *input = os_join_path(arena, job->folder, "kernel.ptx");
    job->cubin = os_join_path(arena, job->folder, "kernel.cubin");
    if (!os_write_file(input, image->ptx, image->size)) return job_fail(codegen, job);
    const char *arch = arena_printf(arena, "-arch=sm_%d%s", image->target->number,
                                    image->target->suffix ? "a" : "");
    const char *level = arena_printf(arena, "-O%d", codegen->options.optimise > 0 ? 3 : 0);
    const char *lines = codegen->options.lines ? "-lineinfo" : NULL;
    const char *const arguments[] = {codegen->ptxas, arch,       level, "-v", input,
                                     "-o",           job->cubin, lines, NULL};
    if (codegen->options.show_tools) show_command(arguments);
    if (codegen->options.run_no_tools) {
        os_remove_folder(job->folder);
        return NULL;
    }
    job->process = os_start(arena, arguments);
    if (job->process != NULL) return job;
    tool_failed(codegen, span,
                arena_printf(arena, "cannot start '%s': %s", codegen->ptxas, strerror(errno)));
    os_remove_folder(job->folder);
    return NULL;
}

/* ---- its report ----
 *
 *   ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
 *   ptxas info    : Function properties for gemm
 *       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 32 registers, used 1 barriers, 384 bytes cmem[0] */

static int number_before(const char *line, const char *text)
{
    const char *at = strstr(line, text);
    if (at == NULL) return 0;
    while (at > line && (at[-1] == ' ')) at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
    return atoi(at);
}

static ImageEntry *entry_named(Image *image, const char *line)
{
    const char *quote = strchr(line, '\'');
    const char *end = quote != NULL ? strchr(quote + 1, '\'') : NULL;
    for (int i = 0; end != NULL && i < image->entry_count; i++) {
        size_t length = strlen(image->entries[i].name);
        if ((size_t)(end - quote - 1) == length &&
            memcmp(quote + 1, image->entries[i].name, length) == 0)
            return &image->entries[i];
    }
    return NULL;
}

/* Advice C75xx means that ptxas gave up an instruction that the kernel was built around. */
static bool line_is_fault(const char *line)
{
    return strstr(line, "(C75") != NULL || strstr(line, "error ") != NULL ||
           strstr(line, "fatal ") != NULL;
}

static void read_line(Image *image, const char *line, ImageEntry **entry, const char **fault)
{
    if (*fault == NULL && line_is_fault(line)) *fault = line;
    if (strstr(line, "Compiling entry function") != NULL) *entry = entry_named(image, line);
    if (*entry == NULL) return;
    if (strstr(line, "bytes spill stores") != NULL)
        (*entry)->spill_bytes =
            number_before(line, "bytes spill stores") + number_before(line, "bytes spill loads");
    if (strstr(line, "Used ") != NULL && strstr(line, " registers") != NULL)
        (*entry)->registers = number_before(line, " registers");
}

/* The first line that tells of a fault, or NULL. */
static const char *read_report(Image *image, char *output)
{
    ImageEntry *entry = NULL;
    const char *fault = NULL;
    for (char *line = output; line != NULL && *line != 0;) {
        char *end = strchr(line, '\n');
        if (end != NULL) *end = 0;
        read_line(image, line, &entry, &fault);
        line = end != NULL ? end + 1 : NULL;
    }
    return fault;
}

bool ptxas_finish(Codegen *codegen, Image *image)
{
    PtxasJob *job = image->job;
    Arena *arena = codegen->session->arena;
    char *output = NULL;
    int status = os_wait_for(job->process, codegen->options.tool_limit_ns, &output);
    image->job = NULL;
    const char *fault = read_report(image, output);
    if (status == OS_TIMED_OUT)
        fault = arena_printf(arena, "it did not end within %llu s and was killed (--timeout)",
                             (unsigned long long)(codegen->options.tool_limit_ns / 1000000000));
    if (status > 128 && fault == NULL)
        fault = arena_printf(arena, "it was killed by signal %d", status - 128);
    if (status != 0 && fault == NULL) fault = arena_printf(arena, "exit status %d", status);
    size_t size = 0;
    char *cubin = fault == NULL ? os_read_file(arena, job->cubin, &size) : NULL;
    if (fault == NULL && cubin == NULL) fault = "it wrote no cubin";
    os_remove_folder(job->folder);
    if (fault != NULL) {
        tool_failed(codegen, job->span, fault);
        return false;
    }
    image->kind = IMAGE_CUBIN;
    image->bytes = cubin;
    image->size = size;
    return true;
}
