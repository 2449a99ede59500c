/* launch.c: one call of a kernel, from what it asks for (resolve.c) to the launches. The path of
 * every call after the first takes no lock and allocates nothing. */
#include "invocation.h"
#include "tune.h"

#include <string.h>

/* ---- workspaces ------------------------------------------------------------------------------ */

static tile_workspaces workspaces_of(const invocation *call)
{
    return (tile_workspaces){.kernel = call->kernel,
                             .bytes = call->workspace_bytes,
                             .count = call->specialisation->workspace_count,
                             .zeroed = call->specialisation->zeroed_workspaces,
                             .kept = call->specialisation->kept_workspaces};
}

static void pass_workspaces(invocation *call)
{
    for (uint32_t i = 0; i < call->specialisation->workspace_count; i++)
        call->parameters[call->device_count + i] = &call->workspaces[i];
}

/* Behind the workspaces. */
static void pass_maps(invocation *call, const tile_image *image)
{
    const uint32_t first = call->device_count + call->specialisation->workspace_count;
    for (uint64_t i = 0; i < image->map_count; i++) call->parameters[first + i] = &call->maps[i];
}

/* ---- launching ------------------------------------------------------------------------------- */

static int is_empty(const tile_grid *grid)
{
    return !grid->x || !grid->y || !grid->z;
}

static tile_status check_warps(const invocation *call, const tile_image *image, uint32_t warps)
{
    for (uint32_t i = 0; warps && i < call->specialisation->launch_count; i++) {
        if (image->entries[i].warps != warps)
            return tile_error(TILE_ERROR_ARGUMENT, "%s: argument 'warps' must be 0 or %u, got %u",
                              call->kernel->name, image->entries[i].warps, warps);
    }
    return TILE_OK;
}

static tile_status failed_launch(const invocation *call, const tile_scope *scope,
                                 const tile_entry *entry, const tile_grid *grid, CUresult result)
{
    tile_text who = {0};
    tile_text_add(
        &who,
        "%s: %s on device %d (%s), %u x %u x %u blocks of %u warps, %u bytes of shared memory",
        call->kernel->name, entry->name, scope->device, scope->driver->gpus[scope->device].name,
        grid->x, grid->y, grid->z, entry->warps, entry->shared_bytes);
    return tile_driver_error(scope->driver, result, who.bytes, "cuLaunchKernelEx");
}

static uint64_t block_count(const tile_grid *grid)
{
    return (uint64_t)grid->x * grid->y * grid->z;
}

tile_grid tile_persistent_grid(const tile_entry *entry, const tile_grid *grid, uint32_t at_a_time)
{
    const uint64_t unit = entry->cluster[0] ? entry->cluster[0] : 1,
                   clusters = (block_count(grid) + unit - 1) / unit,
                   most = at_a_time > unit ? at_a_time / unit : 1,
                   turns = (clusters + most - 1) / most;
    return (tile_grid){(uint32_t)((clusters + turns - 1) / turns * unit), 1, 1};
}

/* ---- blocks together ---- */

/* Clusters are whole. */
static tile_status check_launch_kind(const invocation *call, const tile_entry *entry,
                                     const tile_grid *grid)
{
    const uint32_t extents[3] = {grid->x, grid->y, grid->z};
    for (int i = 0; i < 3; i++) {
        if (!entry->cluster[i] || extents[i] % entry->cluster[i] == 0) continue;
        tile_text text = {0};
        tile_text_add(&text, "%s: %u x %u x %u blocks are not whole clusters of %u x %u x %u",
                      call->kernel->name, grid->x, grid->y, grid->z, entry->cluster[0],
                      entry->cluster[1], entry->cluster[2]);
        tile_describe_integers(&text, call);
        return tile_error(TILE_ERROR_ARGUMENT, "%s", text.bytes);
    }
    return TILE_OK;
}

/* Blocks that take turns count them in 32 bits, to beyond the last. */
static tile_status check_turns(const invocation *call, const tile_entry *entry,
                               const tile_grid *whole)
{
    enum { MOST = 1 << 30 };
    if (!entry->persistent || block_count(whole) <= MOST) return TILE_OK;
    tile_text text = {0};
    tile_text_add(&text, "%s: %u x %u x %u blocks, at most %d can take turns", call->kernel->name,
                  whole->x, whole->y, whole->z, MOST);
    tile_describe_integers(&text, call);
    return tile_error(TILE_ERROR_ARGUMENT, "%s", text.bytes);
}

/* The host's grid is that of the text: images may have made one of several of its blocks. */
static tile_grid merged_grid(const tile_entry *entry, const tile_grid *grid)
{
    return (tile_grid){grid->x >> entry->merged[0], grid->y >> entry->merged[1], grid->z};
}

/* What is launched for the whole grid: less, if blocks take turns. */
static tile_status own_grid_of(const invocation *call, const tile_entry *entry,
                               const tile_grid *whole, uint32_t at_a_time, tile_grid *out)
{
    const tile_status status = check_turns(call, entry, whole);
    if (status) return status;
    *out = entry->persistent ? tile_persistent_grid(entry, whole, at_a_time) : *whole;
    return check_launch_kind(call, entry, out);
}

static tile_status too_many_blocks(const invocation *call, const tile_scope *scope,
                                   const tile_entry *entry, const tile_grid *grid,
                                   uint32_t at_a_time)
{
    return tile_error(
        TILE_ERROR_ARGUMENT,
        "%s: %s: its blocks wait for each other, so all %u x %u x %u have to run at a "
        "time, and device %d (%s) runs %u of %u warps and %u bytes of shared memory",
        call->kernel->name, entry->name, grid->x, grid->y, grid->z, scope->device,
        scope->driver->gpus[scope->device].name, at_a_time, entry->warps, entry->shared_bytes);
}

/* ---- launches that begin early ---- */

/* Blocks that begin early go wherever there is room first. Where a multiprocessor has room for
 * several, and more of them than few are not needed, some would get many and others none. That
 * matters little to blocks that could take turns, whose copies are far ahead, if all of them find
 * room beside those of such a launch before. Blocks of many turns gain little, but lose their
 * neighbours, with whom they share the cache. */
static int is_dependent(const tile_driver *driver, const tile_entry *entry,
                        const tile_loaded_kernel *loaded, const tile_grid *whole,
                        const tile_grid *grid)
{
    enum { GRAPHS_OF_THEM = 12030 /* the first driver that captures such launches */, FEW = 16 };
    const uint64_t blocks = block_count(grid), room = loaded->at_a_time;
    if (!entry->early || driver->version < GRAPHS_OF_THEM) return 0;
    if (entry->persistent && block_count(whole) > room) return 0;
    return blocks >= room || room == loaded->processors || FEW * (room - blocks) <= room ||
           (entry->persistent && blocks >= loaded->processors && 2 * blocks <= room);
}

enum { MOST_ATTRIBUTES = 3 };

static unsigned launch_attributes(const tile_entry *entry, int early,
                                  CUlaunchAttribute out[MOST_ATTRIBUTES])
{
    unsigned count = 0;
    if (entry->cluster[0])
        out[count++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            .value.cluster = {entry->cluster[0], entry->cluster[1], entry->cluster[2]}};
    if (entry->cooperative)
        out[count++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    if (early)
        out[count++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.programmatic = 1};
    return count;
}

/* The driver takes a CUkernel for a CUfunction and finds the function of the stream's context
 * itself. That costs nothing measurable, and keeping functions by context here would go wrong as
 * soon as a new context gets the address of a destroyed one. */
static tile_status launch_one(const invocation *call, const tile_scope *scope,
                              const tile_entry *entry, const tile_loaded_kernel *loaded,
                              const tile_grid *given, tile_stream stream)
{
    tile_grid own;
    const tile_grid merged = merged_grid(entry, given), *whole = &merged, *grid = &own;
    CUlaunchAttribute attributes[MOST_ATTRIBUTES];
    const tile_status status = own_grid_of(call, entry, whole, loaded->at_a_time, &own);
    if (status) return status;
    if (entry->cooperative && loaded->at_a_time < block_count(grid))
        return too_many_blocks(call, scope, entry, grid, loaded->at_a_time);
    const CUlaunchConfig config = {
        .gridDimX = grid->x,
        .gridDimY = grid->y,
        .gridDimZ = grid->z,
        .blockDimX = entry->warps * 32,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = entry->shared_bytes,
        .hStream = stream,
        .attrs = attributes,
        .numAttrs = launch_attributes(
            entry, is_dependent(scope->driver, entry, loaded, whole, grid), attributes),
    };
    const CUresult result = scope->driver->launch(&config, (CUfunction)(void *)loaded->kernel,
                                                  (void **)(uintptr_t)call->device_arguments, NULL);
    return result == CUDA_SUCCESS ? TILE_OK : failed_launch(call, scope, entry, grid, result);
}

static tile_status launch_loaded(const invocation *call, const tile_scope *scope,
                                 const tile_loaded *loaded, tile_stream stream)
{
    for (uint32_t i = 0; i < call->specialisation->launch_count; i++) {
        if (is_empty(&call->grids[i])) continue;
        const tile_status status = launch_one(call, scope, &loaded->image->entries[i],
                                              &loaded->kernels[i], &call->grids[i], stream);
        if (status) return status;
    }
    return TILE_OK;
}

static tile_status launch_in_scope(invocation *call, const tile_scope *scope, tile_stream stream,
                                   uint32_t warps)
{
    const tile_loaded *loaded = NULL;
    const tile_workspaces workspaces = workspaces_of(call);
    tile_status status = tile_load(scope->driver, call->kernel, call->specialisation_index,
                                   call->variant_index, scope->device, &loaded);
    if (!status) status = check_warps(call, loaded->image, warps);
    if (!status && workspaces.count) {
        status = tile_workspaces_on_gpu(scope, &workspaces, stream, call->workspaces);
        pass_workspaces(call);
    }
    if (!status)
        status = tile_maps_on_gpu(scope->driver, call->kernel, loaded->image, call->arguments,
                                  call->maps);
    if (status) return status;
    pass_maps(call, loaded->image);
    status = launch_loaded(call, scope, loaded, stream);
    if (status) tile_workspaces_reset(scope, &workspaces, stream, call->workspaces);
    return status;
}

/* ---- configurations -------------------------------------------------------------------------- */

/* Makes the call one of the configuration, of the row whose first one it is of. */
static tile_status take_configuration(invocation *call, uint32_t configuration)
{
    call->specialisation_index += configuration;
    call->specialisation += configuration;
    return tile_resolve_variant(call, NULL);
}

typedef struct trial_call {
    const invocation *call;
    const tile_scope *scope;
    tile_stream stream;
} trial_call;

static tile_status launch_trial(void *context, uint32_t configuration)
{
    const trial_call *trial = context;
    invocation call = *trial->call;
    call.device_arguments = call.parameters;
    const tile_status status = take_configuration(&call, configuration);
    return status ? status : launch_in_scope(&call, trial->scope, trial->stream, 0);
}

/* How much of each pointer's memory the configurations use, at most. */
static void find_spans(const invocation *call, uint64_t *spans)
{
    memset(spans, 0, call->kernel->parameter_count * sizeof *spans);
    for (uint32_t i = 0; i < call->specialisation->configuration_count; i++) {
        tile_grid grids[TILE_MAX_LAUNCHES];
        uint64_t workspaces[TILE_MAX_WORKSPACES];
        const char *complaint = NULL;
        call->specialisation[i].host(call->arguments, grids, NULL, workspaces, &complaint, spans);
    }
}

static tile_status choose_now(const invocation *call, const tile_question *question,
                              const tile_scope *scope, tile_stream stream, uint32_t *choice)
{
    uint64_t spans[TILE_MAX_PARAMETERS];
    trial_call context = {call, scope, stream};
    const tile_trial trial = {.question = question,
                              .driver = scope->driver,
                              .stream = stream,
                              .arguments = call->arguments,
                              .spans = spans,
                              .launch = launch_trial,
                              .call = &context};
    find_spans(call, spans);
    return tile_tune(&trial, choice);
}

static int is_tuned(const invocation *call)
{
    return call->specialisation->configuration_count > 1;
}

/* The configuration for a call that is resolved for the first one. */
static tile_status choose_configuration(invocation *call, const tile_scope *scope,
                                        tile_stream stream, int may_measure)
{
    tile_question question = {.kernel = call->kernel,
                              .first = call->specialisation_index,
                              .variant = call->variant_index,
                              .device = scope->device};
    uint32_t choice = 0;
    tile_tuning mode;
    tile_status status = tile_tuning_mode(&mode);
    if (status) return status;
    tile_ask(&question, call->arguments);
    if ((mode == TILE_TUNE_FIRST || !tile_tune_known(&question, &choice)) && may_measure)
        status = choose_now(call, &question, scope, stream, &choice);
    return status || !choice ? status : take_configuration(call, choice);
}

static tile_status launch_on_gpu(invocation *call, tile_stream stream, int own_grid, uint32_t warps)
{
    tile_driver *driver = NULL;
    tile_scope scope;
    tile_status status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter(driver, stream, call->kernel->name, &scope);
    if (status) return status;
    /* A grid or a block of the caller's is one configuration's. */
    if (is_tuned(call) && !own_grid && !warps)
        status = choose_configuration(call, &scope, stream, 1);
    if (!status) status = launch_in_scope(call, &scope, stream, warps);
    return tile_scope_leave(&scope, call->kernel->name, status);
}

static tile_status run_emulated(const invocation *call, const tile_image *image)
{
    enum { AT_A_TIME = 4 /* few, so that there are several turns */ };
    const tile_emulator *emulator = image->emulator;
    tile_status status = TILE_OK;
    for (uint32_t i = 0; !status && i < call->specialisation->launch_count; i++) {
        const tile_entry *entry = &image->entries[i];
        const tile_grid whole = merged_grid(entry, &call->grids[i]);
        tile_grid grid;
        if (is_empty(&call->grids[i])) continue;
        status = own_grid_of(call, entry, &whole, AT_A_TIME, &grid);
        if (!status) status = emulator->run(image, entry, &grid, call->device_arguments);
    }
    return status;
}

static tile_status launch_emulated(invocation *call, tile_stream stream, uint32_t warps)
{
    const tile_image *image = NULL;
    tile_status status = tile_need_emulated(call->kernel, call->variant, &image);
    if (!status) status = check_warps(call, image, warps);
    tile_workspaces workspaces = workspaces_of(call);
    if (!status) status = tile_workspaces_emulated(&workspaces, stream, call->workspaces);
    if (status) return status;
    pass_workspaces(call);
    tile_maps_emulated(image, call->arguments, call->maps);
    pass_maps(call, image);
    status = run_emulated(call, image);
    if (!status) status = tile_workspaces_check(&workspaces, call->workspaces);
    tile_workspaces_return(&workspaces, call->workspaces);
    return status;
}

/* Those of the environment are looked at by every call: a wrong one is told by the first. */
static tile_status get_settings(int *device)
{
    tile_tuning mode;
    const tile_status status = tile_tuning_mode(&mode);
    return status ? status : tile_chosen_device(device);
}

tile_status tile_launch(const tile_kernel *kernel, tile_stream stream, const tile_grid *grid,
                        uint32_t warps, const void *const *arguments)
{
    invocation call;
    int device;
    tile_taped *taped = NULL;
    tile_status status = tile_resolve(&call, kernel, grid, arguments);
    if (!status) status = get_settings(&device);
    if (!status) status = tile_tape_take(kernel, grid != NULL || warps, arguments, &taped);
    if (status) return status;
    status = device == TILE_DEVICE_EMULATOR ? launch_emulated(&call, stream, warps)
                                            : launch_on_gpu(&call, stream, grid != NULL, warps);
    tile_tape_settle(taped, !status);
    return status;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static tile_status planned_gpu_image(invocation *call, const tile_image **out)
{
    tile_driver *driver = NULL;
    tile_scope scope;
    tile_status status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter(driver, NULL, call->kernel->name, &scope);
    if (status) return status;
    if (is_tuned(call)) status = choose_configuration(call, &scope, NULL, 0);
    if (!status)
        status = tile_need_image(call->kernel, call->variant, &driver->gpus[scope.device], out);
    return tile_scope_leave(&scope, call->kernel->name, status);
}

tile_status tile_plan_launch(const tile_kernel *kernel, const void *const *arguments,
                             tile_plan *out)
{
    invocation call;
    int device;
    const tile_image *image = NULL;
    tile_status status = tile_resolve(&call, kernel, NULL, arguments);
    if (!status && !out)
        status = tile_error(TILE_ERROR_ARGUMENT, "%s: where the plan goes is NULL", kernel->name);
    if (!status) status = get_settings(&device);
    if (!status)
        status = device == TILE_DEVICE_EMULATOR ? tile_need_emulated(kernel, call.variant, &image)
                                                : planned_gpu_image(&call, &image);
    if (status) return status;
    *out = (tile_plan){
        .target = image->target,
        .cluster = {1, 1, 1},
        .specialisation = call.specialisation_index,
        .variant = call.variant_index,
        .launches = call.specialisation->launch_count,
        .workspace_bytes =
            tile_workspace_bytes(call.specialisation->workspace_count, call.workspace_bytes),
    };
    if (out->launches) {
        out->grid = call.grids[0];
        out->warps = image->entries[0].warps;
        out->shared_bytes = image->entries[0].shared_bytes;
        out->registers = image->entries[0].registers;
        out->spill_bytes = image->entries[0].spill_bytes;
        if (image->entries[0].cluster[0])
            out->cluster = (tile_grid){image->entries[0].cluster[0], image->entries[0].cluster[1],
                                       image->entries[0].cluster[2]};
    }
    return TILE_OK;
}
