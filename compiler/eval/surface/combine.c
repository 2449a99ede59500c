/* combine.c: the part of __core__ that reduces, scans and reads elements of register tiles, and
 * what tiles tell of themselves. */
#include "eval/surface/surface.h"

#include <string.h>

/* ---- dimensions ---- */

/* Python's: -1 is the last one. */
static bool dimension_of(Eval *eval, int64_t given, int rank, Span at, int *out)
{
    const int64_t dim = given < 0 ? given + rank : given;
    *out = (int)dim;
    if (dim >= 0 && dim < rank) return true;
    FAIL(eval, index_range, at, (long long)given, "a tile's shape", (long long)rank);
    return false;
}

/* None: all of them. */
static bool dimensions_of(Eval *eval, Object *dims, int rank, Span at, bool *chosen)
{
    int64_t given[TYPE_RANK];
    int count = 0, dim;
    for (int d = 0; d < rank; d++) chosen[d] = argument_absent(dims);
    if (argument_absent(dims)) return true;
    if (!argument_ints(eval, dims, "dim", at, &count, given)) return false;
    for (int i = 0; i < count; i++) {
        if (!dimension_of(eval, given[i], rank, at, &dim)) return false;
        chosen[dim] = true;
    }
    return true;
}

static Value *only_element(Eval *eval, Value *tile)
{
    return build1(&eval->builder, OP_item, tile);
}

/* Without the chosen dimensions, whose extent is 1; a scalar if none is left. */
static Value *without_dims(Eval *eval, Value *tile, const bool *chosen)
{
    int64_t shape[TYPE_RANK];
    int rank = 0;
    for (int d = 0; d < tile->type->rank; d++)
        if (!chosen[d]) shape[rank++] = tile->type->shape[d];
    return rank == 0 ? only_element(eval, tile) : stage_reshape(eval, tile, rank, shape);
}

/* ---- combining ---- */

static const char *text_of(Eval *eval, const Object *object)
{
    return arena_copy_text(eval->arena, object->as.text.data, object->as.text.length);
}

/* The names of the language, and what they are called for booleans. */
static const struct {
    const char *name, *booleans;
} MODES[] = {
    {"add", NULL},  {"mul", "and"}, {"max", "or"},  {"min", "and"},
    {"and", "and"}, {"or", "or"},   {"xor", "xor"},
};

/* Sums of small floats are made in float32; booleans are added as integers. */
static DType accumulator(const char *mode, DType dtype)
{
    const bool sums = strcmp(mode, "add") == 0 || strcmp(mode, "mul") == 0;
    if (dtype_is_float(dtype) && dtype_bits(dtype) < 32) return sums ? DTYPE_f32 : dtype;
    return dtype == DTYPE_b1 && strcmp(mode, "add") == 0 ? DTYPE_i32 : dtype;
}

/* Checks the combination; *mode becomes the op's name for it, *tile the operand. */
static bool prepare(Eval *eval, const Object *given, Span at, const char **mode, Value **tile)
{
    const char *name = given->kind == OBJECT_TEXT ? text_of(eval, given) : "";
    const DType dtype = (*tile)->type->dtype;
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
        if (strcmp(MODES[i].name, name) != 0) continue;
        const bool bits = i >= 4, boolean = dtype == DTYPE_b1 && MODES[i].booleans != NULL;
        if (dtype == DTYPE_f8e8m0 || (bits && dtype_is_float(dtype))) break;
        *mode = boolean ? MODES[i].booleans : name;
        *tile = stage_cast(eval, *tile, accumulator(name, dtype));
        return true;
    }
    FAIL(eval, cannot_combine, at, dtype_user_name(dtype), name);
    return false;
}

static Value *combined(Eval *eval, OpCode code, const char *mode, Value *tile, const Type *type)
{
    Value *value = core_build(eval, code, 1, &tile, type);
    op_set_text(value->op, ATTR_mode, intern_text(eval->session->names, mode));
    return value;
}

/* The element type that the caller sees again. */
static Value *narrowed(Eval *eval, Value *value, DType dtype)
{
    return dtype == DTYPE_b1 ? value : stage_cast(eval, value, dtype);
}

static Value *reduced(Eval *eval, const char *mode, Value *tile, const bool *chosen)
{
    int64_t shape[TYPE_RANK], dims[TYPE_RANK];
    int count = 0;
    for (int d = 0; d < tile->type->rank; d++) {
        shape[d] = chosen[d] ? 1 : tile->type->shape[d];
        if (chosen[d]) dims[count++] = d;
    }
    if (count == 0) return tile;
    const Type *type =
        type_tile(core_types(eval), tile->type->dtype, tile->type->rank, shape, NULL);
    Value *value = combined(eval, OP_reduce, mode, tile, type);
    op_set_ints(value->op, ATTR_dims, count, dims);
    return value;
}

Object *core_reduce(Eval *eval, const Bound *bound)
{
    bool chosen[TYPE_RANK], keep = false;
    const char *mode;
    if (argument_type(bound->values[0]) != NULL &&
        argument_type(bound->values[0])->kind == TYPE_SCALAR)
        return result_deliver(eval, stage_value(eval, bound->values[0]), bound->values[4]);
    Value *tile =
        argument_value(eval, bound->values[0], TYPE_TILE, "what is reduced", NULL, bound->at);
    if (tile == NULL ||
        !dimensions_of(eval, bound->values[2], tile->type->rank, bound->at, chosen) ||
        (!argument_absent(bound->values[3]) && !object_truth(eval, bound->values[3], &keep)))
        return NULL;
    const DType dtype = tile->type->dtype;
    if (!prepare(eval, bound->values[1], bound->at, &mode, &tile)) return NULL;
    Value *value = narrowed(eval, reduced(eval, mode, tile, chosen), dtype);
    return result_deliver(eval, keep ? value : without_dims(eval, value, chosen), bound->values[4]);
}

Object *core_scan(Eval *eval, const Bound *bound)
{
    int dim;
    int64_t given;
    bool exclusive = false, reverse = false;
    const char *mode;
    Value *tile =
        argument_value(eval, bound->values[0], TYPE_TILE, "what is scanned", NULL, bound->at);
    if (tile == NULL || !object_as_int(eval, bound->values[2], "dim", &given) ||
        !dimension_of(eval, given, tile->type->rank, bound->at, &dim) ||
        (!argument_absent(bound->values[3]) && !object_truth(eval, bound->values[3], &exclusive)) ||
        (!argument_absent(bound->values[5]) && !object_truth(eval, bound->values[5], &reverse)))
        return NULL;
    const DType dtype = tile->type->dtype;
    if (!prepare(eval, bound->values[1], bound->at, &mode, &tile)) return NULL;
    Value *value = combined(eval, OP_scan, mode, tile, tile->type);
    op_set_int(value->op, ATTR_dim, dim);
    if (exclusive) op_set_int(value->op, ATTR_exclusive, 1);
    if (reverse) op_set_int(value->op, ATTR_reverse, 1);
    return result_deliver(eval, narrowed(eval, value, dtype), bound->values[4]);
}

/* ---- elements ---- */

Object *core_item(Eval *eval, const Bound *bound)
{
    const Type *type = argument_type(bound->values[0]);
    if (type == NULL || !stage_ready(eval, bound->at))
        return FAIL(eval, expected_kind, bound->at, "what has an item", "a tile",
                    object_repr(eval, bound->values[0]));
    if (type->kind == TYPE_SCALAR) return object_ir(eval, stage_value(eval, bound->values[0]));
    Value *value = stage_value(eval, bound->values[0]);
    if (type->kind == TYPE_SHARED && type_elements(type) == 1)
        return object_ir(eval, only_element(eval, build1(&eval->builder, OP_shared_load, value)));
    if (type->kind == TYPE_TILE && type_elements(type) == 1)
        return object_ir(eval, only_element(eval, value));
    if (type->kind == TYPE_VIEW && view_is_element(value))
        return object_ir(eval, only_element(eval, view_load_element(eval, value)));
    return FAIL(eval, expected_kind, bound->at, "what has an item", "a tile of one element",
                type_text(eval->arena, type));
}

/* A shared tile, or what was read of one. */
static bool is_of_shared(const Object *object)
{
    const Type *type = argument_type(object);
    if (type != NULL && type->kind == TYPE_SHARED) return true;
    const Op *op = object->kind == OBJECT_IR ? object->as.ir.value->op : NULL;
    return op != NULL && op->code == OP_element_load &&
           operand(op, memory)->type->kind == TYPE_SHARED;
}

Object *core_item_ptr(Eval *eval, const Bound *bound)
{
    if (is_of_shared(bound->values[0]))
        return raise_python(eval, "NotImplementedError",
                            "item_ptr() of a shared tensor: shared memory has no addresses that "
                            "are numbers: pass the tensor, or a part of it",
                            bound->at);
    Value *view = argument_value(eval, bound->values[0], TYPE_VIEW, "what has an address",
                                 "a place in global memory", bound->at);
    if (view == NULL) return NULL;
    if (view_is_element(view)) return object_ir(eval, operand(view->op, pointer));
    return FAIL(eval, expected_kind, bound->at, "what has an address", "one element of a view",
                type_text(eval->arena, view->type));
}

/* ---- shapes ---- */

Object *core_squeeze(Eval *eval, const Bound *bound)
{
    bool chosen[TYPE_RANK];
    Value *tile =
        argument_value(eval, bound->values[0], TYPE_TILE, "what is squeezed", NULL, bound->at);
    if (tile == NULL || !dimensions_of(eval, bound->values[1], tile->type->rank, bound->at, chosen))
        return NULL;
    for (int d = 0; d < tile->type->rank; d++) {
        if (!chosen[d] || tile->type->shape[d] == 1) continue;
        if (!argument_absent(bound->values[1])) return FAIL(eval, squeezed_extent, bound->at);
        chosen[d] = false;
    }
    Object *out = bound->values[2];
    return result_deliver(eval, without_dims(eval, tile, chosen), out);
}

/* As in torch, the dimensions are those of the result. */
Object *core_unsqueeze(Eval *eval, const Bound *bound)
{
    int count, dim;
    int64_t given[TYPE_RANK], shape[TYPE_RANK];
    bool added[TYPE_RANK] = {false};
    Value *tile =
        argument_value(eval, bound->values[0], TYPE_TILE, "what is unsqueezed", NULL, bound->at);
    if (tile == NULL || !argument_ints(eval, bound->values[1], "dim", bound->at, &count, given))
        return NULL;
    const int rank = tile->type->rank + count;
    if (rank > TYPE_RANK)
        return FAIL(eval, rank_mismatch, bound->at, "dim", (long long)rank, (long long)TYPE_RANK);
    for (int i = 0; i < count; i++) {
        if (!dimension_of(eval, given[i], rank, bound->at, &dim)) return NULL;
        if (added[dim])
            return FAIL(eval, bad_dims, bound->at, "dim", "dimensions of the result, each once");
        added[dim] = true;
    }
    for (int d = 0, from = 0; d < rank; d++) shape[d] = added[d] ? 1 : tile->type->shape[from++];
    return result_deliver(eval, stage_reshape(eval, tile, rank, shape), bound->values[2]);
}

Object *core_deliver(Eval *eval, const Bound *bound)
{
    if (argument_absent(bound->values[1])) return bound->values[0];
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    return value != NULL ? result_deliver(eval, value, bound->values[1]) : NULL;
}

/* ---- facts about a tile ---- */

Object *core_nbytes(Eval *eval, const Bound *bound)
{
    const Type *type = argument_type(bound->values[0]);
    if (type == NULL) return NULL;
    if (type->kind == TYPE_VIEW)
        return FAIL(eval, expected_kind, bound->at, "what has a size", "a tile",
                    type_text(eval->arena, type));
    return object_int(eval, (type_elements(type) * dtype_bits(type->dtype) + 7) / 8);
}
