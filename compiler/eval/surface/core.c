/* core.c: the module __core__: the operations that the dialects' libraries are written over. Each
 * checks what its op demands, so that no program can build a broken one. */
#include "eval/surface/surface.h"

#include <string.h>

/* ---- the block ---- */

Object *core_attributes(Eval *eval, const Bound *bound)
{
    return stage_ready(eval, bound->at) ? eval->staging->attributes : NULL;
}

static Object *along_dim(Eval *eval, const Bound *bound, OpCode code)
{
    int64_t dim;
    if (!stage_ready(eval, bound->at) ||
        !object_as_int(eval, bound->values[0], "the dimension", &dim))
        return NULL;
    if (dim < 0 || dim > 2) return FAIL(eval, no_dimension, bound->at, "the grid", (long long)dim);
    Value *value = core_build(eval, code, 0, NULL, type_scalar(core_types(eval), DTYPE_i32));
    op_set_int(value->op, ATTR_dim, dim);
    return object_ir(eval, value);
}

Object *core_block_index(Eval *eval, const Bound *bound)
{
    return along_dim(eval, bound, OP_block_idx);
}

Object *core_grid_size(Eval *eval, const Bound *bound)
{
    return along_dim(eval, bound, OP_grid_dim);
}

Object *core_sync(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    build_op(&eval->builder, OP_sync, 0, NULL, 0, NULL);
    return eval->none;
}

/* ---- views, loads, stores ---- */

static Value *extent_value(Eval *eval, Object *object, Span at)
{
    if (object->kind == OBJECT_INT)
        return build_const(&eval->builder, DTYPE_i64, object->as.integer);
    return stage_index(eval, object, at);
}

/* Row-major: each stride is the product of the extents after it. */
static void default_strides(Eval *eval, int rank, Value *const *extents, Value **strides)
{
    Value *product = NULL; /* of what is known at run time only */
    int64_t factor = 1, extent;
    for (int i = rank; i-- > 0;) {
        Value *known = product == NULL || factor != 1
                           ? build_const(&eval->builder, DTYPE_i64, factor)
                           : product;
        strides[i] =
            product == NULL || factor == 1 ? known : build2(&eval->builder, OP_mul, product, known);
        if (i == 0) return;
        if (value_constant(extents[i], &extent) &&
            !__builtin_mul_overflow(factor, extent, &extent)) {
            factor = extent;
            continue;
        }
        Value *wide = stage_cast(eval, extents[i], DTYPE_i64);
        product = product == NULL ? wide : build2(&eval->builder, OP_mul, product, wide);
    }
}

static bool read_extents(Eval *eval, Object *object, const char *what, Span at, int *rank,
                         Value **out)
{
    Object *items[TYPE_RANK];
    if (!argument_items(eval, object, what, at, rank, items)) return false;
    for (int i = 0; i < *rank; i++)
        if ((out[i] = extent_value(eval, items[i], at)) == NULL) return false;
    return true;
}

Value *view_new(Eval *eval, Value *pointer, int rank, Value *const *extents, Value *const *strides)
{
    Value *packed[TYPE_RANK];
    if (strides == NULL) default_strides(eval, rank, extents, packed);
    return build_view(&eval->builder, pointer, rank, extents, strides != NULL ? strides : packed);
}

static Value *with_adjoint(Eval *eval, Value *pointer, Object *adjoint, Span at)
{
    Value *address = stage_scalar(eval, adjoint, DTYPE_i64, at);
    Value *both[] = {pointer, address};
    return address == NULL ? NULL : core_build(eval, OP_with_adjoint, 2, both, pointer->type);
}

/* pointer_at(address, dtype, adjoint=None): to elements at that place of global memory; a pointer
 * is itself. */
Object *core_pointer_at(Eval *eval, const Bound *bound)
{
    DType dtype;
    Value *address;
    const Type *type = argument_type(bound->values[0]);
    if (type != NULL && type->kind == TYPE_POINTER) return bound->values[0];
    if (!stage_ready(eval, bound->at) || !argument_dtype(eval, bound->values[1], bound->at, &dtype))
        return NULL;
    address = stage_scalar(eval, bound->values[0], DTYPE_i64, bound->at);
    if (address == NULL) return NULL;
    Value *pointer = core_build(eval, OP_bitcast, 1, &address,
                                type_pointer(core_types(eval), dtype, SPACE_GLOBAL));
    if (eval->differentiates && dtype_is_float(dtype) && !argument_absent(bound->values[2]))
        pointer = with_adjoint(eval, pointer, bound->values[2], bound->at);
    return pointer == NULL ? NULL : object_ir(eval, pointer);
}

Object *core_view(Eval *eval, const Bound *bound)
{
    DType dtype;
    const Value *pointer =
        argument_value(eval, bound->values[0], TYPE_POINTER, "what is viewed", NULL, bound->at);
    if (pointer == NULL || !argument_dtype(eval, bound->values[1], bound->at, &dtype)) return NULL;
    const DType own = pointer->type->dtype;
    const bool is_any = own == DTYPE_u8; /* stands for memory of any type */
    if (own != dtype && !is_any && eval->quiet == 0)
        diag_report(eval->session->diags, DIAG_reinterpreted, bound->at, dtype_user_name(own),
                    dtype_user_name(dtype));
    return view_as(eval, bound);
}

Object *view_as(Eval *eval, const Bound *bound)
{
    DType dtype;
    int rank, strides_given;
    Value *extents[TYPE_RANK], *strides[TYPE_RANK];
    Value *pointer =
        argument_value(eval, bound->values[0], TYPE_POINTER, "what is viewed", NULL, bound->at);
    if (pointer == NULL || !argument_dtype(eval, bound->values[1], bound->at, &dtype) ||
        !read_extents(eval, bound->values[2], "shape", bound->at, &rank, extents))
        return NULL;
    if (rank == 0) return FAIL(eval, no_dimensions, bound->at, "a view");
    if (argument_absent(bound->values[3])) {
        default_strides(eval, rank, extents, strides);
    } else {
        if (!read_extents(eval, bound->values[3], "strides", bound->at, &strides_given, strides))
            return NULL;
        if (strides_given != rank)
            return FAIL(eval, rank_mismatch, argument_span(eval, bound->values[3], bound->at),
                        "strides", (long long)strides_given, (long long)rank);
    }
    if (pointer->type->dtype != dtype)
        pointer = core_build(eval, OP_ptr_cast, 1, &pointer,
                             type_pointer(core_types(eval), dtype, SPACE_GLOBAL));
    return object_ir(eval, build_view(&eval->builder, pointer, rank, extents, strides));
}

static bool outside_differs(const Op *view, const Op *number)
{
    const Attr *value = op_attr(view, ATTR_value), *real = op_attr(view, ATTR_number);
    if (value == NULL && real == NULL) return false;
    const Attr *new_value = op_attr(number, ATTR_value), *new_real = op_attr(number, ATTR_number);
    return !(value != NULL && new_value != NULL && value->integer == new_value->integer) &&
           !(real != NULL && new_real != NULL && real->number == new_real->number);
}

/* From here on the tensor is that other view of its memory. */
static void be_view(Object *tensor, Value *view)
{
    tensor->as.ir.value = view;
}

/* Another view of the same memory, beside it. */
static Value *view_again(Value *view)
{
    Map copies = {0};
    Builder builder = builder_after(view->op);
    return op_clone(&builder, view->op, &copies)->results;
}

/* ---- settings of scopes ---- */

Object *core_settings_open(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    const bool nested = eval->staging->settings.count > 0;
    vec_push(eval->arena, &eval->staging->settings, NULL);
    return object_bool(eval, nested);
}

Object *core_settings_add(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    if (eval->staging->settings.count == 0) return eval->no;
    if (bound->values[0] != eval->none)
        vec_push(eval->arena, &eval->staging->settings, bound->values[0]);
    return eval->yes;
}

Object *core_settings_close(Eval *eval, const Bound *bound)
{
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    if (!stage_ready(eval, bound->at)) return NULL;
    Staging *staging = eval->staging;
    size_t first = staging->settings.count;
    while (first > 0 && staging->settings.data[first - 1] != NULL) first--;
    for (size_t i = first; i < staging->settings.count; i++)
        list_append(eval, list, staging->settings.data[i]);
    staging->settings.count = first > 0 ? first - 1 : 0;
    return list;
}

/* outside(view, value, scoped): what reads find that are not inside of the view; where it is
 * scoped, those that follow, until it is called with the view that it gives, which is the one
 * before. */
Object *core_outside(Eval *eval, const Bound *bound)
{
    Value *view =
        argument_value(eval, bound->values[0], TYPE_VIEW, "what is read", NULL, bound->at);
    if (view == NULL) return NULL;
    const bool can_change =
        bound->values[0]->kind == OBJECT_IR && bound->values[0]->as.ir.var == NULL;
    const Type *before = argument_type(bound->values[1]);
    if (can_change && before == view->type) {
        be_view(bound->values[0], bound->values[1]->as.ir.value);
        return eval->none;
    }
    if (!object_is_number(bound->values[1]) || view->op == NULL || view->op->code != OP_view)
        return FAIL(eval, expected_kind, bound->at, "what is read outside of a tensor",
                    "a number that is known at compile time", object_repr(eval, bound->values[1]));
    const Value *number = stage_scalar(eval, bound->values[1], view->type->dtype, bound->at);
    if (number == NULL) return NULL;
    bool scoped = false;
    if (!argument_absent(bound->values[2]) && !object_truth(eval, bound->values[2], &scoped))
        return NULL;
    if (scoped && can_change) {
        Value *again = view_again(view);
        op_keep_attr(again->op, number->op, ATTR_value);
        op_keep_attr(again->op, number->op, ATTR_number);
        be_view(bound->values[0], again);
        return object_ir(eval, view);
    }
    if (outside_differs(view->op, number->op))
        return FAIL(eval, unsupported, bound->at, "another number outside of the same tensor");
    op_keep_attr(view->op, number->op, ATTR_value);
    op_keep_attr(view->op, number->op, ATTR_number);
    return eval->none;
}

typedef struct Access {
    Value *view;
    int offset_count, dim_count;
    Value *offsets[TYPE_RANK];
    int64_t dims[TYPE_RANK];
} Access;

static bool check_dims(Eval *eval, const Access *access, int rank, Span at)
{
    unsigned seen = 0;
    for (int i = 0; i < access->dim_count; i++) {
        if (access->dims[i] < 0 || access->dims[i] >= access->view->type->rank ||
            (seen & 1u << access->dims[i])) {
            FAIL(eval, bad_dims, at, "dims", "dimensions of the view, each once");
            return false;
        }
        seen |= 1u << access->dims[i];
    }
    if (access->dim_count == rank) return true;
    FAIL(eval, rank_mismatch, at, "dims", (long long)access->dim_count, (long long)rank);
    return false;
}

static bool read_access(Eval *eval, Object *view, Object *offsets, Object *dims, int tile_rank,
                        Span at, Access *out)
{
    out->view = argument_value(eval, view, TYPE_VIEW, "the memory", NULL, at);
    Object *items[TYPE_RANK];
    if (out->view == NULL ||
        !argument_items(eval, offsets, "offsets", at, &out->offset_count, items))
        return false;
    int rank = out->view->type->rank;
    if (out->offset_count != rank) {
        FAIL(eval, rank_mismatch, argument_span(eval, offsets, at), "offsets",
             (long long)out->offset_count, (long long)rank);
        return false;
    }
    for (int i = 0; i < rank; i++)
        if ((out->offsets[i] = stage_index(eval, items[i], at)) == NULL) return false;
    out->dim_count = -1;
    if (!argument_absent(dims))
        return argument_ints(eval, dims, "dims", at, &out->dim_count, out->dims) &&
               check_dims(eval, out, tile_rank, argument_span(eval, dims, at));
    if (tile_rank <= rank) return true;
    FAIL(eval, rank_mismatch, at, "the tile's shape", (long long)tile_rank, (long long)rank);
    return false;
}

static void set_dims(Op *op, const Access *access)
{
    if (access->dim_count >= 0) op_set_ints(op, ATTR_dims, access->dim_count, access->dims);
}

Object *core_load(Eval *eval, const Bound *bound)
{
    int rank;
    int64_t shape[TYPE_RANK];
    Access access;
    if (!stage_ready(eval, bound->at) ||
        !argument_shape(eval, bound->values[2], bound->at, &rank, shape) ||
        !read_access(eval, bound->values[0], bound->values[1], bound->values[3], rank, bound->at,
                     &access))
        return NULL;
    Value *operands[1 + TYPE_RANK] = {access.view};
    memcpy(operands + 1, access.offsets, sizeof *operands * (size_t)access.offset_count);
    const Type *type = type_tile(core_types(eval), access.view->type->dtype, rank, shape, NULL);
    Value *value = core_build(eval, OP_load, 1 + access.offset_count, operands, type);
    set_dims(value->op, &access);
    return result_deliver(eval, value, bound->values[4]);
}

/* A scalar is stored as a tile of one element: no dimension is spanned. */
static Value *stored_tile(Eval *eval, Object *object, Object **dims, Span at)
{
    const Type *type = argument_type(object);
    if (type == NULL || type->kind != TYPE_SCALAR)
        return argument_value(eval, object, TYPE_TILE, "what is stored", NULL, at);
    const int64_t one = 1;
    if (!stage_ready(eval, at)) return NULL;
    if (*dims != NULL && object_is_sequence(*dims) && (*dims)->as.list.count == 0) *dims = NULL;
    return stage_broadcast(eval, stage_value(eval, object), 1, &one, at);
}

/* An op between a view and a tile: the view, the tile, the offsets, {dims}. */
static Object *stage_transfer(Eval *eval, const Bound *bound, OpCode code, Value *tile,
                              Object *dims, const char *what)
{
    Access access;
    if (tile == NULL || !read_access(eval, bound->values[0], bound->values[2], dims,
                                     tile->type->rank, bound->at, &access))
        return NULL;
    DType wanted = access.view->type->dtype;
    if (tile->type->dtype != wanted)
        return FAIL(eval, dtype_mismatch, argument_span(eval, bound->values[1], bound->at), what,
                    dtype_user_name(tile->type->dtype), dtype_user_name(wanted));
    Value *operands[2 + TYPE_RANK] = {access.view, tile};
    memcpy(operands + 2, access.offsets, sizeof *operands * (size_t)access.offset_count);
    set_dims(build_op(&eval->builder, code, 2 + access.offset_count, operands, 0, NULL), &access);
    return eval->none;
}

Object *core_store(Eval *eval, const Bound *bound)
{
    Object *dims = bound->values[3];
    Value *tile = stored_tile(eval, bound->values[1], &dims, bound->at);
    return stage_transfer(eval, bound, OP_store, tile, dims, "what is stored");
}

/* ---- copies to shared memory ---- */

static Object *stage_copy(Eval *eval, const Bound *bound, OpCode code)
{
    const char *what = "what is copied to";
    Value *tile = argument_value(eval, bound->values[1], TYPE_SHARED, what, NULL, bound->at);
    return stage_transfer(eval, bound, code, tile, bound->values[3], what);
}

static bool read_evict(Eval *eval, const Object *object, Span at, Name *out)
{
    static const char *const words[] = {"evict_normal", "evict_first", "evict_last"};
    *out = NULL;
    if (argument_absent(object)) return true;
    for (int i = 0; i < 3; i++)
        if (object->kind == OBJECT_TEXT && strcmp(object->as.text.data, words[i]) == 0) {
            if (i > 0) *out = intern_text(eval->session->names, words[i]);
            return true;
        }
    FAIL(eval, unknown_choice, at, "evict", "'evict_normal', 'evict_first', 'evict_last'");
    return false;
}

/* The fifth argument says what the cache is to do. */
static Object *stage_read(Eval *eval, const Bound *bound, OpCode code)
{
    Name evict;
    if (!read_evict(eval, bound->values[4], bound->at, &evict)) return NULL;
    Object *result = stage_copy(eval, bound, code);
    const Builder *at = &eval->builder;
    if (result != NULL && evict != NULL)
        op_set_text(at->before != NULL ? at->before->previous : at->region->last, ATTR_evict,
                    evict);
    return result;
}

Object *core_copy(Eval *eval, const Bound *bound)
{
    return stage_read(eval, bound, OP_copy);
}

Object *core_copy_async(Eval *eval, const Bound *bound)
{
    return stage_read(eval, bound, OP_copy_async);
}

/* ---- stores by TMA ---- */

/* tma_store(view, tile, offsets, dims): begins to write a shared tile. */
Object *core_tma_store(Eval *eval, const Bound *bound)
{
    Object *result = stage_copy(eval, bound, OP_tma_store);
    const Builder *at = &eval->builder;
    if (result != NULL)
        op_set_int(at->before != NULL ? at->before->previous : at->region->last, ATTR_async, 1);
    return result;
}

/* tma_store_commit(): those since the last time are a group. */
Object *core_tma_store_commit(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    build_op(&eval->builder, OP_tma_store_commit, 0, NULL, 0, NULL);
    return eval->none;
}

/* tma_store_wait(count, read): all groups but so many of the latest have written, or read alone. */
Object *core_tma_store_wait(Eval *eval, const Bound *bound)
{
    int64_t count;
    bool read = false;
    if (!stage_ready(eval, bound->at) ||
        !object_as_int(eval, bound->values[0], "the groups in flight", &count) ||
        (!argument_absent(bound->values[1]) && !object_truth(eval, bound->values[1], &read)))
        return NULL;
    if (count < 0)
        return FAIL(eval, count_range, bound->at, "the number of groups", 0LL, (long long)INT32_MAX,
                    (long long)count);
    Op *wait = build_op(&eval->builder, OP_tma_store_wait, 0, NULL, 0, NULL);
    op_set_int(wait, ATTR_count, count);
    if (!read) op_set_int(wait, ATTR_written, 1);
    return eval->none;
}

/* A range whose loop copies shared tiles ahead; no stages: a plain one. */
Object *core_pipelined(Eval *eval, const Bound *bound)
{
    int64_t stages;
    if (!object_as_int(eval, bound->values[3], "the number of stages", &stages)) return NULL;
    if (stages < 0 || stages > LOOP_STAGES)
        return FAIL(eval, count_range, bound->at, "the number of stages", 0LL,
                    (long long)LOOP_STAGES, (long long)stages);
    Object *range = range_new(eval, bound->values, bound->at);
    if (range != NULL) range->as.range.stages = stages;
    return range;
}

/* A range whose loop's target is what the function makes of each number. */
Object *core_mapped(Eval *eval, const Bound *bound)
{
    const Object *range = bound->values[0];
    if (range->kind != OBJECT_RANGE)
        return FAIL(eval, expected_kind, bound->at, "what is mapped", "a range",
                    object_repr(eval, range));
    Object *mapped = object_new(eval, OBJECT_RANGE);
    mapped->as.range = range->as.range;
    mapped->as.range.map = bound->values[1];
    return mapped;
}

Object *core_copy_commit(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    build_op(&eval->builder, OP_copy_commit, 0, NULL, 0, NULL);
    return eval->none;
}

Object *core_copy_wait(Eval *eval, const Bound *bound)
{
    int64_t groups = -1;
    if (!stage_ready(eval, bound->at)) return NULL;
    if (!argument_absent(bound->values[0]) &&
        !object_as_int(eval, bound->values[0], "the number of groups", &groups))
        return NULL;
    if (groups < -1 || groups > 63)
        return FAIL(eval, count_range, bound->at, "the number of groups", 0LL, 63LL,
                    (long long)groups);
    Op *wait = build_op(&eval->builder, OP_copy_wait, 0, NULL, 0, NULL);
    if (groups >= 0) op_set_int(wait, ATTR_count, groups);
    return eval->none;
}

/* ---- compile-time facts ---- */

/* Whether derivatives are asked for that the ops do not tell. */
Object *core_differentiates(Eval *eval, const Bound *bound)
{
    (void)bound;
    return object_bool(eval, eval->differentiates);
}

/* slope(value, x, derivative, ...): of run-time numbers of one type and shape. */
Object *core_slope(Eval *eval, const Bound *bound)
{
    const Object *pairs = bound->rest;
    const int count = 1 + (int)pairs->as.list.count;
    Value **operands = arena_new_array(eval->arena, Value *, count);
    if (!stage_ready(eval, bound->at)) return NULL;
    for (int i = 0; i < count; i++) {
        Object *given = i ? pairs->as.list.items[i - 1] : bound->values[0];
        operands[i] = stage_operand(eval, given, bound->at);
        if (operands[i] == NULL) return NULL;
        if (operands[i]->type != operands[0]->type || count % 2 == 0)
            return FAIL(eval, expected_kind, bound->at, "what is given to slope",
                        "a value, and pairs of its type", object_repr(eval, given));
    }
    return object_ir(eval, build(&eval->builder, OP_slope, count, operands));
}

Object *core_static_assert(Eval *eval, const Bound *bound)
{
    bool truth;
    if (!object_truth(eval, bound->values[0], &truth)) return NULL;
    if (truth) return eval->none;
    Buf text = {0};
    if (!argument_absent(bound->values[1])) {
        buf_text(&text, ": ");
        object_print(eval, bound->values[1], TEXT_STR, &text);
    }
    Object *none = FAIL(eval, static_assertion, bound->at, text.data != NULL ? text.data : "");
    buf_free(&text);
    return none;
}

Object *core_is_static(Eval *eval, const Bound *bound)
{
    return object_bool(eval, !object_is_staged(bound->values[0]));
}

Object *core_pointer_to(Eval *eval, const Bound *bound)
{
    DType dtype;
    if (!argument_dtype(eval, bound->values[0], bound->at, &dtype)) return NULL;
    Object *pointer = object_new(eval, OBJECT_POINTER_TYPE);
    pointer->as.dtype = dtype;
    return pointer;
}

/* spelled(dtype, name): the type, whose name is that of a dialect. */
Object *core_spelled(Eval *eval, const Bound *bound)
{
    DType dtype;
    const Object *name = text_argument(eval, bound->values[1], "the name", bound->at);
    if (name == NULL || !argument_dtype(eval, bound->values[0], bound->at, &dtype)) return NULL;
    Object *object = object_new(eval, OBJECT_DTYPE);
    object->as.dtype = dtype;
    object->as.spelled = name->as.text.data;
    return object;
}

/* DataType(dtype): the type of that name, or the type itself. */
Object *core_data_type(Eval *eval, const Bound *bound)
{
    DType dtype;
    Object *given = bound->values[0];
    if (given->kind == OBJECT_DTYPE) return given;
    if (!argument_dtype(eval, given, bound->at, &dtype)) return NULL;
    Object *object = object_new(eval, OBJECT_DTYPE);
    object->as.dtype = dtype;
    return object;
}

/* number_dtype(number) */
Object *core_number_dtype(Eval *eval, const Bound *bound)
{
    const Object *number = bound->values[0];
    if (!object_is_number(number))
        return FAIL(eval, expected_kind, bound->at, "the number", "a number of the program",
                    object_repr(eval, number));
    return object_dtype(eval, number_dtype(number));
}

/* record(class, parts) */
Object *core_record(Eval *eval, const Bound *bound)
{
    Object *class = bound->values[0];
    const Object *parts = bound->values[1];
    if (class->kind != OBJECT_CLASS || !object_is_sequence(parts))
        return FAIL(eval, expected_kind, bound->at, "a record", "a class and a tuple",
                    object_repr(eval, class));
    return record_new(eval, class, parts->as.list.items, parts->as.list.count);
}

/* parts(record): a plain tuple of them; of anything else None. */
Object *core_parts(Eval *eval, const Bound *bound)
{
    const Object *record = bound->values[0];
    if (!object_is_record(record)) return eval->none;
    return object_list(eval, OBJECT_TUPLE, record->as.list.items, record->as.list.count);
}
