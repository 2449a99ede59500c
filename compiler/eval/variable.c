/* variable.c: names that are bound under run-time control.
 *
 * Every change of a binding inside a run-time region is noted in a journal. When the region is left
 * the bindings are put back, and what they held becomes a Merge: the value on either way. A merge
 * that is never read costs nothing; one that is read becomes a `var` op before the control op, set
 * at the end of each region. A name that a loop's body reads from outside and binds anew must be a
 * variable before the loop begins: the body is staged on trial, and again once such names are
 * known. */
#include "eval/evaluate.h"

/* ---- binding ---- */

void binding_note(Eval *eval, Binding *binding)
{
    if (eval->control == 0) return;
    Undo undo = {binding,        binding->object,   binding->at,
                 binding->clock, binding->variable, binding->control};
    vec_push(eval->arena, &eval->journal, undo);
}

void binding_put(Eval *eval, Binding *binding, Object *object, Span at)
{
    binding_note(eval, binding);
    if (binding->object == NULL && eval->parallel != NULL) binding->lanes = eval->parallel->mask;
    binding->object = object;
    binding->at = at;
    binding->clock = ++eval->clock;
    binding->variable = binding->is_extent = false;
}

Object *object_hold(Eval *eval, Object *object)
{
    if (object_is_record(object)) return record_hold(eval, object, false);
    if (object->kind != OBJECT_TILE) return object;
    if (eval->parallel != NULL) return lanes_hold(eval, object);
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
    if (eval->parallel != NULL && (object = lanes_bind(eval, binding, object, at)) == NULL)
        return false;
    if (object_is_variable(binding->object) && !object_is_variable(object))
        return slot_write(eval, binding->object->as.place, object, at);
    if (binding->variable && eval->control > binding->control)
        return variable_write(eval, binding, object, at);
    Object *held = object_hold(eval, object);
    if (held->kind == OBJECT_TILE && held->as.ir.var != NULL && held->as.ir.var->name == NULL)
        held->as.ir.var->name = binding->name;
    if (held->kind == OBJECT_IR && held->as.ir.value->name == NULL && held->as.ir.value->op != NULL)
        held->as.ir.value->name = binding->name;
    binding_put(eval, binding, held, at);
    return true;
}

void trial_note_read(Eval *eval, Binding *binding, uint64_t clock)
{
    for (LoopTrial *trial = eval->trial; trial != NULL; trial = trial->outer)
        if (clock <= trial->start) map_set(eval->arena, &trial->reads, binding, binding);
}

Object *binding_get(Eval *eval, Binding *binding, Span at)
{
    Object *object = binding->object;
    if (object->kind == OBJECT_POISON) return NULL;
    if (object->kind == OBJECT_LANES) return FAIL(eval, parallel_read, at, binding->name);
    if (object->kind == OBJECT_MERGE) {
        object = merge_lift(eval, object, at);
        if (object == NULL) return NULL;
        if (object->kind == OBJECT_POISON) return NULL;
        /* What is read while a way has left is no answer for what is read where it went. */
        if (binding->object->as.merge->lifted == object) binding->object = object;
    }
    if (object->kind == OBJECT_SYMBOL) return symbol_read(eval, object);
    if (object_is_variable(object)) return slot_read(eval, object->as.place, at);
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
    if (is_part && !subscript_set(eval, tile->as.ir.whole, tile->as.ir.index,
                                  object_ir(eval, value), eval->at))
        return false;
    if (tile->as.ir.var == NULL) return true;
    if (tile->as.ir.seen != NULL) value = tile_as(eval, value, tile->as.ir.var->type->content);
    build2(&eval->builder, OP_var_set, tile->as.ir.var, value);
    return true;
}

/* ---- types of variables ---- */

static const Type *literal_type(Eval *eval, const Object *literal)
{
    DType dtype = literal->kind == OBJECT_FLOAT  ? DTYPE_f32
                  : literal->kind == OBJECT_BOOL ? DTYPE_b1
                                                 : DTYPE_i32;
    if (literal->kind == OBJECT_INT && literal->as.integer != (int32_t)literal->as.integer)
        dtype = DTYPE_i64;
    return type_scalar(eval->builder.kernel->types, dtype);
}

/* The type that an object has as the content of a variable; NULL: it can't be one. */
const Type *content_type(Eval *eval, const Object *object)
{
    if (object_is_number(object)) return literal_type(eval, object);
    if (object->kind == OBJECT_CELL) return object->as.ir.var->type->content;
    if (!object_is_staged(object)) return NULL;
    const Type *type = staged_object_type(object);
    const bool is_memory =
        type->kind == TYPE_VIEW || type->kind == TYPE_SHARED || type->kind == TYPE_LOCAL;
    return is_memory ? NULL : type;
}

/* ---- regions ---- */

Control control_enter(Eval *eval, Region *region)
{
    Control control = {eval->builder, eval->journal.count};
    eval->builder = builder_at_end(region, eval->at);
    eval->control++;
    return control;
}

static void record_change(Eval *eval, Map *seen, const Undo *undo, ChangeVec *changed)
{
    if (map_has(seen, undo->binding)) return;
    map_set(eval->arena, seen, undo->binding, undo->binding);
    Change change = {undo->binding, undo->binding->object, undo->binding->at};
    vec_push(eval->arena, changed, change);
}

void control_leave(Eval *eval, Control control, ChangeVec *changed)
{
    Map seen = {0};
    for (size_t i = control.mark; i < eval->journal.count; i++)
        record_change(eval, &seen, &eval->journal.data[i], changed);
    while (eval->journal.count > control.mark) {
        Undo undo = vec_pop(&eval->journal);
        undo.binding->object = undo.object;
        undo.binding->at = undo.at;
        undo.binding->clock = undo.clock;
        undo.binding->variable = undo.variable;
        undo.binding->control = undo.control;
    }
    eval->control--;
    eval->builder = control.builder;
}
