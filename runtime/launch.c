/* launch.c: one call of a kernel, from its arguments to the launches.
 *
 * The path of every call after the first takes no lock and allocates nothing: pick the
 * specialisation by the keys, the variant by the arguments, the grids by the compiled host part,
 * and launch. */
#include "tune.h"

#include <inttypes.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------- */

/* An integer argument or an address, sign extended. A type is "i32", "u8", "f16", ... */
int64_t tile_argument_value(const tile_parameter *parameter, const void *argument)
{
    const int is_unsigned = parameter->type && parameter->type[0] == 'u';
    switch (parameter->bytes) {
    case 1: {
        int8_t value;
        memcpy(&value, argument, sizeof value);
        return is_unsigned ? (uint8_t)value : value;
    }
    case 2: {
        int16_t value;
        memcpy(&value, argument, sizeof value);
        return is_unsigned ? (uint16_t)value : value;
    }
    case 4: {
        int32_t value;
        memcpy(&value, argument, sizeof value);
        return is_unsigned ? (int64_t)(uint32_t)value : value;
    }
    default: {
        int64_t value;
        memcpy(&value, argument, sizeof value);
        return value;
    }
    }
}

static int64_t key_value(const void *argument)
{
    int64_t value;
    memcpy(&value, argument, sizeof value);
    return value;
}

/* What can be wrong with the descriptor and the arguments whatever the kernel does. */
tile_status tile_check_call(const tile_kernel *kernel, const void *const *arguments)
{
    if (!kernel) return tile_error(TILE_ERROR_ARGUMENT, "the kernel is NULL");
    if (kernel->abi_version != TILE_ABI_VERSION)
        return tile_error(
            TILE_ERROR_ABI,
            "%s: the object was made for version %u of libtile's binary interface, this libtile "
            "has version %u: compile the kernel with the tilec that came with it",
            kernel->name, kernel->abi_version, TILE_ABI_VERSION);
    if (kernel->parameter_count > TILE_MAX_PARAMETERS)
        return tile_error(TILE_ERROR_ARGUMENT, "%s: %u parameters, at most %d can be passed",
                          kernel->name, kernel->parameter_count, TILE_MAX_PARAMETERS);
    if (!arguments && kernel->parameter_count)
        return tile_error(TILE_ERROR_ARGUMENT, "%s: arguments is NULL, expected %u of them",
                          kernel->name, kernel->parameter_count);
    return TILE_OK;
}

/* A call, sorted out. */
typedef struct invocation {
    const tile_kernel *kernel;
    const void *const *arguments;        /* all of them */
    const void *const *device_arguments; /* without the keys */
    const tile_specialisation *specialisation;
    const tile_variant *variant;
    uint32_t specialisation_index;
    uint32_t variant_index;
    uint32_t key_count;
    uint32_t device_count; /* of device_arguments; workspaces follow them */
    int64_t keys[TILE_MAX_PARAMETERS];
    const void *parameters[TILE_MAX_PARAMETERS + TILE_MAX_WORKSPACES + TILE_MAX_MAPS];
    tile_encoded_map maps[TILE_MAX_MAPS];
    tile_grid grids[TILE_MAX_LAUNCHES];
    int64_t *extents; /* where those of results go, or NULL */
    uint64_t workspace_bytes[TILE_MAX_WORKSPACES];
    void *workspaces[TILE_MAX_WORKSPACES];
} invocation;

static tile_status split_arguments(invocation *call)
{
    const tile_kernel *kernel = call->kernel;
    uint32_t keys = 0, others = 0;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const tile_parameter *parameter = &kernel->parameters[i];
        const void *argument = call->arguments[i];
        if (parameter->kind == TILE_PARAMETER_KEY_FIXED) {
            call->keys[keys++] = 0;
            continue;
        }
        if (!argument)
            return tile_error(TILE_ERROR_ARGUMENT,
                              "%s: no value for argument '%s': arguments[%u] is NULL", kernel->name,
                              parameter->name, i);
        if (!tile_is_key(parameter)) {
            call->parameters[others++] = argument;
            continue;
        }
        call->keys[keys] = key_value(argument);
        if (parameter->kind == TILE_PARAMETER_KEY_TEXT && !call->keys[keys])
            return tile_error(TILE_ERROR_ARGUMENT, "%s: argument '%s' is NULL, expected a text",
                              kernel->name, parameter->name);
        keys++;
    }
    call->key_count = keys;
    call->device_count = others;
    call->device_arguments = call->parameters;
    return TILE_OK;
}

/* ---- specialisations ------------------------------------------------------------------------- */

static tile_status find_specialisation(invocation *call)
{
    const tile_kernel *kernel = call->kernel;
    if (tile_is_recording()) tile_record_call(kernel, call->keys, call->arguments);
    for (uint32_t i = 0; i < kernel->specialisation_count; i++) {
        if (tile_same_keys(kernel, call->keys, kernel->specialisations[i].keys, call->key_count)) {
            call->specialisation = &kernel->specialisations[i];
            call->specialisation_index = i;
            return TILE_OK;
        }
    }
    const tile_status status =
        tile_build_missing(kernel, call->keys, call->key_count, call->arguments, &call->kernel);
    call->specialisation = call->kernel->specialisations;
    call->specialisation_index = 0;
    return status;
}

/* ---- variants -------------------------------------------------------------------------------- */

static int is_multiple(int64_t value, uint32_t of)
{
    if ((of & (of - 1)) == 0) /* a division costs more than the rest of this file's work */
        return ((uint64_t)value & (of - 1)) == 0;
    return value % (int64_t)of == 0;
}

/* The first parameter that breaks the variant's assumptions, or parameter_count. */
static uint32_t broken_assumption(const invocation *call, const tile_variant *variant)
{
    const tile_kernel *kernel = call->kernel;
    if (!variant->multiples) return kernel->parameter_count;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const uint32_t of = variant->multiples[i];
        if (of > 1 &&
            !is_multiple(tile_argument_value(&kernel->parameters[i], call->arguments[i]), of))
            return i;
    }
    return kernel->parameter_count;
}

static tile_status no_variant(const invocation *call, uint32_t broken)
{
    const tile_kernel *kernel = call->kernel;
    const tile_specialisation *specialisation = call->specialisation;
    if (!specialisation->variant_count)
        return tile_error(TILE_ERROR_ABI, "%s: the descriptor holds no code", kernel->name);
    const tile_parameter *parameter = &kernel->parameters[broken];
    const int64_t value = tile_argument_value(parameter, call->arguments[broken]);
    const uint32_t of =
        specialisation->variants[specialisation->variant_count - 1].multiples[broken];
    if (parameter->kind == TILE_PARAMETER_POINTER)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: argument '%s' must be aligned to %u bytes, got address 0x%" PRIx64,
                          kernel->name, parameter->name, of, (uint64_t)value);
    return tile_error(TILE_ERROR_ARGUMENT,
                      "%s: argument '%s' must be a multiple of %u, got %" PRId64, kernel->name,
                      parameter->name, of, value);
}

/* What the images of a variant take as tensor maps can be such. */
static int maps_fit(const invocation *call, const tile_variant *variant)
{
    int fit = 1;
    for (uint64_t i = 0; i < variant->image_count; i++)
        fit = fit && tile_maps_fit(&variant->images[i], call->arguments);
    return fit;
}

static tile_status find_variant(invocation *call)
{
    const tile_specialisation *specialisation = call->specialisation;
    uint32_t broken = 0;
    for (uint32_t i = 0; i < specialisation->variant_count; i++) {
        const tile_variant *variant = &specialisation->variants[i];
        broken = broken_assumption(call, variant);
        if (broken == call->kernel->parameter_count &&
            (i + 1 == specialisation->variant_count || maps_fit(call, variant))) {
            call->variant = variant;
            call->variant_index = i;
            return TILE_OK;
        }
    }
    return no_variant(call, broken);
}

/* ---- grids ----------------------------------------------------------------------------------- */

/* The integer arguments with their values: a grid is made of nothing else. */
static void describe_integers(tile_text *text, const invocation *call)
{
    const tile_kernel *kernel = call->kernel;
    const char *separator = " (";
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const tile_parameter *parameter = &kernel->parameters[i];
        const int is_float =
            parameter->type && (parameter->type[0] == 'f' || parameter->type[0] == 'b');
        if (parameter->kind == TILE_PARAMETER_POINTER ||
            (is_float && parameter->kind == TILE_PARAMETER_SCALAR))
            continue;
        tile_text_add(text, "%s%s = %" PRId64, separator, parameter->name,
                      tile_argument_value(parameter, call->arguments[i]));
        separator = ", ";
    }
    if (*separator == ',') tile_text_add(text, ")");
}

static tile_status bad_host(const invocation *call, int32_t status, const char *complaint)
{
    tile_text text = {0};
    tile_text_add(&text, "%s: %s", call->kernel->name,
                  complaint ? complaint : "the number of blocks is negative or too large");
    describe_integers(&text, call);
    return tile_error(status, "%s", text.bytes);
}

static tile_status bad_grid(const invocation *call, uint32_t launch)
{
    const tile_grid *grid = &call->grids[launch];
    tile_text text = {0};
    tile_text_add(&text,
                  "%s: launch %u asks for %u x %u x %u blocks, at most %d x %d x %d are possible",
                  call->kernel->name, launch, grid->x, grid->y, grid->z, TILE_MAX_GRID_X,
                  TILE_MAX_GRID_YZ, TILE_MAX_GRID_YZ);
    describe_integers(&text, call);
    return tile_error(TILE_ERROR_ARGUMENT, "%s", text.bytes);
}

/* The caller's grid stands for a kernel of one launch only: there is no telling which of several.
 */
static tile_status take_grid(invocation *call, const tile_grid *grid)
{
    if (call->specialisation->launch_count != 1)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: argument 'grid' must be NULL for a kernel of %u launches",
                          call->kernel->name, call->specialisation->launch_count);
    call->grids[0] = *grid;
    return TILE_OK;
}

static tile_status compute_grids(invocation *call, const tile_grid *grid)
{
    const tile_specialisation *specialisation = call->specialisation;
    if (specialisation->launch_count > TILE_MAX_LAUNCHES)
        return tile_error(TILE_ERROR_ABI, "%s: %u launches, at most %d are possible",
                          call->kernel->name, specialisation->launch_count, TILE_MAX_LAUNCHES);
    if (specialisation->workspace_count > TILE_MAX_WORKSPACES)
        return tile_error(TILE_ERROR_ABI, "%s: %u workspaces, at most %d are possible",
                          call->kernel->name, specialisation->workspace_count, TILE_MAX_WORKSPACES);
    tile_status status;
    if (!grid || specialisation->workspace_count) {
        const char *complaint = NULL;
        status = specialisation->host(call->arguments, call->grids, call->extents,
                                      call->workspace_bytes, &complaint, NULL);
        if (status) return bad_host(call, status, complaint);
    }
    if (grid) {
        status = take_grid(call, grid);
        if (status) return status;
    }
    for (uint32_t i = 0; i < specialisation->launch_count; i++) {
        const tile_grid *one = &call->grids[i];
        if (one->x > TILE_MAX_GRID_X || one->y > TILE_MAX_GRID_YZ || one->z > TILE_MAX_GRID_YZ)
            return bad_grid(call, i);
    }
    return TILE_OK;
}

static int is_empty(const tile_grid *grid)
{
    return !grid->x || !grid->y || !grid->z;
}

/* The specialisation for the call. */
static tile_status select(invocation *call, const tile_kernel *kernel, const void *const *arguments)
{
    tile_status status = tile_check_call(kernel, arguments);
    if (status) return status;
    call->kernel = kernel;
    call->arguments = arguments;
    call->extents = NULL;
    status = split_arguments(call);
    return status ? status : find_specialisation(call);
}

static tile_status resolve(invocation *call, const tile_kernel *kernel, const tile_grid *grid,
                           const void *const *arguments)
{
    tile_status status = select(call, kernel, arguments);
    if (!status) status = find_variant(call);
    return status ? status : compute_grids(call, grid);
}

tile_status tile_select(const tile_kernel *kernel, const void *const *arguments,
                        const tile_specialisation **out)
{
    invocation call;
    const tile_status status = select(&call, kernel, arguments);
    if (!status) *out = call.specialisation;
    return status;
}

tile_status tile_result_extents(const tile_kernel *kernel, const void *const *arguments,
                                int64_t *out)
{
    invocation call;
    const tile_status status = select(&call, kernel, arguments);
    call.extents = out;
    return status ? status : compute_grids(&call, NULL);
}

/* ---- workspaces ------------------------------------------------------------------------------ */

static tile_workspaces workspaces_of(const invocation *call)
{
    return (tile_workspaces){.kernel = call->kernel,
                             .bytes = call->workspace_bytes,
                             .count = call->specialisation->workspace_count,
                             .zeroed = call->specialisation->zeroed_workspaces};
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
static tile_status check_company(const invocation *call, const tile_entry *entry,
                                 const tile_grid *grid)
{
    const uint32_t extents[3] = {grid->x, grid->y, grid->z};
    for (int i = 0; i < 3; i++) {
        if (!entry->cluster[i] || extents[i] % entry->cluster[i] == 0) continue;
        tile_text text = {0};
        tile_text_add(&text, "%s: %u x %u x %u blocks are not whole clusters of %u x %u x %u",
                      call->kernel->name, grid->x, grid->y, grid->z, entry->cluster[0],
                      entry->cluster[1], entry->cluster[2]);
        describe_integers(&text, call);
        return tile_error(TILE_ERROR_ARGUMENT, "%s", text.bytes);
    }
    return TILE_OK;
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

static unsigned launch_attributes(const tile_entry *entry, CUlaunchAttribute out[2])
{
    unsigned count = 0;
    if (entry->cluster[0])
        out[count++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            .value.cluster = {entry->cluster[0], entry->cluster[1], entry->cluster[2]}};
    if (entry->cooperative)
        out[count++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    return count;
}

/* The driver takes a CUkernel for a CUfunction and finds the function of the stream's context
 * itself. That costs nothing measurable, and keeping functions by context here would go wrong as
 * soon as a new context gets the address of a destroyed one. */
static tile_status launch_one(const invocation *call, const tile_scope *scope,
                              const tile_entry *entry, const tile_loaded_kernel *loaded,
                              const tile_grid *whole, tile_stream stream)
{
    const tile_grid own =
        entry->persistent ? tile_persistent_grid(entry, whole, loaded->at_a_time) : *whole;
    const tile_grid *grid = &own;
    CUlaunchAttribute attributes[2];
    const tile_status status = check_company(call, entry, grid);
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
        .numAttrs = launch_attributes(entry, attributes),
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
    tile_status status = tile_load(scope->driver, call->kernel, call->specialisation_index,
                                   call->variant_index, scope->device, &loaded);
    if (!status) status = check_warps(call, loaded->image, warps);
    if (!status && call->specialisation->workspace_count) {
        const tile_workspaces workspaces = workspaces_of(call);
        status = tile_workspaces_on_gpu(scope->driver, &workspaces, stream, call->workspaces);
        pass_workspaces(call);
    }
    if (!status)
        status = tile_maps_on_gpu(scope->driver, call->kernel, loaded->image, call->arguments,
                                  call->maps);
    if (!status) pass_maps(call, loaded->image);
    return status ? status : launch_loaded(call, scope, loaded, stream);
}

/* ---- configurations -------------------------------------------------------------------------- */

/* Makes the call one of the configuration, of the row whose first one it is of. */
static tile_status take_configuration(invocation *call, uint32_t configuration)
{
    call->specialisation_index += configuration;
    call->specialisation += configuration;
    const tile_status status = find_variant(call);
    return status ? status : compute_grids(call, NULL);
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
    tile_status status = TILE_OK;
    tile_ask(&question, call->arguments);
    if ((tile_tuning_mode() == TILE_TUNE_FIRST || !tile_tune_known(&question, &choice)) &&
        may_measure)
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
        tile_grid grid = call->grids[i];
        if (is_empty(&grid)) continue;
        if (image->entries[i].persistent)
            grid = tile_persistent_grid(&image->entries[i], &grid, AT_A_TIME);
        status = check_company(call, &image->entries[i], &grid);
        if (status) return status;
        status = emulator->run(image, &image->entries[i], &grid, call->device_arguments);
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
    tile_workspaces_return(&workspaces, call->workspaces);
    return status;
}

tile_status tile_launch(const tile_kernel *kernel, tile_stream stream, const tile_grid *grid,
                        uint32_t warps, const void *const *arguments)
{
    invocation call;
    int device;
    tile_status status = resolve(&call, kernel, grid, arguments);
    if (!status) status = tile_chosen_device(&device);
    if (status) return status;
    return device == TILE_DEVICE_EMULATOR ? launch_emulated(&call, stream, warps)
                                          : launch_on_gpu(&call, stream, grid != NULL, warps);
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
    tile_status status = resolve(&call, kernel, NULL, arguments);
    if (!status) status = tile_chosen_device(&device);
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

/* ---- preparation ----------------------------------------------------------------------------- */

/* cuKernelGetFunction brings the code into the current context, which the driver may otherwise put
 * off to the first launch. */
static tile_status settle(const tile_driver *driver, const tile_kernel *kernel, uint32_t launches,
                          const tile_loaded *loaded)
{
    for (uint32_t i = 0; i < launches; i++) {
        CUfunction function;
        const CUresult result = driver->kernel_function(&function, loaded->kernels[i].kernel);
        if (result != CUDA_SUCCESS)
            return tile_driver_error(driver, result, kernel->name, "cuKernelGetFunction");
    }
    return TILE_OK;
}

/* What is done with each variant of a kernel. */
typedef tile_status prepare_function(const tile_driver *driver, const tile_kernel *kernel,
                                     uint32_t specialisation, uint32_t variant, int device);

static tile_status prepare_loaded(const tile_driver *driver, const tile_kernel *kernel,
                                  uint32_t specialisation, uint32_t variant, int device)
{
    const tile_loaded *loaded = NULL;
    const tile_status status = tile_load(driver, kernel, specialisation, variant, device, &loaded);
    if (status) return status;
    return settle(driver, kernel, kernel->specialisations[specialisation].launch_count, loaded);
}

static tile_status prepare_emulated(const tile_driver *driver, const tile_kernel *kernel,
                                    uint32_t specialisation, uint32_t variant, int device)
{
    (void)driver;
    (void)device;
    const tile_image *image = NULL;
    return tile_need_emulated(kernel, &kernel->specialisations[specialisation].variants[variant],
                              &image);
}

static tile_status prepare_one(prepare_function *prepare, const tile_driver *driver,
                               const tile_kernel *kernel, uint32_t specialisation, int device)
{
    tile_status status = TILE_OK;
    const uint32_t count = kernel->specialisations[specialisation].variant_count;
    for (uint32_t i = 0; !status && i < count; i++)
        status = prepare(driver, kernel, specialisation, i, device);
    return status;
}

/* Of configurations one has to be fit for the device. */
static tile_status prepare_all(prepare_function *prepare, const tile_driver *driver,
                               const tile_kernel *kernel, int device)
{
    for (uint32_t i = 0; i < kernel->specialisation_count;) {
        const uint32_t row = kernel->specialisations[i].configuration_count;
        const uint32_t end = i + (row ? row : 1);
        tile_status status = TILE_OK;
        int any = 0;
        for (; i < end; i++) {
            const tile_status one = prepare_one(prepare, driver, kernel, i, device);
            any |= !one;
            if (one) status = one;
        }
        if (!any) return status;
    }
    return TILE_OK;
}

static tile_status prepare_on_gpu(const tile_kernel *kernel, int device)
{
    tile_driver *driver = NULL;
    tile_scope scope;
    tile_status status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter_device(driver, device, kernel->name, &scope);
    if (status) return status;
    status = prepare_all(prepare_loaded, driver, kernel, device);
    return tile_scope_leave(&scope, kernel->name, status);
}

tile_status tile_prepare(const tile_kernel *kernel, int device)
{
    static const void *const no_arguments[1];
    int chosen;
    tile_status status = tile_check_call(kernel, no_arguments);
    if (!status) status = tile_chosen_device(&chosen);
    if (status) return status;
    return chosen == TILE_DEVICE_EMULATOR ? prepare_all(prepare_emulated, NULL, kernel, device)
                                          : prepare_on_gpu(kernel, device);
}
