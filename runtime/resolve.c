/* resolve.c: what a call asks for: the specialisation by its keys, the variant by its arguments,
 * the grids by the compiled host part. No lock is taken and nothing allocated. */
#include "invocation.h"

#include <inttypes.h>
#include <stdatomic.h>
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

/* Where calls found theirs, by a hash of kernel and keys. No place is trusted: the keys there are
 * compared, so that two calls with one hash, or threads that both write, cost time at most. */
enum { FEW = 8 /* are looked through */, PLACES = 1 << 14 };
static _Atomic uint32_t places[PLACES];

static _Atomic uint32_t *place_of(const invocation *call)
{
    return &places[tile_hash_keys(call->kernel, call->keys) % PLACES];
}

static int is_specialisation(const invocation *call, uint32_t index)
{
    return index < call->kernel->specialisation_count &&
           tile_same_keys(call->kernel, call->keys, call->kernel->specialisations[index].keys,
                          call->key_count);
}

/* The first one of the keys, of which there is one for each configuration; the kernel's count:
 * none. */
static uint32_t look_for(const invocation *call)
{
    const uint32_t count = call->kernel->specialisation_count;
    uint32_t index = 0;
    _Atomic uint32_t *place = count > FEW ? place_of(call) : NULL;
    if (place) index = atomic_load_explicit(place, memory_order_relaxed);
    if (place && is_specialisation(call, index)) {
        while (index && is_specialisation(call, index - 1)) index--;
        return index;
    }
    for (index = 0; index < count && !is_specialisation(call, index);) index++;
    if (place && index < count) atomic_store_explicit(place, index, memory_order_relaxed);
    return index;
}

static tile_status find_specialisation(invocation *call)
{
    const tile_kernel *kernel = call->kernel;
    if (tile_is_recording()) tile_record_call(kernel, call->keys, call->arguments);
    const uint32_t index = look_for(call);
    if (index < kernel->specialisation_count) {
        call->specialisation = &kernel->specialisations[index];
        call->specialisation_index = index;
        return TILE_OK;
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
void tile_describe_integers(tile_text *text, const invocation *call)
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
    tile_describe_integers(&text, call);
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
    tile_describe_integers(&text, call);
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

tile_status tile_resolve_variant(invocation *call, const tile_grid *grid)
{
    const tile_status status = find_variant(call);
    return status ? status : compute_grids(call, grid);
}

tile_status tile_resolve(invocation *call, const tile_kernel *kernel, const tile_grid *grid,
                         const void *const *arguments)
{
    const tile_status status = select(call, kernel, arguments);
    return status ? status : tile_resolve_variant(call, grid);
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
