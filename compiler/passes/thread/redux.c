/* redux.c: what all lanes of a warp combine, step by step, is combined by one instruction.
 *
 *     a = x + shuffle(x, xor 16), b = a + shuffle(a, xor 8), ... with 4, 2 and 1, in any order
 *
 * is the sum of all lanes' x in each of them: redux.sync, which takes less time than one of the
 * five steps and the shuffle that it waits for. Of whole numbers of 32 bits, whose sums wrap in any
 * order, and their minima, maxima and bits. */
#include "passes/pass.h"
#include "ir/op_vec.h"

#include <string.h>

typedef struct Steps {
    const Value *from;    /* what the lanes combine, as far as is known */
    OpVec ops;            /* of the steps, the last one first, each behind its users */
    const Region *region; /* that all of them are in */
    int64_t lanes;        /* bits of the lanes that are combined already */
    OpCode code;
} Steps;

static const char *mode_of(OpCode code)
{
    switch ((int)code) {
    case OP_add:
    case OP_min:
    case OP_max:
    case OP_and:
    case OP_or:
    case OP_xor: return op_info(code)->name;
    default: return NULL;
    }
}

/* Of the same bits the number that they were taken for; each between is asked for once. */
static const Value *same_bits(const Value *value)
{
    while (value->op && value->op->code == OP_bitcast && value->use_count == 1 &&
           type_is_scalar(operand(value->op, a)->type))
        value = operand(value->op, a);
    return value;
}

/* The distance of the lanes whose number differs in one bit, if the value is theirs; 0: it is not.
 */
static int64_t distance_of(const Value *moved, const Value *from)
{
    int64_t distance;
    moved = same_bits(moved);
    const Op *op = moved->op;
    const bool is_theirs = op && op->code == OP_shuffle && moved->use_count == 1 &&
                           same_bits(operand(op, value)) == same_bits(from) &&
                           strcmp(op_attr(op, ATTR_mode)->text, "xor") == 0 &&
                           value_constant(operand(op, lane), &distance);
    const bool is_bit =
        is_theirs && distance > 0 && distance < WARP_SIZE && (distance & (distance - 1)) == 0;
    return is_bit ? distance : 0;
}

/* What makes the other lanes' value of this one. */
static void take(Arena *arena, Steps *steps, const Value *moved, const Value *from)
{
    for (Value *value = (Value *)(uintptr_t)moved; value != from;
         value = value->op->code == OP_shuffle ? operand(value->op, value) : operand(value->op, a))
        vec_push(arena, &steps->ops, value->op);
}

/* One step back, if the value is what a step made. */
static bool step_back(Arena *arena, Steps *steps)
{
    Op *op = steps->from->op;
    if (!op || op->code != steps->code || op->operand_count != 2 || op->parent != steps->region)
        return false;
    for (int i = 0; i < 2; i++) {
        const int64_t distance = distance_of(op->operands[i], op->operands[1 - i]);
        if (!distance || steps->lanes & distance ||
            same_bits(op->operands[i])->op->parent != steps->region)
            continue;
        vec_push(arena, &steps->ops, op);
        take(arena, steps, op->operands[i], op->operands[1 - i]);
        steps->lanes |= distance;
        steps->from = op->operands[1 - i];
        return true;
    }
    return false;
}

static void look(Op *root, void *context)
{
    Arena *arena = context;
    Steps steps = {.from = root->results, .region = root->parent, .code = root->code};
    if (!mode_of(root->code) || !root->results[0].use_count ||
        !type_is_scalar(root->results[0].type) ||
        (root->results[0].type->dtype != DTYPE_i32 && root->results[0].type->dtype != DTYPE_u32))
        return;
    /* between steps nobody else asks for what there is */
    while (steps.lanes != WARP_SIZE - 1 && (steps.lanes == 0 || steps.from->use_count == 2) &&
           step_back(arena, &steps)) {
    }
    if (steps.lanes != WARP_SIZE - 1) return;
    Builder at = builder_before(root);
    at.span = root->span;
    Value *all = build1(&at, OP_redux, (Value *)(uintptr_t)steps.from);
    op_set_text(all->op, ATTR_mode,
                intern_text(root->parent->kernel->session->names, mode_of(root->code)));
    value_replace(root->results, all);
    vec_each (op, &steps.ops) op_erase(*op);
}

bool pass_redux(Kernel *kernel, PassContext *context)
{
    if (!kernel_had(kernel, OP_shuffle)) return true;
    VEC(Op *) roots = {0};
    kernel_each_launch (launch, kernel)
        region_each (op, launch_region(launch)) vec_push(context->arena, &roots, op);
    for (size_t i = roots.count; i-- > 0;) look(roots.data[i], context->arena);
    return true;
}
