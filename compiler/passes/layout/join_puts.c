/* join_puts.c: what the two sides of a condition write to the same places is one write of what it
 * chooses; needs a TYPED kernel in SSA.
 *
 *     put %s, %x, %i, %j, %inside             %y = select %inside, %x, %zero
 *     put %s, %zero, %i, %j, %outside         put %s, %y, %i, %j
 *
 * where %outside is `not %inside`: as a parallel loop writes a tile whose rows end within it. Each
 * element is written once, and so many at a time as a load has. What was read under the same
 * condition is zero where that is false, and needs no choice. Of several conditions all but one
 * are the same: the innermost are joined first. */
#include "passes/analysis/access.h"

enum {
    MOST_OPERANDS = TYPE_RANK + 3, /* the memory, the value, its indices, the mask */
    MOST_CONJUNCTS = 8,
    MOST_BETWEEN = 200 /* ops between them */
};

typedef struct Conjuncts {
    Value *data[MOST_CONJUNCTS];
    int count;
} Conjuncts;

/* False: there are too many. */
static bool add_conjuncts(Value *mask, Conjuncts *out)
{
    const Op *op = mask->op;
    if (op && op->code == OP_and)
        return add_conjuncts(operand(op, a), out) && add_conjuncts(operand(op, b), out);
    if (out->count == MOST_CONJUNCTS) return false;
    out->data[out->count++] = mask;
    return true;
}

static bool has_conjunct(const Conjuncts *conjuncts, const Value *value)
{
    for (int i = 0; i < conjuncts->count; i++)
        if (conjuncts->data[i] == value) return true;
    return false;
}

/* The one that the other mask lacks; NULL: there are several, or none. */
static Value *own_conjunct(const Conjuncts *conjuncts, const Conjuncts *others)
{
    Value *own = NULL;
    for (int i = 0; i < conjuncts->count; i++) {
        if (has_conjunct(others, conjuncts->data[i])) continue;
        if (own) return NULL;
        own = conjuncts->data[i];
    }
    return own;
}

static bool negates(const Value *a, const Value *b)
{
    return a->op && a->op->code == OP_not && operand(a->op, a) == b;
}

/* ---- whether two writes are of the same places ---- */

static bool same_places(const Op *a, const Op *b)
{
    const int first = scattered_first(a), count = a->operand_count - 1;
    if (a->operand_count != b->operand_count ||
        operand(a, value)->type != operand(b, value)->type ||
        !value_same(operand(a, memory), operand(b, memory), NULL, NULL) ||
        !op_same_attr(a, b, ATTR_dims) || !op_same_attr(a, b, ATTR_watched) ||
        !op_same_attr(a, b, ATTR_lenient) || !op_same_attr(a, b, ATTR_any))
        return false;
    for (int i = first; i < count; i++)
        if (!value_same(a->operands[i], b->operands[i], NULL, NULL)) return false;
    return true;
}

/* Of two memories that threads see: surely no byte is of both. */
static bool is_apart(const Value *a, const Value *b)
{
    if (a->type->kind == TYPE_SHARED && b->type->kind == TYPE_SHARED)
        return shared_root(a) != shared_root(b);
    if (a->type->kind == TYPE_VIEW && b->type->kind == TYPE_VIEW) {
        const Parameter *p = memory_parameter(a), *q = memory_parameter(b);
        return p && q && p != q;
    }
    return (a->type->kind == TYPE_SHARED && b->type->kind == TYPE_VIEW) ||
           (a->type->kind == TYPE_VIEW && b->type->kind == TYPE_SHARED);
}

/* The write may as well be made behind the op. */
static bool may_pass(const Op *put, const Op *op)
{
    if (op->region_count > 0) return false;
    if (op_has(op, PURE)) return true;
    const bool moves = op->code == OP_gather || op->code == OP_put || op->code == OP_load ||
                       op->code == OP_store || op->code == OP_shared_load ||
                       op->code == OP_shared_store || op->code == OP_element_load;
    const Value *memory = moves ? op_memory(op) : NULL;
    return memory && is_apart(operand(put, memory), memory);
}

/* ---- joining them ---- */

/* Read where the condition holds, and zero elsewhere. */
static bool is_read_under(const Value *value, const Value *condition)
{
    Conjuncts conjuncts = {0};
    while (value->op && value->op->code == OP_cast) value = operand(value->op, a);
    Value *mask = value->op && value->op->code == OP_gather ? scattered_mask(value->op) : NULL;
    return mask && add_conjuncts(mask, &conjuncts) && has_conjunct(&conjuncts, condition);
}

static Value *chosen(Builder *builder, Value *condition, Value *a, Value *b)
{
    return value_is_zero(b) && is_read_under(a, condition)
               ? a
               : build3(builder, OP_select, condition, a, b);
}

/* The write of both; NULL: they are not of two sides. */
static Op *join(Op *first, Op *second)
{
    Conjuncts before = {0}, now = {0};
    if (!same_places(first, second) || !add_conjuncts(scattered_mask(first), &before) ||
        !add_conjuncts(scattered_mask(second), &now))
        return NULL;
    Value *a = own_conjunct(&before, &now), *b = own_conjunct(&now, &before);
    if (!a || !b || !(negates(a, b) || negates(b, a))) return NULL;
    Builder builder = builder_before(second);
    Value *operands[MOST_OPERANDS], *mask = NULL;
    for (int i = 0; i < before.count; i++)
        if (before.data[i] != a)
            mask = mask ? build2(&builder, OP_and, mask, before.data[i]) : before.data[i];
    for (int i = 0; i < second->operand_count; i++) operands[i] = second->operands[i];
    operands[operand_index(second, value)] =
        negates(b, a) ? chosen(&builder, a, operand(first, value), operand(second, value))
                      : chosen(&builder, b, operand(second, value), operand(first, value));
    const int count = second->operand_count - 1;
    if (mask) operands[count] = mask;
    Op *both = build_op(&builder, OP_put, count + (mask != NULL), operands, 0, NULL);
    op_keep_attr(both, second, ATTR_dims);
    if (mask) op_set_int(both, ATTR_masked, 1);
    op_keep_attr(both, second, ATTR_watched);
    op_keep_attr(both, second, ATTR_lenient);
    op_keep_attr(both, second, ATTR_any);
    op_erase(first);
    op_erase(second);
    return both;
}

/* Its other side, further up. */
static Op *join_before(Op *put)
{
    int left = MOST_BETWEEN;
    for (Op *op = put->previous; op && left-- > 0; op = op->previous) {
        Op *both = op->code == OP_put && scattered_mask(op) ? join(op, put) : NULL;
        if (both) return both;
        if (!may_pass(put, op)) return NULL;
    }
    return NULL;
}

static void visit(Op *put, void *context)
{
    (void)context;
    while (put && scattered_mask(put) && put->operand_count <= MOST_OPERANDS)
        put = join_before(put);
}

bool pass_join_puts(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_visit_those(kernel, OP_put, visit, NULL);
    return true;
}
