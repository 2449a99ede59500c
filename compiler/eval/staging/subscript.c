/* subscript.c: subscripts of register tiles, shared tiles and views of global memory. An integer
 * drops a dimension, a slice keeps it, missing ones at the end are kept. What is known now is
 * checked and may be negative, as in Python. */
#include "eval/staging/staging.h"

#include <string.h>

/* One dimension's subscript. */
typedef struct Part {
    bool keeps, whole;
    Value *start;        /* an i32 or i64 */
    int64_t known_start; /* -1: not known now */
    int64_t extent;      /* of tiles; 1 of an index */
    Object *stop;        /* of a slice, as written; NULL: the end */
    int64_t step;        /* of a slice of a view; 0: 1 */
    Value *stride,
        *length; /* of one whose step may be negative: that step, and how many; or NULL */
} Part;

typedef struct Subscript {
    const Type *type;
    Value *const *extents; /* of a view whose indices may count from its end; NULL: they may not */
    int rank;
    Part parts[TYPE_RANK];
    Span at;
} Subscript;

/* ---- reading ---- */

/* Where an index below 0 counts from the end of a view, as in Warp; NULL: it does not. */
static Value *from_end(Eval *eval, const Subscript *subscript, int dim, const Object *index)
{
    if (subscript->extents == NULL || index == NULL || index->kind != OBJECT_INT ||
        index->as.integer >= 0)
        return NULL;
    Value *extent = subscript->extents[dim];
    return build2(&eval->builder, OP_add, extent,
                  build_const(&eval->builder, extent->type->dtype, index->as.integer));
}

/* Of a register tile: no memory shows later that there is no such element. */
static Value *checked_index(Eval *eval, Value *index, int64_t extent)
{
    return build2(&eval->builder, OP_check_index, index,
                  build_const(&eval->builder, index->type->dtype, extent));
}

/* An index that may count from the end, which it hardly ever does. */
static Value *index_from_end(Eval *eval, Value *index, Value *extent)
{
    int64_t known;
    if (value_constant(index, &known) && known >= 0) return index;
    Builder *builder = &eval->builder;
    Value *zero = build_const(builder, index->type->dtype, 0);
    Value *sum = build2(builder, OP_add, index, stage_cast(eval, extent, index->type->dtype));
    Value *chosen = build3(builder, OP_select, build_cmp(builder, "ge", index, zero), index, sum);
    op_set_int(chosen->op, ATTR_rare, 1);
    return chosen;
}

/* from_end(index, extent): the index, which counts from the end where it is below 0. */
Object *core_from_end(Eval *eval, const Bound *bound)
{
    Value *index = stage_index(eval, bound->values[0], bound->at);
    Value *extent = index != NULL ? stage_index(eval, bound->values[1], bound->at) : NULL;
    return extent != NULL ? object_ir(eval, index_from_end(eval, index, extent)) : NULL;
}

static bool read_index(Eval *eval, const Subscript *subscript, int dim, Object *index, Part *part)
{
    const int64_t extent = subscript->type->shape[dim];
    part->extent = 1;
    part->known_start = -1;
    part->start = from_end(eval, subscript, dim, index);
    if (part->start != NULL) return true;
    if (index->kind == OBJECT_INT) {
        const int64_t given = index->as.integer;
        int64_t position = given < 0 && extent != TYPE_DYNAMIC ? given + extent : given;
        if (position < 0 && extent == TYPE_DYNAMIC)
            return FAIL(eval, negative_index, subscript->at, (long long)given), false;
        if (position < 0 || (extent != TYPE_DYNAMIC && position >= extent)) {
            FAIL(eval, index_range, subscript->at, (long long)given, "this dimension",
                 (long long)extent);
            return false;
        }
        part->known_start = position;
        index = object_int(eval, position);
    }
    part->start = stage_index(eval, index, subscript->at);
    if (part->start != NULL && subscript->type->kind == TYPE_TILE && part->known_start < 0)
        part->start = checked_index(eval, part->start, extent);
    if (part->start != NULL && subscript->extents != NULL && part->known_start < 0)
        part->start = index_from_end(eval, part->start, subscript->extents[dim]);
    return part->start != NULL;
}

static bool bound_known(Object *bound, int64_t extent, int64_t otherwise, int64_t *out)
{
    *out = otherwise;
    if (bound == NULL || bound->kind == OBJECT_NONE) return true;
    if (bound->kind != OBJECT_INT) return false;
    *out = bound->as.integer;
    if (*out < 0 && extent != TYPE_DYNAMIC) *out = *out + extent < 0 ? 0 : *out + extent;
    if (extent != TYPE_DYNAMIC && *out > extent) *out = extent;
    return true;
}

/* The extent of a tile is part of its type. */
static bool slice_extent(Eval *eval, const Subscript *subscript, int dim, Object *slice, Part *part)
{
    const int64_t extent = subscript->type->shape[dim];
    int64_t start, stop;
    Object *begin = slice->as.range.start, *end = slice->as.range.stop;
    if (bound_known(begin, extent, 0, &start) && bound_known(end, extent, extent, &stop)) {
        part->extent = stop - start;
        part->known_start = start;
        part->whole = start == 0 && stop == extent;
        if (part->extent > 0) return true;
        FAIL(eval, empty_slice, subscript->at);
        return false;
    }
    FAIL(eval, not_static, subscript->at, "the ends of a tile's slice", "a run-time value");
    return false;
}

/* ---- slices of views whose step is negative, or is known at run time alone ---- */

static Value *wide_number(Eval *eval, int64_t number)
{
    return build_const(&eval->builder, DTYPE_i64, number);
}

static Value *wide_op(Eval *eval, OpCode code, Value *a, Value *b)
{
    return build2(&eval->builder, code, a, b);
}

/* One of two numbers by the sign of the step. */
static Value *by_sign(Eval *eval, Value *is_back, Value *backward, Value *forward)
{
    return build3(&eval->builder, OP_select, is_back, backward, forward);
}

/* An end of the slice as Python has it: below 0 it counts from the view's end; what lies outside is
 * the nearest place of [low, low + extent]. NULL: reported. */
static Value *slice_end(Eval *eval, Object *given, Value *extent, Value *low, Value *otherwise,
                        Span at)
{
    if (given == NULL || given->kind == OBJECT_NONE) return otherwise;
    Value *end = stage_index(eval, given, at);
    if (end == NULL) return NULL;
    end = stage_cast(eval, end, DTYPE_i64);
    Value *is_below = build_cmp(&eval->builder, "lt", end, wide_number(eval, 0));
    end = by_sign(eval, is_below, wide_op(eval, OP_add, end, extent), end);
    end = wide_op(eval, OP_max, end, low);
    return wide_op(eval, OP_min, end, wide_op(eval, OP_add, low, extent));
}

static Value *slice_stride(Eval *eval, Object *step, Span at)
{
    Value *stride = stage_index(eval, step, at);
    if (stride == NULL) return NULL;
    stride = stage_cast(eval, stride, DTYPE_i64);
    Value *is_step = build_cmp(&eval->builder, "ne", stride, wide_number(eval, 0));
    Op *check = build_op(&eval->builder, OP_check, 1, &is_step, 0, NULL);
    op_set_text(check, ATTR_text, intern_text(eval->session->names, "slice step cannot be zero"));
    return stride;
}

/* How many places there are from `start` on before `stop`. */
static Value *stepped_length(Eval *eval, Value *start, Value *stop, Value *stride, Value *is_back)
{
    Value *zero = wide_number(eval, 0), *one = wide_number(eval, 1);
    Value *way = by_sign(eval, is_back, wide_op(eval, OP_sub, start, stop),
                         wide_op(eval, OP_sub, stop, start));
    Value *each = by_sign(eval, is_back, wide_op(eval, OP_sub, zero, stride), stride);
    each = wide_op(eval, OP_max, each, one);
    way = wide_op(eval, OP_add, wide_op(eval, OP_max, way, zero), wide_op(eval, OP_sub, each, one));
    return wide_op(eval, OP_div, way, each);
}

static bool read_stepped(Eval *eval, const Subscript *subscript, int dim, const Object *slice,
                         Part *part)
{
    Value *extent = stage_cast(eval, subscript->extents[dim], DTYPE_i64);
    Value *zero = wide_number(eval, 0), *before = wide_number(eval, -1);
    Value *last = wide_op(eval, OP_add, extent, before);
    part->keeps = true;
    part->known_start = -1;
    part->stride = slice_stride(eval, slice->as.range.step, subscript->at);
    if (part->stride == NULL) return false;
    Value *is_back = build_cmp(&eval->builder, "lt", part->stride, zero);
    Value *low = by_sign(eval, is_back, before, zero);
    part->start = slice_end(eval, slice->as.range.start, extent, low,
                            by_sign(eval, is_back, last, zero), subscript->at);
    Value *stop = slice_end(eval, slice->as.range.stop, extent, low,
                            by_sign(eval, is_back, before, extent), subscript->at);
    if (part->start == NULL || stop == NULL) return false;
    part->length = stepped_length(eval, part->start, stop, part->stride, is_back);
    return true;
}

/* Whether such a slice may be: of a view that a thread indexes. */
static bool is_stepped(const Subscript *subscript, const Object *step)
{
    return subscript->extents != NULL && step != NULL && step->kind != OBJECT_NONE &&
           !(step->kind == OBJECT_INT && step->as.integer >= 0);
}

static bool read_step(Eval *eval, const Subscript *subscript, const Object *step, Part *part)
{
    const bool of_view = subscript->type->kind == TYPE_VIEW;
    if (step == NULL || step->kind == OBJECT_NONE) return true;
    if (step->kind == OBJECT_INT && (step->as.integer == 1 || (of_view && step->as.integer > 0))) {
        part->step = step->as.integer;
        return true;
    }
    if (of_view && step->kind == OBJECT_INT && step->as.integer == 0)
        raise_python(eval, "ValueError", "Slice step cannot be zero", subscript->at);
    else
        FAIL(eval, slice_step, subscript->at, of_view ? "a view" : "a tile",
             of_view ? "a positive number that is known when the kernel is compiled" : "1");
    return false;
}

static bool read_slice(Eval *eval, const Subscript *subscript, int dim, Object *slice, Part *part)
{
    Object *begin = slice->as.range.start;
    if (is_stepped(subscript, slice->as.range.step))
        return read_stepped(eval, subscript, dim, slice, part);
    part->keeps = true;
    part->known_start = begin == NULL || begin->kind == OBJECT_NONE ? 0 : -1;
    part->stop = slice->as.range.stop;
    if (part->stop != NULL && part->stop->kind == OBJECT_NONE) part->stop = NULL;
    if (!read_step(eval, subscript, slice->as.range.step, part)) return false;
    part->whole = part->known_start == 0 && part->stop == NULL && part->step <= 1;
    if (subscript->type->kind != TYPE_VIEW && !slice_extent(eval, subscript, dim, slice, part))
        return false;
    if (begin != NULL && begin->kind == OBJECT_INT && begin->as.integer >= 0)
        part->known_start = begin->as.integer;
    part->start = from_end(eval, subscript, dim, begin);
    if (part->start != NULL) return true;
    if (subscript->type->kind == TYPE_VIEW && begin != NULL && begin->kind == OBJECT_INT &&
        begin->as.integer < 0) {
        FAIL(eval, slice_start, subscript->at);
        return false;
    }
    if (part->known_start >= 0) begin = object_int(eval, part->known_start);
    part->start = stage_index(eval, begin, subscript->at);
    return part->start != NULL;
}

static bool read_part(Eval *eval, const Subscript *subscript, int dim, Object *index, Part *part)
{
    if (index->kind == OBJECT_SLICE) return read_slice(eval, subscript, dim, index, part);
    return read_index(eval, subscript, dim, index, part);
}

/* The extents of a view that a thread's program indexes. */
static Value *const *countable(const Eval *eval, const Value *view)
{
    if (view->type->kind != TYPE_VIEW || !eval->frame->is_thread_code) return NULL;
    return view->op != NULL && view->op->code == OP_view ? operand_list(view->op, extents) : NULL;
}

static bool read_subscript(Eval *eval, const Type *type, Value *const *extents, Object *index,
                           Span at, Subscript *out)
{
    *out = (Subscript){.type = type, .extents = extents, .rank = type->rank, .at = at};
    const bool many = object_is_sequence(index);
    const int given = many ? (int)index->as.list.count : 1;
    if (given > type->rank) {
        FAIL(eval, rank_mismatch, at, "the subscript", (long long)given, (long long)type->rank);
        return false;
    }
    for (int d = 0; d < type->rank; d++) {
        Part *part = &out->parts[d];
        if (d < given) {
            if (!read_part(eval, out, d, many ? index->as.list.items[d] : index, part))
                return false;
            continue;
        }
        *part = (Part){.keeps = true, .whole = true, .extent = type->shape[d]};
        part->start = build_const(&eval->builder, DTYPE_i32, 0);
    }
    return true;
}

/* The dimensions that are kept, the last one with extent 1 if there is none. */
static int kept_dims(const Subscript *subscript, int64_t *dims, int64_t *shape)
{
    int count = 0;
    for (int d = 0; d < subscript->rank; d++)
        if (subscript->parts[d].keeps) {
            shape[count] = subscript->parts[d].extent;
            dims[count++] = d;
        }
    if (count > 0) return count;
    dims[0] = subscript->rank - 1;
    shape[0] = 1;
    return 1;
}

/* ---- shared tiles ---- */

static Value *shared_part(Eval *eval, Value *shared, const Subscript *subscript)
{
    int64_t dims[TYPE_RANK], shape[TYPE_RANK];
    Value *operands[1 + TYPE_RANK] = {shared};
    const int rank = kept_dims(subscript, dims, shape);
    for (int d = 0; d < subscript->rank; d++)
        operands[1 + d] = stage_cast(eval, subscript->parts[d].start, DTYPE_i32);
    Value *view = core_build(eval, OP_shared_view, 1 + subscript->rank, operands,
                             type_shared(core_types(eval), shared->type->dtype, rank, shape, NULL));
    op_set_ints(view->op, ATTR_dims, rank, dims);
    return view;
}

static bool shared_write(Eval *eval, Value *part, Object *object, Span at)
{
    const Type *type =
        type_tile(core_types(eval), part->type->dtype, part->type->rank, part->type->shape, NULL);
    Value *value = stage_typed(eval, object, type, at);
    if (value != NULL) build2(&eval->builder, OP_shared_store, part, value);
    return value != NULL;
}

/* ---- register tiles ---- */

static bool has_slices(const Subscript *subscript)
{
    for (int d = 0; d < subscript->rank; d++)
        if (subscript->parts[d].keeps && !subscript->parts[d].whole) return true;
    return false;
}

static Value *coordinates_along(Eval *eval, const Type *tile, int dim)
{
    Value *value =
        core_build(eval, OP_iota, 0, NULL, type_with_dtype(core_types(eval), tile, DTYPE_i32));
    op_set_int(value->op, ATTR_dim, dim);
    return value;
}

static Value *joined(Eval *eval, Value *a, Value *b)
{
    return a == NULL ? b : build2(&eval->builder, OP_and, a, b);
}

/* True in the elements that the subscript means; NULL: in all. */
static Value *chosen_elements(Eval *eval, const Type *tile, const Subscript *subscript)
{
    Value *mask = NULL;
    for (int d = 0; d < subscript->rank; d++) {
        const Part *part = &subscript->parts[d];
        if (part->whole) continue;
        Value *at = coordinates_along(eval, tile, d);
        Value *start = stage_cast(eval, part->start, DTYPE_i32);
        Value *low = stage_broadcast(eval, start, tile->rank, tile->shape, subscript->at);
        mask = joined(eval, mask, build_cmp(&eval->builder, part->keeps ? "ge" : "eq", at, low));
        if (!part->keeps) continue;
        Value *length = build_const(&eval->builder, DTYPE_i32, part->extent);
        Value *high = stage_broadcast(eval, build2(&eval->builder, OP_add, start, length),
                                      tile->rank, tile->shape, subscript->at);
        mask = joined(eval, mask, build_cmp(&eval->builder, "lt", at, high));
    }
    return mask;
}

static Value *bitcast(Eval *eval, Value *value, DType dtype)
{
    if (value->type->dtype == dtype) return value;
    return core_build(eval, OP_bitcast, 1, &value,
                      type_with_dtype(core_types(eval), value->type, dtype));
}

/* The bits of the element that is meant, or-ed with the zeros that the others become. */
static Value *pick_elements(Eval *eval, Value *tile, const Subscript *subscript)
{
    int64_t shape[TYPE_RANK], dims[TYPE_RANK];
    int count = 0;
    const DType dtype = tile->type->dtype;
    Value *bits = bitcast(eval, tile, dtype == DTYPE_b1 ? dtype : dtype_unsigned(dtype));
    Value *zero = stage_broadcast(eval, build_const(&eval->builder, bits->type->dtype, 0),
                                  tile->type->rank, tile->type->shape, subscript->at);
    Value *mask = chosen_elements(eval, tile->type, subscript);
    bits = build3(&eval->builder, OP_select, mask, bits, zero);
    for (int d = 0; d < subscript->rank; d++) {
        shape[d] = subscript->parts[d].keeps ? tile->type->shape[d] : 1;
        if (!subscript->parts[d].keeps) dims[count++] = d;
    }
    Value *picked =
        core_build(eval, OP_reduce, 1, &bits,
                   type_tile(core_types(eval), bits->type->dtype, subscript->rank, shape, NULL));
    op_set_ints(picked->op, ATTR_dims, count, dims);
    op_set_text(picked->op, ATTR_mode, intern_text(eval->session->names, "or"));
    return bitcast(eval, picked, dtype);
}

Value *tile_through_shared(Eval *eval, Value *tile)
{
    Value *shared = core_build(eval, OP_shared_alloc, 0, NULL,
                               type_shared(core_types(eval), tile->type->dtype, tile->type->rank,
                                           tile->type->shape, NULL));
    build2(&eval->builder, OP_shared_store, shared, tile);
    return shared;
}

/* At indices that differ between threads. */
static Object *element_of_share(Eval *eval, Value *tile, const Subscript *subscript)
{
    Value *operands[1 + TYPE_RANK] = {tile};
    for (int d = 0; d < subscript->rank; d++) {
        if (subscript->parts[d].whole || subscript->parts[d].keeps) return NULL;
        operands[1 + d] = subscript->parts[d].start;
    }
    return object_ir(eval, core_build(eval, OP_element_load, 1 + subscript->rank, operands,
                                      type_scalar(core_types(eval), tile->type->dtype)));
}

static Object *register_get(Eval *eval, Value *tile, const Subscript *subscript)
{
    Object *element = eval->staging->in_share ? element_of_share(eval, tile, subscript) : NULL;
    if (element != NULL) return element;
    int64_t dims[TYPE_RANK], shape[TYPE_RANK];
    const int rank = kept_dims(subscript, dims, shape);
    if (has_slices(subscript))
        return object_ir(eval,
                         build1(&eval->builder, OP_shared_load,
                                shared_part(eval, tile_through_shared(eval, tile), subscript)));
    bool all = true;
    for (int d = 0; d < subscript->rank; d++) all &= subscript->parts[d].whole;
    if (all) return object_ir(eval, tile);
    Value *picked = pick_elements(eval, tile, subscript);
    if (type_elements(picked->type) == 1 && rank == 1 && !subscript->parts[dims[0]].keeps)
        return object_ir(eval, build1(&eval->builder, OP_item, picked));
    return object_ir(
        eval, core_build(eval, OP_reshape, 1, &picked,
                         type_tile(core_types(eval), picked->type->dtype, rank, shape, NULL)));
}

/* All dimensions have an index: then it is one element. Its indices go to `out`. */
static bool is_element(const Subscript *subscript, Value **out)
{
    for (int d = 0; d < subscript->rank; d++) {
        if (subscript->parts[d].keeps) return false;
        out[d] = subscript->parts[d].start;
    }
    return true;
}

/* The part, which says where it is of. */
static Object *register_part(Eval *eval, Object *object, Object *index, const Subscript *subscript)
{
    Value *indices[TYPE_RANK], *tile = stage_value(eval, object);
    Object *part = register_get(eval, tile, subscript);
    if (is_element(subscript, indices))
        fragment_note(eval, tile->op, indices, stage_value(eval, part));
    if (part->kind != OBJECT_TILE || object->kind != OBJECT_TILE) return part;
    if (object->as.ir.var == NULL && object->as.ir.whole == NULL) return part;
    part->as.ir.whole = object;
    part->as.ir.index = index;
    return part;
}

/* The value stretched over the whole tile, the dimensions that an index dropped put back. */
static Value *stretched(Eval *eval, Object *object, const Type *tile, const Subscript *subscript)
{
    int64_t dims[TYPE_RANK], shape[TYPE_RANK], full[TYPE_RANK];
    const int rank = kept_dims(subscript, dims, shape);
    const Type *type = argument_type(object);
    if (type == NULL || type->kind == TYPE_SCALAR)
        return stage_typed(eval, object, tile, subscript->at);
    Value *value = stage_typed(
        eval, object, type_tile(core_types(eval), tile->dtype, rank, shape, NULL), subscript->at);
    if (value == NULL) return NULL;
    for (int d = 0; d < tile->rank; d++) full[d] = subscript->parts[d].keeps ? tile->shape[d] : 1;
    value = core_build(eval, OP_reshape, 1, &value,
                       type_tile(core_types(eval), tile->dtype, tile->rank, full, NULL));
    return stage_broadcast(eval, value, tile->rank, tile->shape, subscript->at);
}

static bool register_set(Eval *eval, Object *object, Value *tile, const Subscript *subscript,
                         Object *value)
{
    const Type *given = argument_type(value);
    if (has_slices(subscript) && given != NULL && given->kind == TYPE_TILE) {
        Value *shared = tile_through_shared(eval, tile);
        return shared_write(eval, shared_part(eval, shared, subscript), value, subscript->at) &&
               tile_write(eval, object, build1(&eval->builder, OP_shared_load, shared));
    }
    Value *mask = chosen_elements(eval, tile->type, subscript);
    Value *written = stretched(eval, value, tile->type, subscript);
    if (written == NULL) return false;
    Value *indices[TYPE_RANK], *each = written;
    if (mask != NULL) written = build3(&eval->builder, OP_select, mask, written, tile);
    if (!tile_write(eval, object, written)) return false;
    if (is_element(subscript, indices) && each->op != NULL && each->op->code == OP_splat &&
        written->uses != NULL) {
        fragment_note(eval, tile->op, indices, NULL);
        fragment_note(eval, written->uses->op, indices, operand(each->op, a));
    }
    return true;
}

/* ---- views of global memory ---- */

static Value *as_wide(Eval *eval, Value *value)
{
    return stage_cast(eval, value, DTYPE_i64);
}

/* `extent` where 0 <= index < limit, else 0: then every access is out of bounds. */
static Value *extent_if_inside(Eval *eval, Value *index, Value *limit, Value *extent)
{
    int64_t known, end;
    if (value_constant(index, &known) && value_constant(limit, &end) && known >= 0 && known < end)
        return extent;
    Value *unsigned_index = stage_cast(eval, as_wide(eval, index), DTYPE_u64);
    Value *unsigned_limit = stage_cast(eval, as_wide(eval, limit), DTYPE_u64);
    Value *inside = build_cmp(&eval->builder, "lt", unsigned_index, unsigned_limit);
    return build3(&eval->builder, OP_select, inside, as_wide(eval, extent),
                  build_const(&eval->builder, DTYPE_i64, 0));
}

static Value *smaller(Eval *eval, OpCode code, Value *a, Value *b)
{
    return build2(&eval->builder, code, as_wide(eval, a), as_wide(eval, b));
}

/* The same where all of it is known now; -1: it is not. A slice that ends behind the view has a
 * length of the run's: tiles that are copied from there may be larger. */
static int64_t known_length(const Part *part, const Value *extent)
{
    int64_t all, stop;
    if (part->known_start < 0 || part->length != NULL || !value_constant(extent, &all)) return -1;
    stop = all;
    if (part->stop != NULL) {
        if (part->stop->kind != OBJECT_INT) return -1;
        const int64_t given = part->stop->as.integer;
        if (given > all) return -1;
        stop = given < 0 ? all + given : given;
    }
    const int64_t step = part->step > 1 ? part->step : 1;
    return stop > part->known_start ? (stop - part->known_start + step - 1) / step : 0;
}

/* Elements of [start, stop) that the view has. */
static Value *slice_length(Eval *eval, const Part *part, Value *extent, Span at)
{
    Value *zero = build_const(&eval->builder, DTYPE_i64, 0), *stop = extent;
    if (part->whole) return extent;
    if (part->length != NULL) return part->length;
    const int64_t known = known_length(part, extent);
    if (known >= 0) return build_const(&eval->builder, extent->type->dtype, known);
    if (part->stop != NULL) {
        Value *given = stage_index(eval, part->stop, at);
        if (given == NULL) return NULL;
        if (part->stop->kind == OBJECT_INT && part->stop->as.integer < 0)
            given = build2(&eval->builder, OP_add, as_wide(eval, extent), as_wide(eval, given));
        stop = smaller(eval, OP_min, extent, given);
    }
    Value *length = build2(&eval->builder, OP_sub, as_wide(eval, stop), as_wide(eval, part->start));
    length = smaller(eval, OP_max, length, zero);
    if (part->step > 1) {
        Value *step = build_const(&eval->builder, DTYPE_i64, part->step);
        Value *most = build_const(&eval->builder, DTYPE_i64, part->step - 1);
        length = build2(&eval->builder, OP_div, build2(&eval->builder, OP_add, length, most), step);
    }
    if (part->known_start >= 0) return length;
    Value *inside = build_cmp(&eval->builder, "ge", as_wide(eval, part->start), zero);
    return build3(&eval->builder, OP_select, inside, length, zero);
}

static Value *view_part(Eval *eval, Value *view, const Subscript *subscript)
{
    Value *pointer = operand(view->op, pointer), *extents[TYPE_RANK], *strides[TYPE_RANK];
    Value *const *old_extents = operand_list(view->op, extents), *const *old_strides =
                                                                     old_extents + subscript->rank;
    int rank = 0;
    for (int d = 0; d < subscript->rank; d++) {
        const Part *part = &subscript->parts[d];
        if (!part->whole) {
            Value *step = build2(&eval->builder, OP_mul, as_wide(eval, part->start),
                                 as_wide(eval, old_strides[d]));
            pointer = build2(&eval->builder, OP_ptr_add, pointer, step);
        }
        if (!part->keeps) continue;
        strides[rank] = old_strides[d];
        if (part->step > 1 || part->stride != NULL)
            strides[rank] =
                build2(&eval->builder, OP_mul, as_wide(eval, strides[rank]),
                       part->stride != NULL ? part->stride : wide_number(eval, part->step));
        extents[rank] = slice_length(eval, part, old_extents[d], subscript->at);
        if (extents[rank++] == NULL) return NULL;
    }
    if (rank == 0) {
        strides[0] = build_const(&eval->builder, DTYPE_i64, 1);
        extents[rank++] = strides[0];
    }
    for (int d = 0; d < subscript->rank; d++)
        if (!subscript->parts[d].keeps)
            extents[0] =
                extent_if_inside(eval, subscript->parts[d].start, old_extents[d], extents[0]);
    return build_view(&eval->builder, pointer, rank, extents, strides);
}

bool view_is_element(const Value *view)
{
    const Op *op = view->op;
    if (view->type->rank != 1 || op == NULL || op->code != OP_view) return false;
    const Value *extent = operand(op, extents);
    while (extent->op != NULL && extent->op->code == OP_select) /* one for each index */
        extent = operand(extent->op, a);
    return view->type->shape[0] == 1 || value_is_constant(extent, 1);
}

static Value *first_offset(Eval *eval)
{
    return build_const(&eval->builder, DTYPE_i32, 0);
}

Value *view_load_element(Eval *eval, Value *view)
{
    Value *operands[] = {view, first_offset(eval)};
    const int64_t one = 1;
    return core_build(eval, OP_load, 2, operands,
                      type_tile(core_types(eval), view->type->dtype, 1, &one, NULL));
}

/* All elements of a view whose extents are known now; NULL: they are not. */
static Object *view_elements(Eval *eval, Value *view)
{
    Value *operands[1 + TYPE_RANK] = {view};
    const Type *type = view->type;
    for (int d = 0; d < type->rank; d++) {
        if (type->shape[d] == TYPE_DYNAMIC || type->shape[d] == 0) return NULL;
        operands[1 + d] = first_offset(eval);
    }
    return object_ir(
        eval, core_build(eval, OP_load, 1 + type->rank, operands,
                         type_tile(core_types(eval), type->dtype, type->rank, type->shape, NULL)));
}

static bool view_write(Eval *eval, Value *view, Object *object, Span at)
{
    if (argument_type(object) != NULL && argument_type(object)->kind == TYPE_VIEW) {
        Object *elements = view_elements(eval, stage_value(eval, object));
        if (elements != NULL) object = elements;
    }
    const Type *given = argument_type(object);
    const int64_t one = 1;
    Value *operands[2 + TYPE_RANK] = {view};
    const bool element = view_is_element(view);
    if (!element && (given == NULL || given->kind != TYPE_TILE)) {
        FAIL(eval, expected_kind, at, "what is written to a view", "a register tile",
             object_repr(eval, object));
        return false;
    }
    const Type *type =
        element ? type_tile(core_types(eval), view->type->dtype, 1, &one, NULL) : given;
    if (type->dtype != view->type->dtype || type->rank != view->type->rank) {
        FAIL(eval, shape_mismatch, at, type_text(eval->arena, type),
             type_text(eval->arena, view->type));
        return false;
    }
    operands[1] = stage_typed(eval, object, type, at);
    if (operands[1] == NULL) return false;
    for (int d = 0; d < view->type->rank; d++) operands[2 + d] = first_offset(eval);
    build_op(&eval->builder, OP_store, 2 + view->type->rank, operands, 0, NULL);
    return true;
}

/* ---- the operators ---- */

static bool in_memory(const Object *object)
{
    const Type *type = argument_type(object);
    return type != NULL && (type->kind == TYPE_TILE || type->kind == TYPE_SHARED ||
                            type->kind == TYPE_VIEW || type->kind == TYPE_LOCAL);
}

static Value *memory_part(Eval *eval, Value *memory, const Subscript *subscript)
{
    if (memory->type->kind == TYPE_SHARED) return shared_part(eval, memory, subscript);
    if (memory->type->kind == TYPE_VIEW) return view_part(eval, memory, subscript);
    return FAIL(eval, local_array, subscript->at);
}

Value *subscript_part(Eval *eval, Value *memory, Object *index, Span at)
{
    Subscript subscript;
    Value *const *extents = countable(eval, memory);
    return read_subscript(eval, memory->type, extents, index, at, &subscript)
               ? memory_part(eval, memory, &subscript)
               : NULL;
}

static bool can_subscript(Eval *eval, Object *object, Object *index, Span at, Subscript *subscript)
{
    if (!in_memory(object)) {
        const Type *type = argument_type(object);
        FAIL(eval, bad_index, at, object_repr(eval, object), object_kind_name(index));
        if (type != NULL && type->kind == TYPE_POINTER && eval->quiet == 0)
            diag_hint(eval->session->diags, "make a view of what it points to: it has a shape");
        return false;
    }
    if (!stage_ready(eval, at)) return false;
    const Type *type = argument_type(object);
    Value *const *extents =
        type->kind == TYPE_VIEW ? countable(eval, stage_value(eval, object)) : NULL;
    return read_subscript(eval, type, extents, index, at, subscript);
}

Object *subscript_get(Eval *eval, Object *object, Object *index, Span at)
{
    Subscript subscript;
    Object *lanes;
    if (in_memory(object) && lanes_get(eval, object, index, at, &lanes)) return lanes;
    if (in_memory(object) && (subscript_has_tile(index) || gather_guard(eval, object, index)))
        return gather_get(eval, object, index, at);
    if (!can_subscript(eval, object, index, at, &subscript)) return NULL;
    Value *value = stage_value(eval, object);
    Value *indices[TYPE_RANK], *part;
    if (value->type->kind == TYPE_TILE) return register_part(eval, object, index, &subscript);
    if (is_element(&subscript, indices)) return element_get(eval, value, indices);
    part = memory_part(eval, value, &subscript);
    return part != NULL ? object_ir(eval, part) : NULL;
}

bool subscript_set(Eval *eval, Object *object, Object *index, Object *given, Span at)
{
    Subscript subscript;
    bool done;
    if (in_memory(object) && lanes_set(eval, object, index, given, at, &done)) return done;
    if (in_memory(object) && (eval->parallel != NULL || subscript_has_tile(index)))
        return scatter_set(eval, object, index, given, at);
    if (!can_subscript(eval, object, index, at, &subscript)) return false;
    Value *value = stage_value(eval, object);
    if (value->type->kind == TYPE_TILE) return register_set(eval, object, value, &subscript, given);
    Value *indices[TYPE_RANK], *part;
    if (is_element(&subscript, indices)) return element_set(eval, value, indices, given, at);
    part = memory_part(eval, value, &subscript);
    if (part == NULL) return false;
    return value->type->kind == TYPE_SHARED ? shared_write(eval, part, given, at)
                                            : view_write(eval, part, given, at);
}

/* ---- parts by offsets, permuted tiles ---- */

/* shared_part(tile, offsets, shape, dims): dimension i of the part is dims[i] of the tile, by
 * default the last ones. */
Object *core_shared_part(Eval *eval, const Bound *bound)
{
    Object *items[TYPE_RANK];
    int64_t shape[TYPE_RANK], dims[TYPE_RANK];
    int given, rank, dim_count;
    Value *operands[1 + TYPE_RANK];
    operands[0] = argument_value(eval, bound->values[0], TYPE_SHARED, "this", NULL, bound->at);
    if (operands[0] == NULL ||
        !argument_items(eval, bound->values[1], "offsets", bound->at, &given, items) ||
        !argument_shape(eval, bound->values[2], bound->at, &rank, shape))
        return NULL;
    const Type *whole = operands[0]->type;
    if (given != whole->rank)
        return FAIL(eval, rank_mismatch, argument_span(eval, bound->values[1], bound->at),
                    "offsets", (long long)given, (long long)whole->rank);
    dim_count = rank;
    for (int i = 0; i < rank; i++) dims[i] = whole->rank - rank + i;
    if (!argument_absent(bound->values[3]) &&
        !argument_ints(eval, bound->values[3], "dims", bound->at, &dim_count, dims))
        return NULL;
    unsigned seen = 0;
    for (int i = 0; i < dim_count; i++) {
        const bool fits = dim_count == rank && dims[i] >= 0 && dims[i] < whole->rank &&
                          !(seen >> dims[i] & 1) && shape[i] <= whole->shape[dims[i]];
        if (!fits) return FAIL(eval, no_part, bound->at);
        seen |= 1u << dims[i];
    }
    if (dim_count != rank)
        return FAIL(eval, rank_mismatch, argument_span(eval, bound->values[3], bound->at), "dims",
                    (long long)dim_count, (long long)rank);
    for (int i = 0; i < given; i++) {
        Value *offset = stage_index(eval, items[i], bound->at);
        if (offset == NULL) return NULL;
        operands[1 + i] = stage_cast(eval, offset, DTYPE_i32);
    }
    Value *part = core_build(eval, OP_shared_view, 1 + given, operands,
                             type_shared(core_types(eval), whole->dtype, rank, shape, NULL));
    op_set_ints(part->op, ATTR_dims, rank, dims);
    return object_ir(eval, part);
}

/* A shared tile or view with its dimensions in another order; by default backwards. */
Object *core_permute(Eval *eval, const Bound *bound)
{
    const Type *type = argument_type(bound->values[0]);
    if (type == NULL || (type->kind != TYPE_SHARED && type->kind != TYPE_VIEW) ||
        !stage_ready(eval, bound->at))
        return FAIL(eval, expected_kind, bound->at, "what is permuted", "a shared tile or a view",
                    object_repr(eval, bound->values[0]));
    int64_t dims[TYPE_RANK], shape[TYPE_RANK];
    Value *operands[1 + TYPE_RANK] = {stage_value(eval, bound->values[0])}, *strides[TYPE_RANK];
    int count = type->rank;
    unsigned seen = 0;
    for (int i = 0; i < count; i++) dims[i] = count - 1 - i;
    if (!argument_absent(bound->values[1]) &&
        !argument_ints(eval, bound->values[1], "dims", bound->at, &count, dims))
        return NULL;
    for (int i = 0; i < count; i++)
        seen |= dims[i] >= 0 && dims[i] < type->rank ? 1u << dims[i] : 0;
    if (count != type->rank || seen != (1u << count) - 1)
        return FAIL(eval, bad_dims, bound->at, "dims", "dimensions of the tile, each once");
    Value *whole = operands[0];
    for (int i = 0; i < count; i++) {
        shape[i] = type->shape[dims[i]];
        if (type->kind == TYPE_SHARED) {
            operands[1 + i] = build_const(&eval->builder, DTYPE_i32, 0);
            continue;
        }
        operands[1 + i] = operand_list(whole->op, extents)[dims[i]];
        strides[i] = operand_list(whole->op, extents)[count + dims[i]];
    }
    if (type->kind == TYPE_VIEW)
        return object_ir(eval, build_view(&eval->builder, operand(whole->op, pointer), count,
                                          operands + 1, strides));
    Value *part = core_build(eval, OP_shared_view, 1 + count, operands,
                             type_shared(core_types(eval), type->dtype, count, shape, NULL));
    op_set_ints(part->op, ATTR_dims, count, dims);
    return object_ir(eval, part);
}

/* ---- all elements ---- */

Object *core_tolist(Eval *eval, const Bound *bound)
{
    enum { MOST = 64 };
    const Type *type = argument_type(bound->values[0]);
    if (type == NULL || type->rank != 1 || type->shape[0] > MOST)
        return FAIL(eval, expected_kind, bound->at, "what becomes a list",
                    "a tile of one dimension and at most 64 elements",
                    object_repr(eval, bound->values[0]));
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (int64_t i = 0; i < type->shape[0]; i++) {
        Object *item = subscript_get(eval, bound->values[0], object_int(eval, i), bound->at);
        if (item == NULL) return NULL;
        list_append(eval, list, item);
    }
    return list;
}
