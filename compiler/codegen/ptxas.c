/* ptxas.c: NVIDIA's assembler: find it, start it while the compiler goes on, read what it says.
 * Without it the PTX text itself is embedded, and the driver assembles it. */
#include "codegen/cache.h"
#include "codegen/llvm.h"
#include "codegen/quirks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct PtxasJob {
    OsProcess *process;
    char *folder, *cubin;
    const char *const *flags;
    CacheKey key;
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

static bool line_is_fault(const char *line)
{
    return strstr(line, "error ") != NULL || strstr(line, "fatal ") != NULL;
}

/* C75xx: wgmma instructions wait for each other, for want of registers as a rule. */
static bool line_is_advice(const char *line)
{
    return strstr(line, "(C75") != NULL;
}

static void read_line(Image *image, const char *line, ImageEntry **entry, const char **fault)
{
    if (*fault == NULL && line_is_fault(line)) *fault = line;
    if (line_is_advice(line) && entry_named(image, line)) entry_named(image, line)->serialised = 1;
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

/* ---- what it gave before: the length of its report, the report, the cubin ---- */

static bool take_cached(Codegen *codegen, const CacheKey *key, Image *image)
{
    const char *bytes;
    size_t length;
    uint64_t report;
    Arena *arena = codegen->session->arena;
    if (!cache_get(codegen->options.cache, arena, key, &bytes, &length)) return false;
    if (length < sizeof report) return false;
    memcpy(&report, bytes, sizeof report);
    if (report > length - sizeof report) return false;
    if (!quirk_is_whole(bytes + sizeof report + report, length - sizeof report - report))
        return false;
    read_report(image, arena_copy_text(arena, bytes + sizeof report, report));
    image->kind = IMAGE_CUBIN;
    image->bytes = bytes + sizeof report + report;
    image->size = length - sizeof report - report;
    return true;
}

static void keep(Codegen *codegen, const CacheKey *key, const char *text, const Image *image)
{
    const uint64_t report = strlen(text);
    Buf buf = {0};
    buf_bytes(&buf, &report, sizeof report);
    buf_bytes(&buf, text, report);
    buf_bytes(&buf, image->bytes, image->size);
    cache_put(codegen->options.cache, key, buf.data, buf.length);
    buf_free(&buf);
}

/* ---- running it ---- */

static void tool_failed(Codegen *codegen, Span span, const char *text)
{
    diag_report(codegen->session->diags, DIAG_tool_failed, span, "ptxas", text);
}

static PtxasJob *job_fail(Codegen *codegen, PtxasJob *job)
{
    const char *why = strerror(errno);
    const char *folder = job->folder != NULL ? job->folder : "a temporary folder";
    tool_failed(codegen, job->span,
                arena_printf(codegen->session->arena, "cannot write in '%s': %s", folder, why));
    if (job->folder != NULL) os_remove_folder(job->folder);
    return NULL;
}

/* As a shell would take it. */
static void show_command(const char *const *arguments)
{
    for (; *arguments != NULL; arguments++) fprintf(stderr, " \"%s\"", *arguments);
    fprintf(stderr, "\n");
}

static void look_for_ptxas(Codegen *codegen)
{
    if (!codegen->looked_for_ptxas) codegen->ptxas = ptxas_find(codegen);
    codegen->looked_for_ptxas = true;
}

void codegen_add_identity(Codegen *codegen, bool for_gpu, Buf *out)
{
    if (for_gpu) look_for_ptxas(codegen);
    buf_printf(out, "%s %d %d", codegen->host_triple, codegen->options.optimise,
               codegen->options.lines);
    buf_char(out, '\0');
    cache_add_file(out, os_own_file(codegen->session->arena));
    cache_add_file(out, for_gpu && codegen->ptxas != NULL ? codegen->ptxas : "");
}

/* All that the cubin follows from. */
static CacheKey cubin_key(Codegen *codegen, const char *const *arguments, const Image *image)
{
    Buf made_from = {0};
    cache_add_file(&made_from, codegen->ptxas);
    for (; *arguments != NULL; arguments++)
        buf_bytes(&made_from, *arguments, strlen(*arguments) + 1);
    buf_printf(&made_from, "%d %d", COST_RETRY_THREADS, COST_RETRY_PERCENT);
    for (int i = 0; i < image->entry_count; i++)
        buf_printf(&made_from, " %d", image->entries[i].expected);
    buf_bytes(&made_from, image->ptx, image->size);
    CacheKey key = cache_key(made_from.data, made_from.length);
    buf_free(&made_from);
    return key;
}

static PtxasJob *start_job(Codegen *codegen, PtxasJob *job, const char *ptx)
{
    enum { MOST = 12 };
    Arena *arena = codegen->session->arena;
    const char *arguments[MOST] = {codegen->ptxas};
    int count = 1;
    job->folder = os_temp_folder(arena);
    if (job->folder == NULL) return job_fail(codegen, job);
    char *input = os_join_path(arena, job->folder, "kernel.ptx");
    job->cubin = os_join_path(arena, job->folder, "kernel.cubin");
    if (!os_write_file(input, ptx, strlen(ptx))) return job_fail(codegen, job);
    for (int i = 0; job->flags[i] != NULL; i++) arguments[count++] = job->flags[i];
    arguments[count++] = input;
    arguments[count++] = "-o";
    arguments[count++] = job->cubin;
    CHECK(count < MOST);
    if (codegen->options.show_tools) show_command(arguments);
    if (codegen->options.run_no_tools) {
        os_remove_folder(job->folder);
        return NULL;
    }
    job->process = os_start(arena, arguments);
    if (job->process != NULL) return job;
    tool_failed(codegen, job->span,
                arena_printf(arena, "cannot start '%s': %s", codegen->ptxas, strerror(errno)));
    os_remove_folder(job->folder);
    return NULL;
}

static int level_of(const Codegen *codegen, const Image *image)
{
    return codegen->options.optimise == 0 ? 0 : image->in_order ? 1 : 3;
}

static const char *const *flags_for(Codegen *codegen, const Image *image)
{
    Arena *arena = codegen->session->arena;
    const char **flags = arena_new_array(arena, const char *, 5);
    flags[0] = arena_printf(arena, "-arch=sm_%d%s", image->target->number,
                            image->target->suffix ? "a" : "");
    flags[1] = arena_printf(arena, "-O%d", level_of(codegen, image));
    flags[2] = "-v";
    flags[3] = codegen->options.lines ? "-lineinfo" : NULL;
    flags[4] = NULL;
    return flags;
}

/* False: it would take too long, which is reported. */
static bool limit_predicated(Codegen *codegen, Image *image, Span span)
{
    const int count = quirk_predicated(image->ptx);
    image->asked_once = count > QUIRK_MANY_PREDICATED;
    image->in_order |= image->asked_once;
    if (count <= QUIRK_MOST_PREDICATED) return true;
    diag_report(codegen->session->diags, DIAG_thread_checks, span, count,
                (int)QUIRK_MOST_PREDICATED);
    return false;
}

PtxasJob *ptxas_start(Codegen *codegen, Image *image, Span span)
{
    Arena *arena = codegen->session->arena;
    look_for_ptxas(codegen);
    if (codegen->ptxas == NULL || !limit_predicated(codegen, image, span)) return NULL;
    PtxasJob *job = arena_new_of(arena, PtxasJob);
    job->span = span;
    job->flags = flags_for(codegen, image);
    if (codegen->options.cache != NULL) {
        job->key = cubin_key(codegen, job->flags, image);
        if (take_cached(codegen, &job->key, image)) return NULL;
    }
    return start_job(codegen, job, image->ptx);
}

static const char *read_cubin(Arena *arena, const char *path, Image *image)
{
    size_t size = 0;
    const char *cubin = os_read_file(arena, path, &size);
    if (cubin == NULL) return "it wrote no cubin";
    if (!quirk_is_whole(cubin, size))
        return arena_printf(arena, "it wrote a part of the cubin, %zu bytes: is '%.*s' full?", size,
                            (int)(strrchr(path, '/') - path), path);
    image->kind = IMAGE_CUBIN;
    image->bytes = cubin;
    image->size = size;
    return NULL;
}

/* Waits for the job: the image gets the cubin, and its entries what the report says. NULL: it went
 * wrong, as *fault tells; else the report. */
static const char *end_job(Codegen *codegen, PtxasJob *job, Image *image, const char **fault)
{
    Arena *arena = codegen->session->arena;
    char *output = NULL;
    int status = os_wait_for(job->process, codegen->options.tool_limit_ns, &output);
    const char *report = arena_copy_text(arena, output, strlen(output));
    *fault = read_report(image, output);
    if (status == OS_TIMED_OUT)
        *fault = arena_printf(arena, "it did not end within %llu s and was killed (--timeout)",
                              (unsigned long long)(codegen->options.tool_limit_ns / 1000000000));
    if (status > OS_KILLED && *fault == NULL)
        *fault = arena_printf(arena, "it was killed by signal %d", status - OS_KILLED);
    if (status != 0 && *fault == NULL) *fault = arena_printf(arena, "exit status %d", status);
    if (*fault == NULL) *fault = read_cubin(arena, job->cubin, image);
    os_remove_folder(job->folder);
    return *fault == NULL ? report : NULL;
}

/* ---- fewer registers, for more blocks ----
 *
 * ptxas takes what registers it likes. Where few threads are on a multiprocessor for that, and not
 * many fewer registers would let another block on, it is asked for that again. Products keep
 * theirs: what they have in registers is what they are fast by. So do warpgroups that take them
 * from each other: there would not be enough. Where loops were planned for so many blocks that
 * cover for each other, it is asked for as many first of all. */

static const char ONE_BLOCK[] = ".minnctapersm 1\n";

/* Whether ptxas may be asked for so many blocks instead, and they would come and have room. */
static bool may_ask_for(const Codegen *codegen, const Image *image, int blocks)
{
    const ImageEntry *entry = image->entries;
    const Target *target = image->target;
    if (codegen->options.optimise == 0 || image->asked_once || image->entry_count != 1 ||
        entry->registers == 0 || entry->spill_bytes > 0 || entry->persistent ||
        entry_blocks(entry) > 1 || entry->cooperative || image->in_order ||
        strstr(image->ptx, "setmaxnreg") != NULL)
        return false;
    return (entry->grid == 0 || entry->grid > (int64_t)(blocks - 1) * target->sm_count) &&
           blocks * entry->warps * WARP_SIZE <= target->threads_per_sm &&
           blocks * (entry->shared_bytes + target->shared_reserved) <= target->shared_bytes;
}

/* Blocks of a multiprocessor by the registers that ptxas took. */
static int blocks_by_registers(const Image *image)
{
    const ImageEntry *entry = image->entries;
    const Target *target = image->target;
    return target->registers /
           (cost_register_units(target, entry->registers) * entry->warps * WARP_SIZE);
}

/* One more, for which the registers would be enough, where there are up to so many threads; 0: as
 * it is. */
static int blocks_to_try(const Codegen *codegen, const Image *image, int most_threads)
{
    const ImageEntry *entry = image->entries;
    const Target *target = image->target;
    if (entry->registers == 0 || strstr(image->ptx, "mma") != NULL) return 0;
    const int threads = WARP_SIZE * entry->warps, more = blocks_by_registers(image) + 1,
              unit = target->register_unit,
              left = target->registers / (more * threads) / unit * unit;
    return may_ask_for(codegen, image, more) && (more - 1) * threads <= most_threads &&
                   left * 100 >= cost_register_units(target, entry->registers) * COST_RETRY_PERCENT
               ? more
               : 0;
}

static char *with_blocks(Arena *arena, const char *ptx, int blocks)
{
    const char *at = strstr(ptx, ONE_BLOCK);
    if (at == NULL) return NULL;
    return arena_printf(arena, "%.*s.minnctapersm %d\n%s", (int)(at - ptx), ptx, blocks,
                        at + sizeof ONE_BLOCK - 1);
}

/* The report of the image as it is now: that of another run, if it spills less than `limit`, or the
 * one given. */
static const char *try_again(Codegen *codegen, PtxasJob *job, Image *image, const char *ptx,
                             int limit, const char *report)
{
    if (start_job(codegen, job, ptx) == NULL) return report;
    const Image old = *image;
    const ImageEntry old_entry = *image->entries;
    const char *fault, *better = end_job(codegen, job, image, &fault);
    if (better != NULL && image->entries->spill_bytes < limit &&
        (image->entries->serialised == 0 || old_entry.serialised != 0))
        return better;
    *image = old;
    *image->entries = old_entry;
    return report;
}

/* As many as were expected, or the most that nothing spills for. */
static const char *try_expected_blocks(Codegen *codegen, PtxasJob *job, Image *image,
                                       const char *report)
{
    const ImageEntry *entry = image->entries;
    for (int blocks = entry->expected; blocks > 1; blocks--) {
        if (!may_ask_for(codegen, image, blocks)) continue;
        if (blocks_by_registers(image) >= blocks) break;
        char *ptx = with_blocks(codegen->session->arena, image->ptx, blocks);
        const char *better = ptx != NULL ? try_again(codegen, job, image, ptx, 1, report) : report;
        if (better != report) return better;
    }
    return report;
}

static const char *try_more_blocks(Codegen *codegen, PtxasJob *job, Image *image,
                                   const char *report)
{
    for (int most = COST_RETRY_THREADS;; most = COST_RETRY_MORE_THREADS) {
        const int blocks = blocks_to_try(codegen, image, most), had = image->entries->registers;
        char *ptx = blocks > 0 ? with_blocks(codegen->session->arena, image->ptx, blocks) : NULL;
        const char *better = ptx != NULL ? try_again(codegen, job, image, ptx, 1, report) : report;
        const bool ends = better == report || image->entries->registers >= had;
        report = better;
        if (ends) return report;
    }
}

/* Where one order, ours or ptxas's own, needs more registers than there are, the other may not. */
static const char *try_other_order(Codegen *codegen, PtxasJob *job, Image *image,
                                   const char *report)
{
    const int spills = image->entries->spill_bytes;
    if (codegen->options.optimise == 0 || image->asked_once || image->entry_count != 1 ||
        spills == 0)
        return report;
    image->in_order = !image->in_order;
    job->flags = flags_for(codegen, image);
    return try_again(codegen, job, image, image->ptx, spills, report);
}

/* A ptxas that is older than the PTX: it says "Unsupported .version 8.7; current version is '8.5'".
 */
static bool tell_old(Codegen *codegen, const PtxasJob *job, const Image *image, const char *fault)
{
    static const char SAYS[] = "current version is '";
    const char *known = strstr(fault, SAYS);
    if (known == NULL || strstr(fault, "nsupported .version") == NULL) return false;
    known += strlen(SAYS);
    const Target *target = image->target;
    Diags *diags = codegen->session->diags;
    diag_report(diags, DIAG_old_ptxas, job->span, (int)strcspn(known, "'"), known, target->name,
                target->ptx / 10, target->ptx % 10);
    diag_hint(diags,
              "take the ptxas of CUDA %s or later by --ptxas=FILE or CUDA_HOME; "
              "--ptxas=none leaves it to the driver",
              target_toolkit(target));
    return true;
}

bool ptxas_finish(Codegen *codegen, Image *image)
{
    PtxasJob *job = image->job;
    const char *fault, *report = end_job(codegen, job, image, &fault);
    image->job = NULL;
    if (report == NULL) {
        if (!tell_old(codegen, job, image, fault)) tool_failed(codegen, job->span, fault);
        return false;
    }
    report = try_other_order(codegen, job, image, report);
    report = try_expected_blocks(codegen, job, image, report);
    report = try_more_blocks(codegen, job, image, report);
    if (codegen->options.cache != NULL) keep(codegen, &job->key, report, image);
    return true;
}
