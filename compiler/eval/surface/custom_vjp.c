/* custom_vjp.c: functions of which the author says how they are differentiated, and gradients of
 * functions that a kernel asks for. */
#include "eval/surface/surface.h"

#include "ir/rebuild.h"

static bool is_of_floats(const Value *value)
{
    return dtype_is_float(value->type->dtype);
}

/* Several values as run-time ones; one that is no sequence is one. */
static bool values_of(Eval *eval, Object *given, Span at, int *count, Value ***out)
{
    Object *const *items = &given;
    const bool several = object_is_sequence(given);
    *count = several ? (int)given->as.list.count : 1;
    if (several) items = given->as.list.items;
    *out = arena_new_array(eval->arena, Value *, *count + 1);
    for (int i = 0; i < *count; i++)
        if (((*out)[i] = stage_operand(eval, items[i], at)) == NULL) return false;
    return true;
}

static void end_region(Eval *eval, Control control, int count, Value *const *values)
{
    ChangeVec changes = {0};
    build_op(&eval->builder, OP_yield, count, values, 0, NULL);
    control_leave(eval, control, &changes);
}

/* A list, and what says how it is to be taken; of anything else NULL. */
static Object *form_of(const Object *result)
{
    const bool parted = result->kind == OBJECT_TUPLE && result->as.list.count == 2 &&
                        result->as.list.items[0]->kind == OBJECT_LIST;
    return parted ? result->as.list.items[1] : NULL;
}

/* What the function gives becomes what the region yields. */
static bool stage_region(Eval *eval, Region *region, Object *function, const Object *arguments,
                         bool is_differentiated, Span at, int *count, Value ***out, Object **form)
{
    const bool differentiates = eval->differentiates;
    const Control control = control_enter(eval, region);
    eval->differentiates = is_differentiated;
    Object *result =
        call_simple(eval, function, (int)arguments->as.list.count, arguments->as.list.items, at);
    eval->differentiates = differentiates;
    *form = result != NULL ? form_of(result) : NULL;
    if (*form != NULL) result = result->as.list.items[0];
    const bool fine = result != NULL && values_of(eval, result, at, count, out);
    end_region(eval, control, fine ? *count : 0, fine ? *out : NULL);
    return fine;
}

static Object *list_of(Eval *eval, int count, Value *const *values)
{
    Object **items = arena_new_array(eval->arena, Object *, count + 1);
    for (int i = 0; i < count; i++) items[i] = object_ir(eval, values[i]);
    return object_list(eval, OBJECT_LIST, items, (size_t)count);
}

/* Adjoints are of the precision of sums. */
static const Type *adjoint_type(Eval *eval, const Type *type)
{
    return type_with_dtype(core_types(eval), type,
                           dtype_bits(type->dtype) == 64 ? DTYPE_f64 : DTYPE_f32);
}

/* The arguments of the second region: the results, and the adjoints of those that have one. */
static Object *open_backward(Eval *eval, Region *region, int count, Value *const *results,
                             Object *form)
{
    Value **given = arena_new_array(eval->arena, Value *, 2 * count + 1);
    int adjoints = 0;
    for (int i = 0; i < count; i++) given[i] = region_add_argument(region, results[i]->type, NULL);
    for (int i = 0; i < count; i++)
        if (is_of_floats(results[i]))
            given[count + adjoints++] =
                region_add_argument(region, adjoint_type(eval, results[i]->type), NULL);
    Object *const all[] = {list_of(eval, count, given), list_of(eval, adjoints, given + count),
                           form};
    return object_list(eval, OBJECT_LIST, all, form != NULL ? 3 : 2);
}

static Op *with_results(Op *op, int count, Value *const *values, Arena *arena)
{
    const Type **types = arena_new_array(arena, const Type *, count + 1);
    for (int i = 0; i < count; i++) types[i] = values[i]->type;
    Op *wide = op_rebuild(op, op->operand_count, op->operands, count, types);
    op_erase(op);
    return wide;
}

static Op *stage_inputs(Eval *eval, const Object *inputs, Span at)
{
    int count = 0, floats = 0;
    Value **values;
    if (!values_of(eval, (Object *)(uintptr_t)inputs, at, &count, &values)) return NULL;
    for (int i = 0; i < count; i++)
        if (is_of_floats(values[i])) values[floats++] = values[i];
    return build_op(&eval->builder, OP_custom_vjp, floats, values, 0, NULL);
}

static Object *stage_vjp(Eval *eval, const Bound *bound, bool again)
{
    Object *forward = bound->values[0], *backward = bound->values[1];
    const Object *inputs = bound->rest;
    int count = 0, given = 0;
    Value **results, **adjoints;
    Object *form, *none;
    if (!eval->differentiates)
        return call_simple(eval, forward, (int)inputs->as.list.count, inputs->as.list.items,
                           bound->at);
    if (!stage_ready(eval, bound->at)) return NULL;
    Op *op = stage_inputs(eval, inputs, bound->at);
    if (op == NULL || !stage_region(eval, op->regions[0], forward, inputs, false, bound->at, &count,
                                    &results, &form))
        return NULL;
    op = with_results(op, count, results, eval->arena);
    if (again) op_set_int(op, ATTR_again, 1);
    const Object *arguments = open_backward(eval, op->regions[1], count, results, form);
    if (!stage_region(eval, op->regions[1], backward, arguments, false, bound->at, &given,
                      &adjoints, &none))
        return NULL;
    if (given != op->operand_count)
        return FAIL(eval, expected_kind, bound->at, "what backward gives",
                    "an adjoint for each input that is of floats", object_repr(eval, backward));
    Value **made = arena_new_array(eval->arena, Value *, count + 1);
    for (int i = 0; i < count; i++) made[i] = &op->results[i];
    if (form != NULL)
        return object_list(eval, OBJECT_TUPLE, (Object *[]){list_of(eval, count, made), form}, 2);
    return count == 1 ? object_ir(eval, made[0]) : list_of(eval, count, made);
}

Object *core_custom_vjp(Eval *eval, const Bound *bound)
{
    return stage_vjp(eval, bound, false);
}

Object *core_replaying_vjp(Eval *eval, const Bound *bound)
{
    return stage_vjp(eval, bound, true);
}

/* gradient(function, *inputs). */
Object *core_gradient(Eval *eval, const Bound *bound)
{
    const Object *inputs = bound->rest;
    int count = 0, given = 0;
    Value **values, **made;
    Object *form;
    if (!stage_ready(eval, bound->at) ||
        !values_of(eval, (Object *)(uintptr_t)inputs, bound->at, &count, &values))
        return NULL;
    const Type **types = arena_new_array(eval->arena, const Type *, count + 1);
    for (int i = 0; i < count; i++) {
        types[i] = values[i]->type;
        if (!is_of_floats(values[i]))
            return FAIL(eval, expected_kind, bound->at, "what a gradient is asked by",
                        "a number or tile of floats", object_repr(eval, inputs->as.list.items[i]));
    }
    Op *op = build_op(&eval->builder, OP_grad, count, values, count, types);
    Value **arguments = arena_new_array(eval->arena, Value *, count + 1);
    for (int i = 0; i < count; i++)
        arguments[i] = region_add_argument(op->regions[0], types[i], NULL);
    if (!stage_region(eval, op->regions[0], bound->values[0], list_of(eval, count, arguments), true,
                      bound->at, &given, &made, &form))
        return NULL;
    for (int i = 0; i < count; i++) arguments[i] = &op->results[i];
    return list_of(eval, count, arguments);
}
