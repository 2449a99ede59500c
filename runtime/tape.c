/* tape.c: launches that are noted, and their gradients (tile/tape.h).
 *
 * A gradient's parameters have the names of its kernel's, with the same values; a pointer NAME_grad
 * is that to the gradient of what NAME points to. */
#include "runtime.h"

#include "tile/tape.h"

#include <stdlib.h>
#include <string.h>

typedef struct record {
    struct record *before;
    const tile_kernel *kernel;
    uint64_t values[]; /* one a parameter: its bytes; of a text the address of a copy */
} record;

typedef struct watched {
    uintptr_t base, gradient;
    size_t bytes;
} watched;

struct tile_tape {
    record *last;
    watched *watched;
    size_t watched_count;
    int is_open;
    tile_tape *outer; /* that was open before */
};

/* The launch that is being made, for each open tape. */
struct tile_taped {
    tile_taped *next;
    tile_tape *tape;
    record *record;
};

static _Thread_local tile_tape *innermost;

static tile_status no_memory(const char *who)
{
    return tile_error(TILE_ERROR_MEMORY, "%s: no memory", who);
}

static tile_status check_tape(const char *who, const tile_tape *tape)
{
    return tape ? TILE_OK : tile_error(TILE_ERROR_ARGUMENT, "%s: argument 'tape' is NULL", who);
}

/* ---- records --------------------------------------------------------------------------------- */

static void free_record(record *one)
{
    const tile_kernel *kernel = one->kernel;
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        if (kernel->parameters[i].kind == TILE_PARAMETER_KEY_TEXT)
            free((void *)(uintptr_t)one->values[i]);
    free(one);
}

static int take_value(const tile_parameter *parameter, const void *argument, uint64_t *out)
{
    if (parameter->kind == TILE_PARAMETER_KEY_FIXED) return 1;
    if (parameter->kind != TILE_PARAMETER_KEY_TEXT) {
        memcpy(out, argument, parameter->bytes);
        return 1;
    }
    const char *text = *(const char *const *)argument;
    char *copy = strdup(text);
    *out = (uintptr_t)copy;
    return copy != NULL;
}

static record *new_record(const tile_kernel *kernel, const void *const *arguments)
{
    record *made = calloc(1, sizeof *made + kernel->parameter_count * sizeof *made->values);
    int good = made != NULL;
    if (made) made->kernel = kernel;
    for (uint32_t i = 0; good && i < kernel->parameter_count; i++)
        good = take_value(&kernel->parameters[i], arguments[i], &made->values[i]);
    if (good || !made) return made;
    free_record(made);
    return NULL;
}

static tile_status check_taped(const tile_kernel *kernel, int own_grid)
{
    if (!kernel->gradient)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: its gradient was not compiled, which an open tape needs: tilec "
                          "--grad=%s, or .compile(..., grad=True)",
                          kernel->name, kernel->name);
    if (own_grid)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: a launch of another grid than the kernel's has no gradient, which "
                          "an open tape needs",
                          kernel->name);
    return TILE_OK;
}

tile_status tile_tape_take(const tile_kernel *kernel, int own_grid, const void *const *arguments,
                           tile_taped **out)
{
    tile_status status = innermost ? check_taped(kernel, own_grid) : TILE_OK;
    *out = NULL;
    for (tile_tape *tape = innermost; !status && tape; tape = tape->outer) {
        tile_taped *taped = calloc(1, sizeof *taped);
        record *made = new_record(kernel, arguments);
        if (taped && made) {
            *taped = (tile_taped){*out, tape, made};
            *out = taped;
            continue;
        }
        free(taped);
        if (made) free_record(made);
        status = no_memory(kernel->name);
    }
    if (!status) return TILE_OK;
    tile_tape_settle(*out, 0);
    return status;
}

void tile_tape_settle(tile_taped *taped, int is_launched)
{
    for (tile_taped *next; taped; taped = next) {
        next = taped->next;
        if (is_launched) {
            taped->record->before = taped->tape->last;
            taped->tape->last = taped->record;
        } else {
            free_record(taped->record);
        }
        free(taped);
    }
}

/* ---- going back ------------------------------------------------------------------------------ */

static int find_parameter(const tile_kernel *kernel, const char *name, size_t length)
{
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        if (strlen(kernel->parameters[i].name) == length &&
            strncmp(kernel->parameters[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

/* The gradient of what lies there. */
static tile_status find_gradient(const tile_tape *tape, const record *one, int index, uint64_t *out)
{
    const uintptr_t at = (uintptr_t)one->values[index];
    for (size_t i = tape->watched_count; i-- > 0;) {
        const watched *pair = &tape->watched[i];
        if (at < pair->base || at - pair->base >= pair->bytes) continue;
        *out = pair->gradient + (at - pair->base);
        return TILE_OK;
    }
    *out = 0;
    if (!at) return TILE_OK; /* of an empty tensor */
    return tile_error(TILE_ERROR_ARGUMENT,
                      "tile_tape_backward: %s: argument '%s' has no gradient that "
                      "tile_tape_watch was told of",
                      one->kernel->name, one->kernel->parameters[index].name);
}

static tile_status fill_argument(const tile_tape *tape, const record *one, const char *name,
                                 uint64_t *out)
{
    static const char suffix[] = "_grad";
    const size_t length = strlen(name), tail = sizeof suffix - 1;
    int index = find_parameter(one->kernel, name, length);
    if (index >= 0) {
        *out = one->values[index];
        return TILE_OK;
    }
    if (length > tail && strcmp(name + length - tail, suffix) == 0)
        index = find_parameter(one->kernel, name, length - tail);
    if (index >= 0) return find_gradient(tape, one, index, out);
    return tile_error(TILE_ERROR_ARGUMENT,
                      "tile_tape_backward: %s: its gradient takes '%s', an extent of a result, "
                      "which a tape does not know: call %s itself",
                      one->kernel->name, name, one->kernel->gradient->name);
}

static tile_status launch_gradient(const tile_tape *tape, const record *one, tile_stream stream)
{
    const tile_kernel *gradient = one->kernel->gradient;
    uint64_t values[TILE_MAX_PARAMETERS];
    const void *arguments[TILE_MAX_PARAMETERS];
    tile_status status = TILE_OK;
    for (uint32_t i = 0; !status && i < gradient->parameter_count; i++) {
        arguments[i] = &values[i];
        status = fill_argument(tape, one, gradient->parameters[i].name, &values[i]);
    }
    return status ? status : tile_launch(gradient, stream, NULL, 0, arguments);
}

tile_status tile_tape_backward(const tile_tape *tape, tile_stream stream)
{
    tile_tape *open = innermost;
    tile_status status = check_tape("tile_tape_backward", tape);
    if (status) return status;
    innermost = NULL;
    for (const record *one = tape->last; !status && one; one = one->before)
        status = launch_gradient(tape, one, stream);
    innermost = open;
    return status;
}

tile_status tile_tape_zero(const tile_tape *tape, tile_stream stream)
{
    tile_status status = check_tape("tile_tape_zero", tape);
    for (size_t i = 0; !status && i < tape->watched_count; i++)
        status = tile_clear("tile_tape_zero", (void *)tape->watched[i].gradient,
                            tape->watched[i].bytes, stream);
    return status;
}

/* ---- tapes ----------------------------------------------------------------------------------- */

tile_status tile_tape_new(tile_tape **out)
{
    if (!out) return tile_error(TILE_ERROR_ARGUMENT, "tile_tape_new: argument 'out' is NULL");
    *out = calloc(1, sizeof **out);
    return *out ? TILE_OK : no_memory("tile_tape_new");
}

static void forget(tile_tape *tape)
{
    for (record *one = tape->last, *before; one; one = before) {
        before = one->before;
        free_record(one);
    }
    tape->last = NULL;
}

tile_status tile_tape_reset(tile_tape *tape)
{
    const tile_status status = check_tape("tile_tape_reset", tape);
    if (!status) forget(tape);
    return status;
}

void tile_tape_free(tile_tape *tape)
{
    if (!tape) return;
    forget(tape);
    free(tape->watched);
    free(tape);
}

static int is_packed(const DLTensor *tensor)
{
    int64_t stride = 1;
    for (int32_t d = tensor->ndim; tensor->strides && d-- > 0; stride *= tensor->shape[d])
        if (tensor->shape[d] != 1 && tensor->strides[d] != stride) return 0;
    return 1;
}

static int are_alike(const DLTensor *a, const DLTensor *b)
{
    if (a->ndim != b->ndim || memcmp(&a->dtype, &b->dtype, sizeof a->dtype) != 0) return 0;
    for (int32_t d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d]) return 0;
    return 1;
}

static uintptr_t address_of(const DLTensor *tensor)
{
    return (uintptr_t)tensor->data + tensor->byte_offset;
}

tile_status tile_tape_watch(tile_tape *tape, const DLTensor *tensor, const DLTensor *gradient)
{
    tile_status status = check_tape("tile_tape_watch", tape);
    if (status) return status;
    if (!tensor || !gradient)
        return tile_error(TILE_ERROR_ARGUMENT, "tile_tape_watch: argument '%s' is NULL",
                          tensor ? "gradient" : "tensor");
    if (!is_packed(tensor) || !is_packed(gradient) || !are_alike(tensor, gradient))
        return tile_error(TILE_ERROR_ARGUMENT,
                          "tile_tape_watch: a tensor and its gradient are packed, and of one type "
                          "and shape");
    watched *more = realloc(tape->watched, (tape->watched_count + 1) * sizeof *more);
    if (!more) return no_memory("tile_tape_watch");
    tape->watched = more;
    more[tape->watched_count++] =
        (watched){address_of(tensor), address_of(gradient), (size_t)tile_tensor_bytes(tensor)};
    return TILE_OK;
}

tile_status tile_tape_begin(tile_tape *tape)
{
    const tile_status status = check_tape("tile_tape_begin", tape);
    if (status) return status;
    if (tape->is_open)
        return tile_error(TILE_ERROR_ARGUMENT, "tile_tape_begin: the tape has begun already");
    tape->is_open = 1;
    tape->outer = innermost;
    innermost = tape;
    return TILE_OK;
}

tile_status tile_tape_end(tile_tape *tape)
{
    const tile_status status = check_tape("tile_tape_end", tape);
    if (status) return status;
    if (tape != innermost)
        return tile_error(TILE_ERROR_ARGUMENT, "tile_tape_end: %s",
                          tape->is_open ? "the tape that began last ends first"
                                        : "the tape has not begun");
    tape->is_open = 0;
    innermost = tape->outer;
    return TILE_OK;
}
