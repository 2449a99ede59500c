/* alias.c: memory in another shape, or as another element type: the same bits in row-major order,
 * in the same place. */
#include "eval/surface/surface.h"

/* ---- global memory ---- */

/* A product: constant * values[0] * values[1] ... */
typedef struct Product {
    enum { FACTORS = 16, MOST = 256 /* values */ } room;
    int64_t constant;
    const Value *values[FACTORS];
    int count, looked_at;
} Product;

static bool multiply(Product *product, const Value *value)
{
    int64_t known;
    const Op *op = value->op;
    if (product->looked_at++ == MOST) return false;
    if (value_constant(value, &known))
        return !__builtin_mul_overflow(product->constant, known, &product->constant);
    if (op != NULL && op->code == OP_cast && dtype_is_integer(operand(op, a)->type->dtype))
        return multiply(product, operand(op, a));
    if (op != NULL && op->code == OP_mul)
        return multiply(product, operand(op, a)) && multiply(product, operand(op, b));
    if (product->count == FACTORS) return false;
    product->values[product->count++] = value;
    return true;
}

static bool same_product(const Product *a, const Product *b)
{
    unsigned taken = 0;
    if (a->constant != b->constant || a->count != b->count) return false;
    for (int i = 0; i < a->count; i++) {
        int j = 0;
        while (j < b->count && (taken >> j & 1 || a->values[i] != b->values[j])) j++;
        if (j == b->count) return false;
        taken |= 1u << j;
    }
    return true;
}

static bool is_row_major(const Value *view)
{
    const int rank = view->type->rank;
    Value *const *extents = operand_list(view->op, extents), *const *strides = extents + rank;
    Product after = {.constant = 1};
    for (int d = rank; d-- > 0;) {
        Product stride = {.constant = 1};
        const bool single = value_is_constant(extents[d], 1);
        if (!single && (!multiply(&stride, strides[d]) || !same_product(&stride, &after)))
            return false;
        if (!multiply(&after, extents[d])) return false;
    }
    return true;
}

/* Elements of several old ones each, along the last dimension, which is packed; the others may have
 * any strides, multiples of a new element. NULL: it is not such a view, or not such a shape. */
static Object *alias_elements(Eval *eval, Value *view, DType dtype, const Bound *bound)
{
    Value *const *extents = operand_list(view->op, extents), *strides[TYPE_RANK];
    const int rank = view->type->rank, last = rank - 1;
    const Object *shape = bound->values[1];
    int64_t extent, packed, parts;
    const int old = dtype_memory_bits(view->type->dtype), new = dtype_memory_bits(dtype);
    if (!object_is_sequence(shape) || (int)shape->as.list.count != rank || new % old != 0 ||
        !value_constant(extents[last], &extent) ||
        !value_constant(operand_list(view->op, extents)[rank + last], &packed) || packed != 1)
        return NULL;
    const Object *wanted = shape->as.list.items[last];
    if (wanted->kind != OBJECT_INT ||
        __builtin_mul_overflow(wanted->as.integer, (int64_t)(new / old), &parts) || parts != extent)
        return NULL;
    for (int d = 0; d < last; d++)
        strides[d] = build2(&eval->builder, OP_div,
                            stage_cast(eval, operand_list(view->op, extents)[rank + d], DTYPE_i64),
                            build_const(&eval->builder, DTYPE_i64, new / old));
    strides[last] = build_const(&eval->builder, DTYPE_i64, 1);
    Value *ends[TYPE_RANK], *pointer = operand(view->op, pointer);
    for (int d = 0; d < last; d++) ends[d] = extents[d];
    ends[last] = build_const(&eval->builder, DTYPE_i64, wanted->as.integer);
    if (view->type->dtype != dtype)
        pointer = core_build(eval, OP_ptr_cast, 1, &pointer,
                             type_pointer(core_types(eval), dtype, SPACE_GLOBAL));
    return object_ir(eval, build_view(&eval->builder, pointer, rank, ends, strides));
}

static Object *alias_view(Eval *eval, Value *view, DType dtype, const Bound *bound)
{
    if (view->op != NULL && view->op->code == OP_view && !is_row_major(view)) {
        Object *elements = alias_elements(eval, view, dtype, bound);
        if (elements != NULL) return elements;
    }
    if (view->op == NULL || view->op->code != OP_view || !is_row_major(view))
        return FAIL(eval, not_contiguous, bound->at);
    Bound seen = {.at = bound->at};
    seen.values[0] = object_ir(eval, operand(view->op, pointer));
    seen.values[1] = object_new(eval, OBJECT_DTYPE);
    seen.values[1]->as.dtype = dtype;
    seen.values[2] = bound->values[1];
    return view_as(eval, &seen);
}

/* ---- register tiles ---- */

static Object *alias_tile(Eval *eval, Object *tile, const Type *type)
{
    if (tile->as.ir.var == NULL)
        return object_ir(eval, tile_as(eval, stage_value(eval, tile), type));
    Object *alias = object_new(eval, OBJECT_TILE);
    alias->as.ir.var = tile->as.ir.var;
    alias->as.ir.seen = type == tile->as.ir.var->type->content ? NULL : type;
    alias->fresh = true; /* its name is another one of the same tile */
    return alias;
}

/* ---- alias(tile, shape, dtype) ---- */

Object *core_alias(Eval *eval, const Bound *bound)
{
    int rank;
    int64_t shape[TYPE_RANK];
    DType dtype;
    Object *tile = bound->values[0];
    const Type *type = argument_type(tile);
    if (!stage_ready(eval, bound->at) || !argument_dtype(eval, bound->values[2], bound->at, &dtype))
        return NULL;
    if (type == NULL ||
        (type->kind != TYPE_VIEW && type->kind != TYPE_TILE && type->kind != TYPE_SHARED))
        return FAIL(eval, expected_kind, bound->at, "what has another shape",
                    "a register tile, a shared tile or a view", object_repr(eval, tile));
    if (type->kind == TYPE_VIEW) return alias_view(eval, stage_value(eval, tile), dtype, bound);
    if (!argument_shape(eval, bound->values[1], bound->at, &rank, shape)) return NULL;
    const Type *seen = type_tile(core_types(eval), dtype, rank, shape, NULL);
    if (dtype != type->dtype && (dtype == DTYPE_b1 || type->dtype == DTYPE_b1))
        return FAIL(eval, dtype_mismatch, bound->at, "another shape's element",
                    dtype_user_name(dtype), dtype_user_name(type->dtype));
    if (type_elements(seen) * dtype_bits(dtype) != type_elements(type) * dtype_bits(type->dtype))
        return FAIL(eval, shape_mismatch, bound->at, type_text(eval->arena, type),
                    type_text(eval->arena, seen));
    if (type->kind == TYPE_SHARED) return shared_as(eval, tile, seen, bound->at);
    return alias_tile(eval, tile, type_tile(core_types(eval), dtype, rank, shape, NULL));
}
