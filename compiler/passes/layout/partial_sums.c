/* partial_sums.c: sums that loops carry, by thread.
 *
 *     acc = for ... (sum) { yield add sum, (reduce x {dims = [1]}) }
 *
 * Of each x every lane and every warp has a part, and they need not tell each other before the loop
 * has ended: carried is what each thread's own elements add up to, and one reduction behind the
 * loop makes the whole of it, which is added to what the loop began with. So an iteration has no
 * shuffle, and no barrier where several warps share a row. The same goes for products, extremes and
 * bits. What a loop of loops carries goes the same way, from the inside out. */
#include "passes/layout/layouts.h"

#include "passes/analysis/loop.h"
#include "target/target.h"

/* What an iteration combines with a carried value. */
typedef struct Term {
    Op *combine; /* the carried value, or an earlier one's result, and this term */
    int index;   /* of the term among its operands */
    Op *reduce;
} Term;

typedef struct Sum {
    Op *loop;
    int index; /* among the values that are carried */
    OpCode code;
    const Layout *parts;
    VEC(Term) terms; /* from the last to the first; all alike */
} Sum;

bool reduces_to_parts(const Op *reduce)
{
    const Type *result = reduce->results[0].type;
    const unsigned dims = op_dims_mask(reduce);
    bool parts = false;
    for (int d = 0; d < result->rank; d++) parts |= dims >> d & 1 && result->shape[d] > 1;
    return parts;
}

/* The reduction that a value is, but for its shape; NULL: it is none, or others see it. */
static Op *reduction_of(const Value *value, const Region *body)
{
    while (value->op && value->op->code == OP_reshape && value->op->parent == body &&
           value->use_count == 1)
        value = operand(value->op, a);
    return value->op && value->op->code == OP_reduce && value->op->parent == body &&
                   value->use_count == 1
               ? value->op
               : NULL;
}

/* Both are the same number of elements, in the same order, with the same extents on the way. */
static bool same_shapes(const Value *a, const Value *b)
{
    while (type_same_shape(a->type, b->type) && a->op->code == b->op->code) {
        if (a->op->code == OP_reduce) return op_same_attr(a->op, b->op, ATTR_dims);
        a = operand(a->op, a);
        b = operand(b->op, a);
    }
    return false;
}

static const Layout *parts_of(const Inference *inference, const Op *reduce)
{
    const Layout *has = operand(reduce, a)->type->layout;
    const unsigned dims = op_dims_mask(reduce);
    if (!layout_is_plain(has, dims)) return NULL;
    return layout_parts(inference->kernel->layouts, has, dims, LAYOUT_LANE);
}

/* Threads have something to tell each other at all, and the loop doesn't carry much more. */
static bool pays(const Sum *sum)
{
    const Value *carried = &sum->loop->results[sum->index];
    const Op *reduce = sum->terms.data[0].reduce;
    const unsigned dims = op_dims_mask(reduce);
    int32_t parts = 1;
    for (int d = 0; d < sum->parts->rank; d++)
        if (dims >> d & 1) parts *= sum->parts->shape[d];
    return parts > 1 && loop_trips(sum->loop) != 1 &&
           layout_registers(sum->parts) - layout_registers(carried->type->layout) <=
               COST_PARTIAL_SUMS;
}

static bool note_term(const Inference *inference, Sum *sum, Op *combine, int index)
{
    Op *reduce = reduction_of(combine->operands[index], combine->parent);
    const Layout *parts =
        reduce && op_combination(reduce) == sum->code ? parts_of(inference, reduce) : NULL;
    if (!parts || (sum->parts && sum->parts != parts)) return false;
    if (sum->terms.count &&
        !same_shapes(sum->terms.data[0].combine->operands[sum->terms.data[0].index],
                     combine->operands[index]))
        return false;
    sum->parts = parts;
    vec_push(inference->arena, &sum->terms,
             ((Term){.combine = combine, .index = index, .reduce = reduce}));
    return true;
}

/* From what the loop yields back to what it carries, which nothing else sees. */
static bool find_terms(const Inference *inference, Sum *sum)
{
    const Region *body = sum->loop->regions[0];
    const Value *carried = body->arguments[1 + sum->index],
                *value = body->last->operands[sum->index];
    if (carried->use_count != 1 || !value->op || !op_combines(value->op)) return false;
    sum->code = value->op->code;
    while (value != carried) {
        Op *combine = value->op;
        if (!combine || combine->code != sum->code || combine->parent != body ||
            combine->operand_count != 2 || !operand_given(combine, b) || value->use_count != 1)
            return false;
        const int index = reduction_of(operand(combine, b), body) ? 1 : 0;
        if (!note_term(inference, sum, combine, index)) return false;
        value = combine->operands[1 - index];
    }
    return sum->terms.count > 0;
}

static Value *identity_tile(Builder *builder, OpCode code, const Type *type)
{
    Value *value = dtype_is_float(type->dtype)
                       ? build_number(builder, type->dtype, combination_identity_number(code))
                       : build_const(builder, type->dtype, combination_identity(code, type->dtype));
    return build_op(builder, OP_splat, 1, &value, 1, &type)->results;
}

/* The term's ops once more, of `value`, which stands for what was reduced. */
static Value *replay(Builder *builder, const Value *term, Value *value)
{
    const Op *op = term->op;
    if (op->code != OP_reduce) value = replay(builder, operand(op, a), value);
    Op *made = build_op(builder, op->code, 1, &value, 1, &op->results[0].type);
    op_keep_attrs(made, op);
    return made->results;
}

static void drop_renames(Value *value)
{
    while (value->use_count == 0 && value->op->code == OP_reshape) {
        Op *rename = value->op;
        value = operand(rename, a);
        op_erase(rename);
    }
}

static void carry_parts(Inference *inference, Sum *sum)
{
    Op *loop = sum->loop;
    Value *result = &loop->results[sum->index];
    const int init = operand_index(loop, init) + sum->index;
    Value *began = loop->operands[init];
    const Type *parts = tile_of_layout(inference, result->type, sum->parts);
    Builder before = builder_before(loop), after = builder_after(loop);
    after.span = sum->terms.data[0].combine->span;

    const Term *last = &sum->terms.data[0];
    Value *whole = replay(&after, last->combine->operands[last->index], result);
    Value *sums[2] = {began, whole};
    Op *total = build_op(&after, sum->code, 2, sums, 1, &result->type);
    Op *first = whole->op;
    while (first->code != OP_reduce) first = operand(first, a)->op;
    value_replace(result, total->results);
    op_set_operand(first, operand_index(first, a), result);

    op_set_operand(loop, init, identity_tile(&before, sum->code, parts));
    result->type = parts;
    loop->regions[0]->arguments[1 + sum->index]->type = parts;
    for (size_t i = 0; i < sum->terms.count; i++) {
        const Term *term = &sum->terms.data[i];
        Value *renamed = term->combine->operands[term->index];
        term->reduce->results[0].type = parts;
        op_set_operand(term->combine, term->index, term->reduce->results);
        term->combine->results[0].type = parts;
        drop_renames(renamed);
    }
}

static void visit_loop(Inference *inference, Op *loop)
{
    for (int i = 0; i < loop->result_count; i++) {
        Sum sum = {.loop = loop, .index = i};
        if (loop->results[i].type->kind == TYPE_TILE && find_terms(inference, &sum) && pays(&sum))
            carry_parts(inference, &sum);
    }
}

static void visit_region(Inference *inference, Region *region)
{
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) visit_region(inference, op->regions[i]);
        if (op->code == OP_for) visit_loop(inference, op);
    }
}

void carry_partial_sums(Inference *inference)
{
    if (kernel_had(inference->kernel, OP_reduce) && kernel_had(inference->kernel, OP_for))
        visit_region(inference, inference->region);
}
