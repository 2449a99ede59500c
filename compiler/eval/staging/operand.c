/* operand.c: values as operands of ops: their types, and what builtins read of their arguments. */
#include "eval/staging/staging.h"

bool stage_ready(Eval *eval, Span at)
{
    if (eval->staging != NULL) return true;
    const char *name = eval->calling != NULL ? eval->calling->name : NULL;
    FAIL(eval, outside_kernel, at,
         name != NULL ? arena_printf(eval->arena, "'%s'", name)
                      : "an operation on run-time values");
    return false;
}

const Type *staged_object_type(const Object *object)
{
    if (object->as.ir.seen != NULL) return object->as.ir.seen;
    return object->as.ir.value != NULL ? object->as.ir.value->type
                                       : object->as.ir.var->type->content;
}

Object *object_ir(Eval *eval, Value *value)
{
    if (value == NULL) return NULL;
    Object *object = object_new(eval, type_is_tile(value->type) ? OBJECT_TILE : OBJECT_IR);
    object->as.ir.value = value;
    object->fresh = true;
    return object;
}

bool argument_absent(const Object *object)
{
    return object == NULL || object->kind == OBJECT_NONE;
}

const Type *argument_type(const Object *object)
{
    if (object == NULL || !object_is_staged(object)) return NULL;
    return staged_object_type(object);
}

/* A list of at most TYPE_RANK items, or a single one. */
bool argument_items(Eval *eval, Object *object, const char *what, Span at, int *rank,
                    Object **items)
{
    if (!object_is_sequence(object)) {
        *rank = 1;
        items[0] = object;
        return true;
    }
    if (object->as.list.count > TYPE_RANK) {
        FAIL(eval, rank_mismatch, argument_span(eval, object, at), what,
             (long long)object->as.list.count, (long long)TYPE_RANK);
        return false;
    }
    *rank = (int)object->as.list.count;
    for (int i = 0; i < *rank; i++) items[i] = object->as.list.items[i];
    return true;
}

bool argument_ints(Eval *eval, Object *object, const char *what, Span at, int *rank, int64_t *out)
{
    Object *items[TYPE_RANK];
    if (!argument_items(eval, object, what, at, rank, items)) return false;
    for (int i = 0; i < *rank; i++)
        if (!object_as_int(eval, items[i], what, &out[i])) return false;
    return true;
}

bool argument_shape(Eval *eval, Object *object, Span at, int *rank, int64_t *shape)
{
    if (!argument_ints(eval, object, "the shape of a tile", at, rank, shape)) return false;
    int64_t elements = 1;
    for (int i = 0; i < *rank; i++) {
        if (shape[i] < 1 || shape[i] > TILE_LIMIT || (elements *= shape[i]) > TILE_LIMIT) {
            FAIL(eval, tile_shape, at, object_repr(eval, object));
            return false;
        }
    }
    if (*rank > 0) return true;
    FAIL(eval, no_dimensions, at, "a tile");
    return false;
}

bool argument_reshape(Eval *eval, const Type *type, Object *object, Span at, int *rank,
                      int64_t *shape)
{
    if (!argument_shape(eval, object, at, rank, shape)) return false;
    int64_t elements = 1;
    for (int i = 0; i < *rank; i++) elements *= shape[i];
    if (elements == type_elements(type)) return true;
    FAIL(eval, shape_mismatch, at, type_text(eval->arena, type), object_repr(eval, object));
    return false;
}

Value *core_build(Eval *eval, OpCode code, int count, Value *const *operands, const Type *type)
{
    return build_op(&eval->builder, code, count, operands, 1, &type)->results;
}

TypeTable *core_types(Eval *eval)
{
    return eval->builder.kernel->types;
}
