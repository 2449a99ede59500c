/* variable.c: names that are bound under run-time control.
 *
 * Every change of a binding inside a run-time region is noted in a journal. When the region is left
 * the bindings are put back, and what they held becomes a Merge: the value on either way. A merge
 * that is never read costs nothing; one that is read becomes a `var` op before the control op, set
 * at the end of each region. A name that a loop's body reads from outside and binds anew must be a
 * variable before the loop begins: the body is staged on trial, and again once such names are
 * known. */
#include "eval/staging/staging.h"

/* ---- binding ---- */

void binding_put(Eval *eval, Binding *binding, Object *object, Span at)
{
    binding_note(eval, binding);
    if (binding->object == NULL && eval->parallel != NULL) binding->masked = eval->parallel->mask;
    observe(eval, at, object);
    binding->object = object;
    binding->at = at;
    binding->clock = ++eval->clock;
    binding->variable = binding->is_extent = false;
}

Object *object_hold(Eval *eval, Object *object)
{
    if (object_is_record(object)) return record_hold(eval, object, false);
    if (object->kind != OBJECT_TILE) return object;
    if (eval->parallel != NULL) return eval->ops->masked_hold(eval, object);
    if (object->fresh && object->as.ir.var != NULL && object->as.ir.whole == NULL) {
        object->fresh = false;
        return object;
    }
    Value *value = stage_value(eval, object);
    const Type *type = type_var(eval->builder.kernel->types, value->type);
    Object *held = object_new(eval, OBJECT_TILE);
    held->as.ir.var = build_op(&eval->builder, OP_var, 1, &value, 1, &type)->results;
    return held;
}

Object *object_keep(Eval *eval, Object *object)
{
    if (object_is_record(object)) return record_hold(eval, object, true);
    bool temporary = object->kind == OBJECT_TILE && object->as.ir.var == NULL;
    return temporary ? object_hold(eval, object) : object;
}

bool binding_set(Eval *eval, Binding *binding, Object *object, Span at)
{
    if (eval->parallel != NULL &&
        (object = eval->ops->masked_bind(eval, binding, object, at)) == NULL)
        return false;
    observe(eval, at, object);
    const Type *type = eval->parallel != NULL ? argument_type(object) : NULL;
    const bool is_own = type != NULL && type->kind == TYPE_TILE && /* one for each iteration */
                        object_is_one_variable(binding->object);
    if (object_is_variable(binding->object) && !object_is_variable(object) && !is_own)
        return eval->ops->slot_write(eval, binding->object->as.place, object, at);
    if (binding->variable && eval->control > binding->control)
        return variable_write(eval, binding, object, at);
    Object *held = object_hold(eval, object);
    if (held->kind == OBJECT_TILE && held->as.ir.var != NULL && held->as.ir.var->name == NULL)
        held->as.ir.var->name = binding->name;
    if (held->kind == OBJECT_IR && held->as.ir.value->name == NULL &&
        held->as.ir.value->op != NULL) {
        held->as.ir.value->name = binding->name;
        held->as.ir.value->of_library = eval->library > 0;
    }
    binding_put(eval, binding, held, at);
    return true;
}

Object *binding_get(Eval *eval, Binding *binding, Span at)
{
    Object *object = binding->object;
    if (object->kind == OBJECT_POISON && object->as.text.data != NULL && eval->staging != NULL)
        return FAIL(eval, not_computed, at, binding->name, object->as.text.data);
    if (object->kind == OBJECT_POISON) return NULL;
    if (object->kind == OBJECT_LANES) return FAIL(eval, parallel_read, at, binding->name);
    if (object->kind == OBJECT_MERGE) {
        object = merge_lift(eval, object, at);
        if (object == NULL) return NULL;
        if (object->kind == OBJECT_POISON) return NULL;
        /* What is read while a way has left is no answer for what is read where it went. */
        if (binding->object->as.merge->lifted == object) binding->object = object;
    }
    if (object->kind == OBJECT_SYMBOL) return eval->ops->symbol_read(eval, object);
    if (object_is_variable(object)) return eval->ops->slot_read(eval, object->as.place, at);
    if (!binding->variable) trial_note_read(eval, binding, binding->clock);
    return structure_read(eval, object);
}

static bool refuse_nameless(Eval *eval)
{
    FAIL(eval, unnamed_tile, eval->at);
    return false;
}

bool tile_write_out(Eval *eval, Object *tile, Value *value)
{
    return tile->as.ir.unseen ? refuse_nameless(eval) : tile_write(eval, tile, value);
}

bool tile_write(Eval *eval, Object *tile, Value *value)
{
    const bool is_part = tile->as.ir.whole != NULL;
    if (tile->as.ir.var == NULL && !is_part) return refuse_nameless(eval);
    const Type *type = staged_object_type(tile);
    if (value->type != type) {
        FAIL(eval, expected_kind, eval->at, "what is written to the tile",
             type_text(eval->arena, type), type_text(eval->arena, value->type));
        return false;
    }
    if (is_part && !eval->ops->subscript_set(eval, tile->as.ir.whole, tile->as.ir.index,
                                             object_ir(eval, value), eval->at))
        return false;
    if (tile->as.ir.var == NULL) return true;
    if (tile->as.ir.seen != NULL) value = tile_as(eval, value, tile->as.ir.var->type->content);
    build2(&eval->builder, OP_var_set, tile->as.ir.var, value);
    return true;
}
