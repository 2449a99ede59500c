/* tensors.c: tensors that kernels take: their annotations, what a specialisation knows of them, the
 * parameters that they become. An extent or stride is a number of the annotation, a key of the
 * specialisation, or known at the call; one that has a name is the same wherever that stands. */
#include "eval/export/export.h"

#include <string.h>

/* ---- annotations ---- */

static bool read_extents(Eval *eval, Object *object, const char *what, Span at, int *rank,
                         Object **out)
{
    if (!argument_items(eval, object, what, at, rank, out)) return false;
    for (int i = 0; i < *rank; i++) {
        if (out[i]->kind == OBJECT_INT && out[i]->as.extent != NULL && eval->staging != NULL &&
            !map_has(&eval->staging->symbols, out[i]->as.extent->as.symbol->name))
            out[i] = out[i]->as.extent; /* the first that tells it */
        bool fits = out[i]->kind == OBJECT_SYMBOL || builtin_is(out[i], "int") ||
                    (out[i]->kind == OBJECT_INT && out[i]->as.integer >= 0);
        if (out[i]->kind == OBJECT_IR || fits) continue;
        FAIL(eval, expected_kind, at, what,
             out[i]->kind == OBJECT_INT ? "made of numbers that are not negative"
                                        : "made of ints, 'int' and names of extents",
             object_repr(eval, out[i]));
        return false;
    }
    return true;
}

/* More elements than a GPU has addresses for are refused; what is computed of a stride and a place
 * in a tile fits 64 bits then. */
static bool count_extent(Eval *eval, int64_t *elements, int64_t extent, Span at)
{
    const int64_t most = (int64_t)1 << 48;
    if (!__builtin_mul_overflow(*elements, extent, elements) && *elements <= most) return true;
    FAIL(eval, tensor_size, at);
    return false;
}

Object *core_tensor_type(Eval *eval, const Bound *bound)
{
    TensorType *tensor = arena_new_of(eval->arena, TensorType);
    int strides;
    *tensor = (TensorType){.at = bound->at, .any_dtype = argument_absent(bound->values[1])};
    if ((!tensor->any_dtype &&
         !argument_dtype(eval, bound->values[1], bound->at, &tensor->dtype)) ||
        !read_extents(eval, bound->values[0], "the shape", bound->at, &tensor->rank, tensor->shape))
        return NULL;
    int64_t elements = 1;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->shape[i]->kind == OBJECT_INT &&
            !count_extent(eval, &elements, tensor->shape[i]->as.integer, bound->at))
            return NULL;
    tensor->is_strided = !argument_absent(bound->values[2]);
    if (tensor->is_strided) {
        if (!read_extents(eval, bound->values[2], "the strides", bound->at, &strides,
                          tensor->strides))
            return NULL;
        if (strides != tensor->rank)
            return FAIL(eval, rank_mismatch, bound->at, "strides", (long long)strides,
                        (long long)tensor->rank);
    }
    if (!argument_absent(bound->values[3])) tensor->seen = bound->values[3];
    Object *object = object_new(eval, OBJECT_TENSOR_TYPE);
    object->as.tensor = tensor;
    return object;
}

/* ---- facts about a tensor ---- */

bool object_is_tensor(const Object *object)
{
    return object->kind == OBJECT_ARRAY || object->kind == OBJECT_TENSOR_TYPE;
}

static bool pack(Eval *eval, TensorSpec *spec, Span at)
{
    int64_t stride = 1;
    for (int i = spec->rank; i-- > 0;) {
        spec->strides[i] = stride;
        if (!count_extent(eval, &stride, spec->shape[i], at)) return false;
    }
    return true;
}

static bool spec_is_packed(const TensorSpec *spec)
{
    int64_t stride = 1;
    for (int i = 0; i < spec->rank; i++)
        if (spec->shape[i] == 0) return true;
    for (int i = spec->rank; i-- > 0; stride *= spec->shape[i])
        if (spec->shape[i] != 1 && spec->strides[i] != stride) return false;
    return true;
}

static bool known_extents(Eval *eval, Object *const *extents, int rank, Name name, Span at,
                          int64_t *out)
{
    for (int i = 0; i < rank; i++) {
        if (extents[i]->kind != OBJECT_INT) {
            FAIL(eval, untold_extent, at,
                 arena_printf(eval->arena, "extent %d of what stands for the tensor '%s'", i, name),
                 "write it as a number");
            return false;
        }
        out[i] = extents[i]->as.integer;
    }
    return true;
}

bool tensor_spec(Eval *eval, Object *object, Name name, Span at, TensorSpec *out)
{
    *out = (TensorSpec){.is_placeholder = object->kind == OBJECT_TENSOR_TYPE};
    if (out->is_placeholder) {
        const TensorType *tensor = object->as.tensor;
        out->rank = tensor->rank;
        out->dtype = tensor->dtype;
        if (!known_extents(eval, tensor->shape, tensor->rank, name, at, out->shape)) return false;
        if (!pack(eval, out, at)) return false;
        return !tensor->is_strided ||
               known_extents(eval, tensor->strides, tensor->rank, name, at, out->strides);
    }
    if (object->kind != OBJECT_ARRAY) {
        FAIL(eval, expected_kind, at, arena_printf(eval->arena, "argument '%s'", name), "an array",
             object_repr(eval, object));
        return false;
    }
    HostArray array;
    eval->host->describe(eval->host, object->as.array, &array);
    if (array.rank > TYPE_RANK) {
        FAIL(eval, rank_mismatch, at, name, (long long)array.rank, (long long)TYPE_RANK);
        return false;
    }
    out->dtype = array.dtype;
    out->rank = array.rank;
    memcpy(out->shape, array.shape, sizeof *out->shape * (size_t)array.rank);
    memcpy(out->strides, array.strides, sizeof *out->strides * (size_t)array.rank);
    return true;
}

/* An array of bytes holds packed elements: several in each of its last dimension. What stands for a
 * tensor may name another type and have the extents of its elements. */
void spec_unpack(TensorSpec *spec, DType wanted, const Object *extent)
{
    const int last = spec->rank - 1;
    if (!dtype_is_packed(wanted) || (spec->dtype != DTYPE_u8 && spec->dtype != DTYPE_i8)) return;
    if (last < 0 || (spec->strides[last] != 1 && spec->shape[last] > 1)) return;
    if (spec->is_placeholder && extent->kind == OBJECT_INT &&
        extent->as.integer == spec->shape[last])
        return;
    const int64_t count = 8 / dtype_memory_bits(wanted);
    spec->dtype = wanted;
    spec->shape[last] *= count;
    for (int i = 0; i < last; i++) spec->strides[i] *= count;
}

static void unpack(TensorSpec *spec, const TensorType *tensor)
{
    if (!tensor->any_dtype && tensor->rank == spec->rank && spec->rank > 0)
        spec_unpack(spec, tensor->dtype, tensor->shape[spec->rank - 1]);
}

/* tensor_strides(x): of an array, in elements; None of anything else. */
Object *core_tensor_strides(Eval *eval, const Bound *bound)
{
    TensorSpec spec;
    if (!object_is_tensor(bound->values[0])) return eval->none;
    if (!tensor_spec(eval, bound->values[0], "", bound->at, &spec)) return NULL;
    Object *strides = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int i = 0; i < spec.rank; i++)
        list_append(eval, strides, object_int(eval, spec.strides[i]));
    return strides;
}

/* ---- keys ---- */

/* A name that another tensor told already stands for a number, or for a parameter. */
static Object *extent_key(Eval *eval, const Object *extent, int64_t known)
{
    bool is_key = extent->kind == OBJECT_SYMBOL
                      ? extent->as.symbol->is_key
                      : extent->kind != OBJECT_INT && extent->kind != OBJECT_IR;
    return is_key ? object_int(eval, known) : eval->none;
}

/* Behind a message on an argument for it; false. */
static bool show_parameter(const Eval *eval, const KernelParameter *parameter)
{
    if (eval->quiet == 0)
        diag_note(eval->session->diags, parameter->span, "'%s' is declared here", parameter->name);
    return false;
}

static bool check_extents(Eval *eval, const KernelParameter *parameter, Object *const *wanted,
                          const int64_t *given, const char *what, Span at)
{
    for (int i = 0; i < parameter->tensor->rank; i++)
        if (wanted[i]->kind == OBJECT_INT && wanted[i]->as.integer != given[i]) {
            FAIL(eval, argument_extent, at, parameter->name, what, i, (long long)given[i],
                 (long long)wanted[i]->as.integer);
            return show_parameter(eval, parameter);
        }
    return true;
}

/* A placeholder's element type is only a remark of its author: the annotation's is what counts. */
static bool check_dtype(Eval *eval, const KernelParameter *parameter, const TensorSpec *given,
                        Span at)
{
    const TensorType *tensor = parameter->tensor;
    if (tensor->any_dtype || dtype_holds(tensor->dtype, given->dtype)) return true;
    if (!given->is_placeholder) {
        FAIL(eval, argument_dtype, at, parameter->name, dtype_user_name(given->dtype),
             dtype_user_name(tensor->dtype));
        return show_parameter(eval, parameter);
    }
    Name index = intern_printf(eval->session->names, "%p %u %s", (const void *)at.source, at.begin,
                               parameter->name);
    if (map_has(&eval->warned, index)) return true; /* even in silence: it may be looked at once */
    map_set(eval->arena, &eval->warned, index, eval);
    diag_report(eval->session->diags, DIAG_placeholder, at, parameter->name,
                dtype_user_name(given->dtype), dtype_user_name(tensor->dtype));
    return true;
}

static bool check_spec(Eval *eval, const KernelParameter *parameter, const TensorSpec *given,
                       Span at)
{
    const TensorType *tensor = parameter->tensor;
    if (tensor->rank != given->rank) {
        FAIL(eval, argument_rank, at, parameter->name, given->rank, tensor->rank);
        return show_parameter(eval, parameter);
    }
    if (!check_dtype(eval, parameter, given, at) ||
        !check_extents(eval, parameter, tensor->shape, given->shape, "extent", at))
        return false;
    if (tensor->is_strided)
        return check_extents(eval, parameter, tensor->strides, given->strides, "stride", at);
    if (spec_is_packed(given)) return true;
    FAIL(eval, argument_strides, at, parameter->name);
    return show_parameter(eval, parameter);
}

static Object *keys_of(Eval *eval, Object *const *extents, int rank, const int64_t *known)
{
    Object *keys = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int i = 0; i < rank; i++)
        list_append(eval, keys,
                    extents != NULL ? extent_key(eval, extents[i], known[i])
                                    : object_int(eval, known[i]));
    return keys;
}

Object *tensor_key(Eval *eval, const KernelParameter *parameter, Object *given, Span at)
{
    const TensorType *tensor = parameter->tensor;
    TensorSpec spec = {0};
    if (given == NULL && !parameter_is_settled(parameter))
        return FAIL(eval, open_key, at, parameter->name);
    if (given == NULL) {
        spec.rank = tensor->rank;
    } else {
        if (!tensor_spec(eval, given, parameter->name, at, &spec)) return NULL;
        if (tensor != NULL) unpack(&spec, tensor);
        if (tensor != NULL && !check_spec(eval, parameter, &spec, at)) return NULL;
    }
    bool strided = tensor != NULL ? tensor->is_strided : !spec_is_packed(&spec);
    bool typed = tensor == NULL || tensor->any_dtype;
    Object *parts[] = {
        typed ? object_dtype(eval, spec.dtype) : eval->none,
        keys_of(eval, tensor != NULL ? tensor->shape : NULL, spec.rank, spec.shape),
        strided ? keys_of(eval, tensor != NULL ? tensor->strides : NULL, spec.rank, spec.strides)
                : eval->none};
    return object_list(eval, OBJECT_TUPLE, parts, 3);
}

bool tensor_key_matches(Eval *eval, const Object *needed, const Object *known)
{
    if (needed->kind == OBJECT_NONE) return true;
    if (needed->kind != OBJECT_TUPLE || known->kind != OBJECT_TUPLE)
        return object_equal(eval, needed, known);
    if (needed->as.list.count != known->as.list.count) return false;
    for (uint32_t i = 0; i < needed->as.list.count; i++)
        if (!tensor_key_matches(eval, needed->as.list.items[i], known->as.list.items[i]))
            return false;
    return true;
}

/* ---- staging ---- */

typedef struct Part { /* the extents of a tensor, or its strides */
    const KernelParameter *parameter;
    const TensorType *tensor; /* NULL: all is known */
    Object *const *extents;   /* of the type */
    Object *keys;
    const char *what; /* in the names of parameters */
    DType dtype;      /* of one that has no name */
    int pointer;      /* the parameter for its memory */
    Extent *out;
    Value **values;
} Part;

static int add_extent(Eval *eval, const Part *part, Name name, DType dtype)
{
    Kernel *kernel = eval->staging->kernel;
    return kernel_add_parameter(kernel, name, type_scalar(kernel->types, dtype),
                                part->parameter->span)
        ->index;
}

/* The same name stood before: with a key the two are compared now. */
static bool agrees(Eval *eval, const Part *part, int dim, const Symbol *symbol, const Object *known,
                   const Object *key)
{
    if (key->kind != OBJECT_INT || known->kind != OBJECT_INT ||
        key->as.integer == known->as.integer)
        return true;
    FAIL(eval, extents_disagree, eval->staging->at, part->parameter->name, part->what, dim,
         (long long)key->as.integer, symbol->name, (long long)known->as.integer, "elsewhere");
    return show_parameter(eval, part->parameter);
}

static bool stage_symbol(Eval *eval, const Part *part, int dim, const Symbol *symbol, Object *key)
{
    Kernel *kernel = eval->staging->kernel;
    Object *known = symbol_value(eval, symbol);
    Extent *out = &part->out[dim];
    if (known != NULL && known->kind == OBJECT_IR) {
        *out = (Extent){.kind = EXTENT_PARAMETER, .parameter = known->as.ir.value->index};
        part->values[dim] = stage_index(eval, known, part->parameter->span);
        return true;
    }
    if (known != NULL && !agrees(eval, part, dim, symbol, known, key)) return false;
    Name name = symbol->name != NULL && !symbol->is_key
                    ? symbol->name
                    : intern_printf(eval->session->names, "%s_%s_%d", part->parameter->name,
                                    part->what, dim);
    DType dtype = symbol->is_key ? DTYPE_i64 : symbol->name != NULL ? symbol->dtype : part->dtype;
    int index = add_extent(eval, part, name, dtype);
    *out = (Extent){.kind = EXTENT_PARAMETER, .parameter = index};
    Parameter *added = &kernel->parameters[index];
    Object *value = object_ir(eval, added->value);
    part->values[dim] = stage_index(eval, value, part->parameter->span);
    if (symbol->is_key) {
        added->is_key = true;
        added->key = key->as.integer;
        value = key;
        part->values[dim] = build_const(&eval->builder, DTYPE_i64, key->as.integer);
    }
    if (symbol->name != NULL && known == NULL)
        map_set(eval->arena, &eval->staging->symbols, symbol->name, value);
    return true;
}

static void require_same(Eval *eval, const AwaitedExtent *of, Value *wanted)
{
    Value *same = build_cmp(&eval->builder, "eq", stage_cast(eval, of->given, DTYPE_i64),
                            stage_cast(eval, wanted, DTYPE_i64));
    const char *text =
        arena_printf(eval->arena, "argument '%s': %s %d is not what the kernel computes for it",
                     of->parameter->name, of->what, of->dim);
    Op *require = build_op(&eval->builder, OP_require, 1, &same, 0, NULL);
    op_set_text(require, ATTR_text, intern_text(eval->session->names, text));
    op_set_int(require, ATTR_index, of->pointer);
}

/* A parameter of its own, of which a call has to give what `extent` is. */
static bool stage_own(Eval *eval, const Part *part, int dim, const Object *extent,
                      AwaitedExtent *out)
{
    const Symbol unnamed = {0};
    if (!stage_symbol(eval, part, dim, &unnamed, eval->none)) return false;
    *out = (AwaitedExtent){.parameter = part->parameter,
                           .what = part->what,
                           .dim = dim,
                           .pointer = part->pointer,
                           .extent = extent,
                           .given = part->values[dim]};
    return true;
}

/* One that is computed from others, which are known. */
static bool stage_computed(Eval *eval, const Part *part, int dim, Object *extent)
{
    AwaitedExtent own;
    Value *wanted = stage_index(eval, extent, part->parameter->span);
    if (wanted == NULL || !stage_own(eval, part, dim, extent, &own)) return false;
    require_same(eval, &own, wanted);
    part->values[dim] = wanted;
    return true;
}

/* One that is computed from what tensors behind this one tell. */
static bool stage_awaited(Eval *eval, const Part *part, int dim, const Object *extent)
{
    AwaitedExtent own;
    if (part->parameter->is_declared) return extent_is_known(eval, extent, part->parameter->span);
    if (!stage_own(eval, part, dim, extent, &own)) return false;
    vec_push(eval->arena, &eval->staging->awaited, own);
    return true;
}

bool tensors_settle_extents(Eval *eval)
{
    for (size_t i = 0; i < eval->staging->awaited.count; i++) {
        const AwaitedExtent *each = &eval->staging->awaited.data[i];
        Object *known = symbol_value(eval, each->extent->as.symbol);
        if (known == NULL) return extent_is_known(eval, each->extent, each->parameter->span);
        Value *wanted = stage_index(eval, known, each->parameter->span);
        if (wanted == NULL) return false;
        require_same(eval, each, wanted);
    }
    return true;
}

/* Of names that stand for what is computed: from a tensor before, or from this one. */
static bool stage_solved(Eval *eval, const Part *part, int dim, const Object *extent)
{
    const Symbol unnamed = {0}, *symbol = extent->as.symbol;
    Object *known = symbol_value(eval, symbol);
    if (known != NULL) return stage_computed(eval, part, dim, known);
    if (!symbol_is_solvable(symbol)) return stage_awaited(eval, part, dim, extent);
    if (!stage_symbol(eval, part, dim, &unnamed, eval->none)) return false;
    symbol_solve(eval, symbol, part->values[dim]);
    return true;
}

static bool is_computed(const Object *value)
{
    return value != NULL && value->kind == OBJECT_IR && value->as.ir.value->op != NULL;
}

static bool stage_extent(Eval *eval, const Part *part, int dim)
{
    const Object *extent = part->tensor != NULL ? part->extents[dim] : NULL;
    Object *key = part->keys->as.list.items[dim];
    if (extent != NULL && extent->kind == OBJECT_SYMBOL) {
        const Symbol *symbol = extent->as.symbol;
        if (symbol->base != NULL || is_computed(symbol_value(eval, symbol)))
            return stage_solved(eval, part, dim, extent);
        const Object *number = number_ahead(eval, extent);
        return (number == NULL || agrees(eval, part, dim, extent->as.symbol, number, key)) &&
               stage_symbol(eval, part, dim, extent->as.symbol, key);
    }
    if (extent != NULL && extent->kind == OBJECT_INT) {
        part->out[dim] = (Extent){.kind = EXTENT_LITERAL, .value = extent->as.integer};
        part->values[dim] = build_const(&eval->builder, DTYPE_i64, extent->as.integer);
        return true;
    }
    if (extent != NULL && extent->kind == OBJECT_IR) {
        const Value *value = extent->as.ir.value;
        if (value->op != NULL || value->region != NULL)
            return stage_computed(eval, part, dim, part->extents[dim]);
        part->out[dim] = (Extent){.kind = EXTENT_PARAMETER, .parameter = value->index};
        part->values[dim] = stage_index(eval, part->extents[dim], part->parameter->span);
        return part->values[dim] != NULL;
    }
    const Symbol unnamed = {.is_key = true};
    return stage_symbol(eval, part, dim, &unnamed, key);
}

static bool stage_extents(Eval *eval, const Part *part, int rank)
{
    for (int i = 0; i < rank; i++)
        if (!stage_extent(eval, part, i)) return false;
    return true;
}

static int add_dtype_key(Eval *eval, const KernelParameter *parameter, DType dtype)
{
    Kernel *kernel = eval->staging->kernel;
    Name name = intern_printf(eval->session->names, "%s_dtype", parameter->name);
    int index =
        kernel_add_parameter(kernel, name, type_scalar(kernel->types, DTYPE_i64), parameter->span)
            ->index;
    kernel->parameters[index].is_key = true;
    kernel->parameters[index].is_dtype = true;
    kernel->parameters[index].key = dtype_code(dtype);
    return index;
}

/* The parameters of a tensor of that type, the pointer first. */
static Object *stage_tensor(Eval *eval, const KernelParameter *parameter, int argument,
                            const TensorType *tensor, const Object *key)
{
    Kernel *kernel = eval->staging->kernel;
    const Object *dtype = key->as.list.items[0], *strides = key->as.list.items[2];
    const DType type = dtype->kind == OBJECT_DTYPE ? dtype->as.dtype : tensor->dtype;
    Part part = {.parameter = parameter,
                 .tensor = tensor,
                 .extents = tensor != NULL ? tensor->shape : NULL,
                 .keys = key->as.list.items[1],
                 .what = "shape",
                 .dtype = DTYPE_i32};
    Value *extents[TYPE_RANK], *steps[TYPE_RANK];
    const int rank = (int)part.keys->as.list.count;
    Tensor filled = {.is_strided = strides->kind != OBJECT_NONE, .dtype_key = -1};
    Value *pointer = kernel_add_parameter(
        kernel, parameter->name, type_pointer(kernel->types, type, SPACE_GLOBAL), parameter->span);
    part.pointer = pointer->index;
    part.out = filled.shape;
    part.values = extents;
    if (!stage_extents(eval, &part, rank)) return NULL;
    if (filled.is_strided) {
        part.extents = tensor != NULL ? tensor->strides : NULL;
        part.keys = key->as.list.items[2];
        part.what = "stride";
        part.dtype = DTYPE_i64;
        part.out = filled.strides;
        part.values = steps;
        if (!stage_extents(eval, &part, rank)) return NULL;
    }
    if (dtype->kind == OBJECT_DTYPE) filled.dtype_key = add_dtype_key(eval, parameter, type);
    Tensor *added = kernel_add_tensor(kernel, pointer->index, rank, parameter->span);
    added->is_strided = filled.is_strided;
    added->dtype_key = filled.dtype_key;
    memcpy(added->shape, filled.shape, sizeof filled.shape);
    memcpy(added->strides, filled.strides, sizeof filled.strides);
    vec_push(eval->arena, &eval->staging->tensor_arguments, argument);
    while ((int)eval->staging->parameter_arguments.count < kernel_argument_count(kernel))
        vec_push(eval->arena, &eval->staging->parameter_arguments, argument);
    Object *view =
        object_ir(eval, view_new(eval, pointer, rank, extents, filled.is_strided ? steps : NULL));
    if (tensor == NULL || tensor->seen == NULL) return view;
    return call_simple(eval, tensor->seen, 1, &view, parameter->span);
}

Object *tensor_stage(Eval *eval, const KernelParameter *parameter, int argument, Object *key)
{
    return stage_tensor(eval, parameter, argument, parameter->tensor, key);
}

bool tensor_extents(Eval *eval, const KernelParameter *parameter, Value **out)
{
    const TensorType *tensor = parameter->tensor;
    for (int i = 0; i < tensor->rank; i++) {
        Object *extent = tensor->shape[i];
        if (extent->kind == OBJECT_SYMBOL) extent = symbol_value(eval, extent->as.symbol);
        if (extent == NULL || (extent->kind != OBJECT_INT && extent->kind != OBJECT_IR)) {
            FAIL(eval, untold_result, parameter->span, i, parameter->name);
            return false;
        }
        out[i] = extent->kind == OBJECT_INT
                     ? build_const(&eval->builder, DTYPE_i64, extent->as.integer)
                     : extent->as.ir.value;
    }
    return true;
}

/* ---- tensors that are declared in the body ---- */

/* `name: type` in the body of a kernel function: whether the name is an argument that waits for it.
 */
bool tensor_is_awaited(Eval *eval, Name name)
{
    const Staging *staging = eval->staging;
    if (staging == NULL || staging->frame != eval->frame) return false;
    size_t index = signature_find(staging->signature, name);
    return index < staging->signature->parameters.count &&
           staging->signature->parameters.data[index].is_declared;
}

/* What was not known to be open when the specialisation was chosen is no part of it. */
static Object *needed_key(Eval *eval, const TensorType *tensor, const Object *known)
{
    const Object *shape = known->as.list.items[1], *strides = known->as.list.items[2];
    Object *lists[2] = {object_list(eval, OBJECT_TUPLE, NULL, 0),
                        object_list(eval, OBJECT_TUPLE, NULL, 0)};
    for (int i = 0; i < tensor->rank; i++) {
        list_append(eval, lists[0],
                    extent_key(eval, tensor->shape[i], shape->as.list.items[i]->as.integer));
        if (tensor->is_strided)
            list_append(
                eval, lists[1],
                extent_key(eval, tensor->strides[i], strides->as.list.items[i]->as.integer));
    }
    return object_list(eval, OBJECT_TUPLE,
                       (Object *[]){tensor->any_dtype ? known->as.list.items[0] : eval->none,
                                    lists[0], tensor->is_strided ? lists[1] : eval->none},
                       3);
}

/* None in a key that was used before, and failed: what other parameters told, as the type has it.
 */
static int64_t known_of(const Object *known, const Object *wanted)
{
    if (known->kind == OBJECT_INT) return known->as.integer;
    return wanted != NULL && wanted->kind == OBJECT_INT ? wanted->as.integer : 0;
}

/* What was given, all of which is in `known`. */
static bool spec_of_key(Eval *eval, const KernelParameter *parameter, const Object *known, Span at,
                        TensorSpec *out)
{
    const Object *shape = known->as.list.items[1], *strides = known->as.list.items[2];
    const TensorType *tensor = parameter->tensor;
    const Object *dtype = known->as.list.items[0];
    *out = (TensorSpec){.rank = (int)shape->as.list.count,
                        .dtype = dtype->kind == OBJECT_DTYPE ? dtype->as.dtype
                                 : tensor != NULL            ? tensor->dtype
                                                             : 0,
                        .is_placeholder = parameter->kind == PARAMETER_KEY};
    const bool alike = tensor != NULL && tensor->rank == out->rank;
    for (int i = 0; i < out->rank; i++)
        out->shape[i] = known_of(shape->as.list.items[i], alike ? tensor->shape[i] : NULL);
    if (!pack(eval, out, at)) return false;
    for (int i = 0; strides->kind == OBJECT_TUPLE && i < out->rank; i++)
        out->strides[i] = known_of(strides->as.list.items[i],
                                   alike && tensor->is_strided ? tensor->strides[i] : NULL);
    return true;
}

/* The key of what was given, as a tensor of that type; NULL: there is none. */
static Object *unpacked_key(Eval *eval, const KernelParameter *parameter, Object *known, Span at)
{
    TensorSpec spec;
    if (!spec_of_key(eval, parameter, known, at, &spec)) return NULL;
    const DType given = spec.dtype;
    unpack(&spec, parameter->tensor);
    if (spec.dtype == given) return known;
    const bool is_strided = known->as.list.items[2]->kind == OBJECT_TUPLE;
    return object_list(
        eval, OBJECT_TUPLE,
        (Object *[]){object_dtype(eval, spec.dtype), keys_of(eval, NULL, spec.rank, spec.shape),
                     is_strided ? keys_of(eval, NULL, spec.rank, spec.strides) : eval->none},
        3);
}

static bool check_known(Eval *eval, const KernelParameter *parameter, const Object *known, Span at)
{
    TensorSpec spec;
    return spec_of_key(eval, parameter, known, at, &spec) && check_spec(eval, parameter, &spec, at);
}

static Object *with_strides(Eval *eval, Object *known)
{
    if (known->as.list.items[2]->kind == OBJECT_TUPLE) return known;
    Object *strides = object_list(eval, OBJECT_TUPLE, NULL, 0);
    const Object *shape = known->as.list.items[1];
    int64_t steps[TYPE_RANK], stride = 1; /* from the end, as pack() has looked at it */
    for (uint32_t i = shape->as.list.count; i-- > 0; stride *= shape->as.list.items[i]->as.integer)
        steps[i] = stride;
    for (uint32_t i = 0; i < shape->as.list.count; i++)
        list_append(eval, strides, object_int(eval, steps[i]));
    return object_list(eval, OBJECT_TUPLE,
                       (Object *[]){known->as.list.items[0], known->as.list.items[1], strides}, 3);
}

static Name symbol_name(const Object *extent)
{
    return extent->kind == OBJECT_SYMBOL ? extent->as.symbol->name : NULL;
}

static const char *untold_name(Eval *eval, const Object *extent, int dim, Name tensor)
{
    const Name name = symbol_name(extent);
    return name == NULL ? arena_printf(eval->arena, "extent %d of '%s'", dim, tensor)
                        : arena_printf(eval->arena, "the extent '%s' of '%s'", name, tensor);
}

/* What to write for an extent that nothing tells. */
static const char *untold_how(Eval *eval, const Object *extent, Name tensor)
{
    const Name name = symbol_name(extent);
    return name == NULL
               ? arena_printf(eval->arena, "give a tensor for '%s'", tensor)
               : arena_printf(eval->arena, ".compile(%s=...) gives it, or a tensor for '%s'", name,
                              tensor);
}

/* What would be known of a tensor that is given, from the extents that were told. NULL: reported.
 */
static Object *known_by_name(Eval *eval, const TensorType *tensor, Name name, Span at)
{
    Object *lists[2] = {object_list(eval, OBJECT_TUPLE, NULL, 0),
                        object_list(eval, OBJECT_TUPLE, NULL, 0)};
    if (tensor->any_dtype)
        return FAIL(eval, untold_extent, at,
                    arena_printf(eval->arena, "the element type of '%s'", name),
                    "it is that of its argument, which is not given");
    for (int i = 0; i < tensor->rank * (tensor->is_strided ? 2 : 1); i++) {
        const Object *extent =
            i < tensor->rank ? tensor->shape[i] : tensor->strides[i - tensor->rank];
        const Object *number = extent->kind == OBJECT_INT ? extent : number_ahead(eval, extent);
        const bool is_open = extent->kind == OBJECT_IR ||
                             (extent->kind == OBJECT_SYMBOL && !extent->as.symbol->is_key);
        if (number == NULL && !is_open)
            return FAIL(eval, untold_extent, eval->staging->at,
                        untold_name(eval, extent, i % tensor->rank, name),
                        untold_how(eval, extent, name));
        list_append(eval, lists[i >= tensor->rank],
                    object_int(eval, number != NULL ? number->as.integer : 0));
    }
    Object *dtype = object_dtype(eval, tensor->dtype);
    return object_list(eval, OBJECT_TUPLE,
                       (Object *[]){dtype, lists[0], tensor->is_strided ? lists[1] : eval->none},
                       3);
}

bool tensors_take_told(Eval *eval, const Specialisation *specialisation)
{
    const Object *told = specialisation->told;
    for (size_t i = 0; told != NULL && i < told->as.dict.keys.count; i++) {
        const Object *name = told->as.dict.keys.data[i];
        const Name interned =
            intern(eval->session->names, name->as.text.data, name->as.text.length);
        const Object *known = map_get(&eval->staging->symbols, interned);
        if (known != NULL && known->kind == OBJECT_INT) continue;
        if (map_has(&eval->staging->asked, interned)) continue; /* for no tensor's extent alone */
        FAIL(eval, unknown_told, specialisation->at, kernel_name(specialisation->instance),
             interned);
        return false;
    }
    return true;
}

/* One that the call makes: its extents are those that others have told by now. */
static bool declare_result(Eval *eval, const KernelParameter *parameter)
{
    Value *extents[TYPE_RANK];
    if (eval->staging->looks_ahead) return true;
    if (parameter->tensor->any_dtype)
        return FAIL(eval, no_result_tensor, parameter->span, (long long)parameter->result_order),
               false;
    if (!tensor_extents(eval, parameter, extents)) return false;
    Object *result =
        result_new(eval, parameter->name, parameter->tensor->dtype, parameter->tensor->rank,
                   extents, parameter->span, parameter->result_order);
    binding_put(eval, bindings_make(eval, &eval->frame->scope->bindings, parameter->name), result,
                parameter->span);
    return true;
}

bool tensor_declare(Eval *eval, Name name, Object *type, Span at)
{
    Staging *staging = eval->staging;
    size_t index = signature_find(staging->signature, name);
    KernelParameter parameter = staging->signature->parameters.data[index];
    Object **key = &staging->specialisation->keys[index];
    if (type->kind != OBJECT_TENSOR_TYPE) {
        FAIL(eval, expected_kind, at, "the type of a kernel's argument", "a tensor type",
             object_repr(eval, type));
        return false;
    }
    parameter.tensor = type->as.tensor;
    parameter.span = at;
    if (parameter.is_result) return declare_result(eval, &parameter);
    if (*key != NULL && (*key)->kind == OBJECT_TUPLE &&
        (*key = unpacked_key(eval, &parameter, *key, staging->at)) == NULL)
        return false;
    if (staging->looks_ahead) {
        tensor_look_ahead(eval, type->as.tensor, *key);
        return true;
    }
    if (*key == eval->none && (*key = known_by_name(eval, type->as.tensor, name, at)) == NULL)
        return false;
    if (*key == NULL || (*key)->kind != OBJECT_TUPLE) {
        FAIL(eval, open_key, staging->at, name);
        return false;
    }
    if (!check_known(eval, &parameter, *key, staging->at)) return false;
    Object *known = parameter.tensor->is_strided ? with_strides(eval, *key) : *key;
    *key = needed_key(eval, parameter.tensor, known);
    Object *view = stage_tensor(eval, &parameter, (int)index, parameter.tensor, *key);
    if (view == NULL) return false;
    binding_put(eval, bindings_make(eval, &eval->frame->scope->bindings, name), view, at);
    return true;
}
