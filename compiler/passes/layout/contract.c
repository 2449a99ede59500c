/* contract.c: sums of products become fmas, which round once.
 *
 *     a * b + c, c + a * b     is fma(a, b, c)
 *     a * b - c                is fma(a, b, -c)
 *     c - a * b, -(a * b) + c  is fma(-a, b, c)
 *
 * As nvcc and NVRTC do it, unless they are told not to: of f32 and f64, and where every user of the
 * product is such a sum, so that nobody needs the product any more and no work is added. Of two
 * products the one that comes first is taken; the other one is what is added. Numbers of a thread
 * alone are meant, those among them, too, that are tiles by now ({single}): of other tiles both
 * factors would be in registers for as long as the product is, which costs kernels more than they
 * gain.
 *
 * Functions of the library whose steps are rounded one by one are {exact}. Nobody has to know
 * either behind this pass. */
#include "base/vec.h"
#include "passes/pass.h"

typedef struct Contraction {
    Arena *arena;
    VEC(Op *) products, exact;
} Contraction;

static bool is_contracted(const Op *product)
{
    const Type *type = product->results->type;
    return !op_attr(product, ATTR_exact) &&
           (type_is_scalar(type) || op_attr(product, ATTR_single)) &&
           (type->dtype == DTYPE_f32 || type->dtype == DTYPE_f64);
}

static bool is_sum(const Op *op)
{
    return (op->code == OP_add || op->code == OP_sub) && !op_attr(op, ATTR_exact);
}

static void collect(Op *op, void *context)
{
    Contraction *found = context;
    if (op_attr(op, ATTR_exact)) vec_push(found->arena, &found->exact, op);
    if (op->code == OP_mul && is_contracted(op)) vec_push(found->arena, &found->products, op);
    if (op->code == OP_mul) op_drop_attr(op, ATTR_single);
}

static bool is_of(const Op *product, const Value *value)
{
    return value == product->results ||
           (value->op && value->op->code == OP_neg && operand(value->op, a) == product->results);
}

/* Whether all users of the value, which is the product or its negation, add something else to it.
 */
static bool is_only_added(const Op *product, const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next) {
        const Op *op = use->op;
        if (op->code == OP_neg && value == product->results) {
            if (!is_only_added(product, op->results)) return false;
            continue;
        }
        if (!is_sum(op) || (is_of(product, operand(op, a)) && is_of(product, operand(op, b))))
            return false;
    }
    return true;
}

static void fuse(const Op *product, const Value *value, bool negated, Op *sum)
{
    Builder at = builder_before(sum);
    const bool is_first = operand(sum, a) == value;
    Value *a = operand(product, a), *rest = is_first ? operand(sum, b) : operand(sum, a);
    if (sum->code == OP_sub && !is_first) negated = !negated;
    if (sum->code == OP_sub && is_first) rest = build1(&at, OP_neg, rest);
    if (negated) a = build1(&at, OP_neg, a);
    Value *result = build3(&at, OP_fma, a, operand(product, b), rest);
    result->name = sum->results->name;
    result->of_library = sum->results->of_library;
    value_replace(sum->results, result);
    op_erase(sum);
}

static void fuse_users(const Op *product, Value *value, bool negated)
{
    while (value->uses) {
        Op *op = value->uses->op;
        if (op->code == OP_neg) {
            fuse_users(product, op->results, !negated);
            op_erase(op);
        } else {
            fuse(product, value, negated, op);
        }
    }
}

bool pass_contract(Kernel *kernel, PassContext *context)
{
    Contraction found = {.arena = context->arena};
    kernel_each_launch (op, kernel) region_visit(launch_region(op), collect, &found);
    for (size_t i = 0; !kernel->rounds_products && i < found.products.count; i++) {
        Op *product = found.products.data[i];
        if (!product->results->uses || !is_only_added(product, product->results)) continue;
        fuse_users(product, product->results, false);
        op_erase(product);
    }
    for (size_t i = 0; i < found.exact.count; i++) op_drop_attr(found.exact.data[i], ATTR_exact);
    return true;
}
