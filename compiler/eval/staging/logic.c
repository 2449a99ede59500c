/* logic.c: `and`, `or`, chained comparisons and `a if c else b` whose condition is known at run
 * time only. What stands behind the condition is staged in a region of its own, so that it happens
 * only where Python would evaluate it; where it was pure arithmetic the region is taken away again.
 */
#include "eval/staging/staging.h"

/* ---- what a condition guards ---- */

/* Whether the region may as well be computed always: it changes nothing, and is no great work. */
static bool is_pure(const Region *region)
{
    enum { FEW_OPS = 16 };
    int count = 0;
    for (const Op *op = region->first; op != NULL; op = op->next) {
        if (op_has(op, TERM)) continue;
        if (!op_has(op, PURE) || op->region_count > 0 || ++count > FEW_OPS) return false;
    }
    return true;
}

/* The ops of the `if`'s regions come before it. */
static void empty(Op *op)
{
    for (int i = 0; i < op->region_count; i++) {
        for (Op *each = op->regions[i]->first, *next; each != NULL; each = next) {
            next = each->next;
            if (!op_has(each, TERM)) op_move_before(each, op);
        }
    }
}

static Binding *unnamed_choice(Eval *eval)
{
    Binding *binding = arena_new_of(eval->arena, Binding);
    binding->name = intern_text(eval->session->names, "choice");
    return binding;
}

/* What is values[i] on the way through region i of an `if`. */
static Object *merge_values(Eval *eval, Op *op, Object *const values[2], const Span at[2],
                            Span place)
{
    Object *object = object_new(eval, OBJECT_MERGE);
    object->as.merge = arena_new_of(eval->arena, Merge);
    *object->as.merge =
        (Merge){.control = op, .before = UINT64_MAX, .binding = unnamed_choice(eval)};
    for (int i = 0; i < 2; i++) {
        object->as.merge->regions[i] = op->regions[i];
        object->as.merge->values[i] = values[i];
        object->as.merge->at[i] = at[i];
    }
    Object *lifted =
        objects_same(eval, values[0], values[1]) ? values[0] : merge_lift(eval, object, place);
    if (lifted != NULL && lifted->kind == OBJECT_TILE) lifted->fresh = true;
    return lifted != NULL ? structure_read(eval, lifted) : NULL;
}

/* ---- a if condition else b ---- */

static bool is_scalar(const Object *object)
{
    return object_is_number(object) ||
           (object->kind == OBJECT_IR && object->as.ir.value->type->kind == TYPE_SCALAR);
}

/* Whether two scalars are of one type, as far as they have one. */
static bool are_alike(const Object *a, const Object *b)
{
    if (!is_scalar(a) || !is_scalar(b)) return false;
    if (a->kind == OBJECT_IR && b->kind == OBJECT_IR)
        return a->as.ir.value->type == b->as.ir.value->type;
    if (a->kind != OBJECT_IR && b->kind != OBJECT_IR) return a->kind == b->kind;
    const DType dtype = (a->kind == OBJECT_IR ? a : b)->as.ir.value->type->dtype;
    const ObjectKind literal = (a->kind == OBJECT_IR ? b : a)->kind;
    return literal == OBJECT_BOOL  ? dtype == DTYPE_b1
           : literal == OBJECT_INT ? dtype != DTYPE_b1
                                   : dtype_is_float(dtype);
}

static Object *select_values(Eval *eval, Value *condition, Object *a, Object *b, Span at)
{
    Value *values[2];
    if (!object_is_staged(a) && !object_is_staged(b))
        a = object_ir(eval, stage_operand(eval, a, eval->at));
    if (a == NULL || !stage_pair(eval, a, b, at, &values[0], &values[1])) return NULL;
    return object_ir(eval, build3(&eval->builder, OP_select, condition, values[0], values[1]));
}

/* In the program of a thread an item of a tuple of numbers may be chosen at run time. */
Object *stage_chosen(Eval *eval, const Object *tuple, Object *index, Span at)
{
    Object *chosen = NULL;
    for (uint32_t i = 0; i < tuple->as.list.count; i++) {
        Object *item = tuple->as.list.items[i];
        if (!is_scalar(item))
            return FAIL(eval, not_static, at, "this index", object_repr(eval, index));
        if (i > 0) {
            Object *same = stage_compare(eval, OPERATOR_Eq, index, object_int(eval, i), at);
            Value *condition = same != NULL ? stage_condition(eval, same, at) : NULL;
            item = condition != NULL ? select_values(eval, condition, item, chosen, at) : NULL;
        }
        if (item == NULL) return NULL;
        chosen = item;
    }
    return chosen;
}

/* In the host part both sides are computed. */
static Object *select_side(Eval *eval, const NodeIfExp *node, Value *condition)
{
    Object *a = eval_expr(eval, node->body), *b = a != NULL ? eval_expr(eval, node->orelse) : NULL;
    return b != NULL ? select_values(eval, condition, a, b, node->base.span) : NULL;
}

/* Numbers meet as an operator's operands do, each in its own region. False: reported. */
static bool meet(Eval *eval, const Op *op, Object *values[2], Span at)
{
    Value *staged[2] = {NULL, NULL};
    DType dtype;
    for (int i = 0; i < 2; i++) {
        if (!is_scalar(values[i])) return true;
        if (values[i]->kind == OBJECT_IR) staged[i] = values[i]->as.ir.value;
    }
    if (numbers_here(eval) == NUMBERS_WEAK || (staged[0] == NULL && staged[1] == NULL)) return true;
    if (!pair_dtype(eval, PAIR_ARITHMETIC, values[0], values[1], staged[0] ? staged[0]->type : NULL,
                    staged[1] ? staged[1]->type : NULL, &dtype)) {
        FAIL(eval, no_common_type, at, object_repr(eval, values[0]), object_repr(eval, values[1]));
        return false;
    }
    const Builder here = eval->builder;
    bool good = true;
    for (int i = 0; i < 2; i++) {
        eval->builder = builder_before(op->regions[i]->last);
        Value *side = pair_side(eval, values[i], staged[i], dtype, at);
        good &= side != NULL;
        if (side != NULL) values[i] = object_ir(eval, side);
    }
    eval->builder = here;
    return good;
}

Object *stage_choice(Eval *eval, const NodeIfExp *node, Value *condition)
{
    if (in_host_part(eval)) return select_side(eval, node, condition);
    Op *op = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    const Node *sides[2] = {node->body, node->orelse};
    ChangeVec changes[2] = {{0}, {0}};
    Object *values[2];
    for (int i = 0; i < 2; i++) {
        Control control = control_enter(eval, op->regions[i]);
        values[i] = eval_expr(eval, sides[i]);
        build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
        control_leave(eval, control, &changes[i]);
        if (values[i] == NULL) return NULL;
    }
    const bool selects =
        is_pure(op->regions[0]) && is_pure(op->regions[1]) && are_alike(values[0], values[1]);
    if (!selects && !meet(eval, op, values, node->base.span)) return NULL;
    if (selects) empty(op);
    if (selects && changes[0].count + changes[1].count == 0)
        op_erase(op);
    else
        merge_branches(eval, op, changes, (Flow[2]){FLOW_NEXT, FLOW_NEXT});
    if (selects) return select_values(eval, condition, values[0], values[1], node->base.span);
    const Span at[2] = {sides[0]->span, sides[1]->span};
    return merge_values(eval, op, values, at, node->base.span);
}

/* ---- and, or ---- */

static bool is_boolean(const Object *object)
{
    if (object->kind == OBJECT_BOOL) return true;
    return object->kind == OBJECT_IR && object->as.ir.value->type->kind == TYPE_SCALAR &&
           object->as.ir.value->type->dtype == DTYPE_b1;
}

/* Both sides are known here: booleans by bits, numbers by a select. */
static Object *select_logic(Eval *eval, Operator op, Value *condition, Object *left, Object *right,
                            Span at)
{
    const bool both = op == OPERATOR_And;
    if (is_boolean(left) && is_boolean(right)) {
        Value *b = stage_condition(eval, right, at);
        if (b == NULL) return NULL;
        return object_ir(eval, build2(&eval->builder, both ? OP_and : OP_or, condition, b));
    }
    Value *a, *b;
    if (!stage_pair(eval, left, right, at, &a, &b)) return NULL;
    return object_ir(eval,
                     build3(&eval->builder, OP_select, condition, both ? b : a, both ? a : b));
}

static Object *do_deeper(Eval *eval, LogicWork *work, const void *context)
{
    eval->depth++;
    Object *object = work(eval, context);
    eval->depth--;
    return object;
}

/* Whether a value holds, by a boolean; a tile is left as it is. */
Object *stage_truth(Eval *eval, Object *object, Span at)
{
    bool holds;
    if (!object_is_staged(object))
        return object_truth(eval, object, &holds) ? object_bool(eval, holds) : NULL;
    if (staged_object_type(object)->kind == TYPE_TILE) return object;
    Value *truth = stage_condition(eval, object, at);
    return truth != NULL ? object_ir(eval, truth) : NULL;
}

Object *stage_logic(Eval *eval, Operator op, Object *left, LogicWork *work, const void *context,
                    Span at)
{
    const Type *type = staged_object_type(left);
    if (type != NULL && type->kind == TYPE_VIEW) { /* an array that is there holds */
        Value *is_there = view_is_there(eval, stage_value(eval, left));
        if (is_there == NULL) return op == OPERATOR_And ? do_deeper(eval, work, context) : left;
        left = object_ir(eval, is_there);
    }
    Value *condition = stage_condition(eval, left, at);
    if (condition == NULL || !eval_may_nest(eval, at)) return NULL;
    const bool is_of_c = eval->frame->is_thread_code; /* whose `and` and `or` give booleans */
    if (is_of_c) left = object_ir(eval, condition);
    if (in_host_part(eval)) {
        Object *right = do_deeper(eval, work, context);
        return right != NULL ? select_logic(eval, op, condition, left, right, at) : NULL;
    }
    const int taken = op == OPERATOR_And ? 0 : 1;
    Op *choice = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    ChangeVec changes[2] = {{0}, {0}};
    Object *values[2] = {left, left};
    for (int i = 0; i < 2; i++) {
        Control control = control_enter(eval, choice->regions[i]);
        if (i == taken) values[i] = do_deeper(eval, work, context);
        if (i == taken && is_of_c && values[i] != NULL)
            values[i] = stage_truth(eval, values[i], at);
        build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
        control_leave(eval, control, &changes[i]);
        if (values[i] == NULL) return NULL;
    }
    Object *right = values[taken];
    if (changes[taken].count == 0 && is_pure(choice->regions[taken]) && is_scalar(left) &&
        is_scalar(right)) {
        empty(choice);
        op_erase(choice);
        return select_logic(eval, op, condition, left, right, at);
    }
    merge_branches(eval, choice, changes, (Flow[2]){FLOW_NEXT, FLOW_NEXT});
    return merge_values(eval, choice, values, (Span[2]){at, at}, at);
}
