/* driver.c: the stages in order, once a specialisation, architecture and alignment variant.
 *
 *   source -> tokens -> tree          syntax/   parse_source (by program_new)
 *   tree -> kernels                   eval/     program_export
 *   kernel -> one thread's program    passes/   passes_run
 *   (what follows comes from the cache if it was built before)
 *   thread program -> image           codegen/  image_start, image_finish (ptxas runs meanwhile)
 *   host region -> host function      codegen/  host_function
 *   images -> object, header, ...     emit/ */
#include "driver.h"

#include "base/vec.h"
#include "build/build_cache.h"
#include "build/tunings.h"
#include "build/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- host functions ---- */

/* The host part of each; what its tables say comes from there too. */
static bool make_hosts(Stages *stages)
{
    const Build *build = stages->build;
    for (int i = 0; i < build->export_count; i++)
        for (int j = 0; j < build->exports[i].specialisation_count; j++) {
            SpecialisationImages *images = &build->exports[i].specialisations[j];
            Kernel *kernel = host_kernel(stages, images->kernel);
            if (!kernel) return false;
            images->kernel = kernel;
        }
    return true;
}

/* What tells a configuration's code from other code: its images. */
static void hash_code(SpecialisationImages *images)
{
    Buf bytes = {0};
    put_unit(images, true, &bytes);
    const CacheKey key = cache_key(bytes.data, bytes.length);
    memcpy(&images->code, key.bytes, sizeof images->code);
    buf_free(&bytes);
}

static bool write_hosts(Stages *stages)
{
    const Build *build = stages->build;
    for (int i = 0; i < build->export_count; i++)
        for (int j = 0; j < build->exports[i].specialisation_count; j++) {
            SpecialisationImages *images = &build->exports[i].specialisations[j];
            Kernel *kernel = (Kernel *)(uintptr_t)images->kernel;
            if (!host_function(stages->codegen, kernel, images->host_symbol)) return false;
            hash_code(images);
        }
    return true;
}

/* ---- from kernels to the object ---- */

/* What tuning files choose. */
static bool choose(Stages *stages)
{
    for (int i = 0; i < stages->build->export_count; i++)
        tunings_apply(stages->session, stages->tunings, &stages->build->exports[i]);
    return true;
}

static bool write_object(Stages *stages)
{
    Build *build = stages->build;
    const uint64_t start = os_now_ns();
    const bool fine =
        emit_object(stages->codegen, stages->session->arena, build->exports, build->export_count,
                    &stages->wish.emit, &build->object, &build->object_size);
    times_add(stages->session->times, "object", start);
    return fine;
}

static bool generate(Stages *stages)
{
    return build_units(stages) && keep_built_units(stages) && make_hosts(stages) &&
           choose(stages) && write_hosts(stages) && write_object(stages);
}

static bool generate_cached(Stages *stages, Cache *cache)
{
    uint64_t start = os_now_ns();
    const CacheKey key = build_key(stages);
    const bool found = restore_build(cache, stages, &key);
    times_add(stages->session->times, "cache", start);
    if (found) return keep_built_units(stages) && make_hosts(stages) && choose(stages);
    if (!generate(stages)) return false;
    start = os_now_ns();
    store_build(cache, stages, &key);
    times_add(stages->session->times, "cache", start);
    return true;
}

static bool make(Stages *stages, Cache *cache)
{
    if (stages->wish.share) {
        build_share(stages);
        return true;
    }
    const bool is_cached = cache && build_is_plain(stages->options) && !stages->wish.mutants;
    return is_cached ? generate_cached(stages, cache) : generate(stages);
}

/* ---- what is asked for ---- */

/* options_parse has seen that these are numbers. */
static uint64_t tool_limit(const Options *options)
{
    return 1000000000ull * (options->timeout ? strtoull(options->timeout, NULL, 10) : 300);
}

static size_t job_count(const Options *options)
{
    if (options->jobs) return strtoul(options->jobs, NULL, 10);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (size_t)processors : 1;
}

static CodegenOptions codegen_options(const Options *options, Cache *cache)
{
    bool no_ptxas = options->ptxas && strcmp(options->ptxas, "none") == 0;
    return (CodegenOptions){.host_triple = options->host,
                            .ptxas = no_ptxas ? "" : options->ptxas,
                            .keep_llvm = options->save_temps || text_in_list(options->emit, "llvm"),
                            .lines = options->lines,
                            .tool_limit_ns = tool_limit(options),
                            .show_tools = options->verbose || options->dry_run,
                            .run_no_tools = options->dry_run,
                            .cache = cache,
                            .optimise = options->optimise ? atoi(options->optimise) : 2};
}

bool build_exports(Session *session, const Options *options, const ArchList *archs,
                   const ExportList *exports, const BuildWish *wish, Build *out)
{
    *out = (Build){0};
    /* Tools that are to be shown are to be run. */
    Cache *cache = options->verbose || options->dry_run ? NULL : open_cache(session, options);
    const CodegenOptions codegen = codegen_options(options, cache);
    Tunings tunings = {0};
    for (int i = 0; i < options->tune.count; i++)
        if (!tunings_read(session, options->tune.items[i], &tunings)) return false;
    Stages stages = {.session = session,
                     .tunings = &tunings,
                     .options = options,
                     .archs = archs,
                     .codegen = codegen_new(session, &codegen),
                     .codegen_options = codegen,
                     .jobs = job_count(options),
                     .wish = *wish,
                     .build = out};
    if (!stages.codegen) return false;
    stages.passes = (PassOptions){.print_after = options->print_after,
                                  .verify_each = options->verify_each,
                                  .reasons = wish->mutants != NULL,
                                  .strict = options->strict,
                                  .dump = &stages.dump};
    plan_units(&stages, exports);
    const bool fine = make(&stages, cache);
    const bool is_whole = fine && !wish->share;
    if (is_whole) warn_of_spills(&stages);
    if (is_whole && options->performance) report_performance(&stages);
    if (stages.dump.length) fwrite(stages.dump.data, 1, stages.dump.length, stderr);
    buf_free(&stages.dump);
    codegen_free(stages.codegen);
    return stage_result(session, fine, "build");
}

void build_free(Build *build)
{
    for (size_t i = 0; i < build->kernels.count; i++) kernel_free(build->kernels.data[i]);
    *build = (Build){0};
}
