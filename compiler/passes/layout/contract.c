/* contract.c: sums of products become fmas, which round once.
 *
 *     a * b + c, c + a * b     is fma(a, b, c)
 *     a * b - c                is fma(a, b, -c)
 *     c - a * b, -(a * b) + c  is fma(-a, b, c)
 *
 * As nvcc and NVRTC do it, unless they are told not to: of f32 and f64, and where every user of the
 * product is such a sum, so that nobody needs the product any more and no work is added. Of two
 * products the one that comes first is taken; the other one is what is added. Numbers of a thread
 * alone are, those among them, too, that are tiles by now ({single}); of other tiles both factors
 * are in registers for as long as the product is otherwise, so that these are where others have
 * the factors, too, or one of them is a few elements again and again.
 *
 * Functions of the library whose steps are rounded one by one are {exact}. Nobody has to know
 * either behind this pass. */
#include "base/vec.h"
#include "passes/pass.h"
#include "target/cost.h"

typedef struct Contraction {
    Arena *arena;
    VEC(Op *) products, exact;
    Map waiting; /* tiles' ops that are made of what the matrix unit makes */
} Contraction;

/* Elements that are in registers for the product alone until it is added, if it is a part of an
 * fma: none of a factor that others have, too, and of one that is broadcast those that it has. */
static int64_t elements_held(const Value *factor)
{
    for (; factor->op; factor = operand(factor->op, a)) {
        const OpCode code = factor->op->code;
        if (factor->uses->next || code == OP_splat || code == OP_const) return 0;
        if (code != OP_broadcast && code != OP_cast && code != OP_reshape) break;
    }
    return type_elements(factor->type);
}

static bool spares_registers(const Op *product)
{
    const Value *a = operand(product, a), *b = operand(product, b);
    const int64_t held = elements_held(a) + (a == b ? 0 : elements_held(b));
    const int64_t own = type_elements(product->results->type);
    if (own > (int64_t)COST_CONTRACT_ELEMENTS * op_threads(product).count) return false;
    return held * 100 <= own * COST_CONTRACT_PERCENT;
}

static bool is_contracted(const Op *product)
{
    const Type *type = product->results->type;
    if (op_attr(product, ATTR_exact) || (type->dtype != DTYPE_f32 && type->dtype != DTYPE_f64))
        return false;
    return type_is_scalar(type) || op_attr(product, ATTR_single) || spares_registers(product);
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
    bool waits = op_has(op, DOT);
    for (int i = 0; i < op->operand_count && !waits; i++)
        waits = map_has(&found->waiting, op->operands[i]->op);
    if (waits) map_add(found->arena, &found->waiting, op);
}

static bool is_of(const Op *product, const Value *value)
{
    return value == product->results ||
           (value->op && value->op->code == OP_neg && operand(value->op, a) == product->results);
}

/* Whether all users of the value, which is the product or its negation, add something else to it:
 * what is there before the product, or as early. While the matrix unit is waited for a product
 * takes no time. */
static bool is_only_added(const Contraction *found, const Op *product, const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next) {
        const Op *op = use->op;
        if (op->code == OP_neg && value == product->results) {
            if (!is_only_added(found, product, op->results)) return false;
            continue;
        }
        if (!is_sum(op) || (is_of(product, operand(op, a)) && is_of(product, operand(op, b))))
            return false;
        if (type_is_scalar(value->type)) continue;
        const Value *rest = is_of(product, operand(op, a)) ? operand(op, b) : operand(op, a);
        if (map_has(&found->waiting, rest->op)) return false;
    }
    return true;
}

static void fuse(Contraction *found, const Op *product, const Value *value, bool negated, Op *sum)
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
    if (map_has(&found->waiting, sum)) map_add(found->arena, &found->waiting, result->op);
    value_replace(sum->results, result);
    op_erase(sum);
}

static void fuse_users(Contraction *found, const Op *product, Value *value, bool negated)
{
    while (value->uses) {
        Op *op = value->uses->op;
        if (op->code == OP_neg) {
            fuse_users(found, product, op->results, !negated);
            op_erase(op);
        } else {
            fuse(found, product, value, negated, op);
        }
    }
}

bool pass_contract(Kernel *kernel, PassContext *context)
{
    Contraction found = {.arena = context->arena};
    kernel_each_launch (op, kernel) region_visit(launch_region(op), collect, &found);
    for (size_t i = 0; !kernel->rounds_products && i < found.products.count; i++) {
        Op *product = found.products.data[i];
        if (!product->results->uses || !is_only_added(&found, product, product->results)) continue;
        fuse_users(&found, product, product->results, false);
        op_erase(product);
    }
    for (size_t i = 0; i < found.exact.count; i++) op_drop_attr(found.exact.data[i], ATTR_exact);
    return true;
}
