/* rules_elements.c: adjoints of elementwise ops, as ops.def says what they compute. */
#include "passes/grad/grad.h"
#include "ir/rebuild.h"

#include <string.h>

static Value *product(Grad *grad, Value *a, Value *b)
{
    return build2(&grad->builder, OP_mul, a, b);
}

static Value *quotient(Grad *grad, Value *a, Value *b)
{
    return build2(&grad->builder, OP_div, a, b);
}

static Value *negative(Grad *grad, Value *a)
{
    return build1(&grad->builder, OP_neg, a);
}

static Value *scaled(Grad *grad, Value *a, double factor)
{
    return product(grad, a, number_of(grad, a->type, factor));
}

/* `a` where the condition holds, else `b`; NULL is zero. */
static Value *choice(Grad *grad, Value *condition, Value *a, Value *b)
{
    Value *zero = number_of(grad, a ? a->type : b->type, 0);
    return build3(&grad->builder, OP_select, condition, a ? a : zero, b ? b : zero);
}

static Value *compare(Grad *grad, const char *predicate, Value *a, Value *b)
{
    return build_cmp(&grad->builder, predicate, a, b);
}

static Value *compare_zero(Grad *grad, const char *predicate, Value *a)
{
    return compare(grad, predicate, a, number_of(grad, a->type, 0));
}

Value *partial_add(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    (void)grad, (void)op, (void)operand;
    return adjoint;
}

Value *partial_sub(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    (void)op;
    return operand == 0 ? adjoint : negative(grad, adjoint);
}

Value *partial_mul(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    return product(grad, adjoint, primal(grad, op->operands[1 - operand]));
}

/* a / b; where that is rounded to fewer bits than an adjoint has, as it was before. */
static Value *ratio(Grad *grad, const Op *op)
{
    const DType dtype = op->results->type->dtype;
    if (dtype_bits(dtype) == dtype_bits(adjoint_dtype(dtype))) return primal(grad, op->results);
    return quotient(grad, primal(grad, operand(op, a)), primal(grad, operand(op, b)));
}

/* Of a / b: 1 / b, and -(a / b) / b. */
Value *partial_div(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    Value *by = quotient(grad, adjoint, primal(grad, operand(op, b)));
    return operand == 0 ? by : negative(grad, product(grad, by, ratio(grad, op)));
}

/* Of two that are equal it is the second one's; of a number and a NaN that of what the result is.
 */
static Value *partial_choice(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    Value *is_first = compare(grad, "ne", primal(grad, op->results), primal(grad, operand(op, b)));
    return operand == 0 ? choice(grad, is_first, adjoint, NULL)
                        : choice(grad, is_first, NULL, adjoint);
}

Value *partial_min(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    return partial_choice(grad, op, operand, adjoint);
}

Value *partial_max(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    return partial_choice(grad, op, operand, adjoint);
}

Value *partial_neg(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    (void)op, (void)operand;
    return negative(grad, adjoint);
}

Value *partial_abs(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    (void)operand;
    Value *is_negative = compare_zero(grad, "lt", primal(grad, operand(op, a)));
    return choice(grad, is_negative, negative(grad, adjoint), adjoint);
}

Value *partial_sqrt(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    (void)operand;
    return quotient(grad, scaled(grad, adjoint, 0.5), primal(grad, op->results));
}

Value *partial_fma(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    return operand == 2 ? adjoint : partial_mul(grad, op, operand, adjoint);
}

Value *partial_select(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    Value *condition = replayed(grad, operand(op, condition));
    return operand == 1 ? choice(grad, condition, adjoint, NULL)
                        : choice(grad, condition, NULL, adjoint);
}

Value *partial_cast(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    (void)grad, (void)op, (void)operand;
    return adjoint;
}

/* Operands come in pairs behind the first: what it depends on, and its slope there. */
Value *partial_slope(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    if (operand % 2 == 0) return NULL;
    return product(grad, adjoint, primal(grad, op->operands[operand + 1]));
}

/* ---- the GPU's quick instructions ---- */

static Value *approximate(Grad *grad, const char *function, Value *a)
{
    Value *result = build1(&grad->builder, OP_approx, a);
    op_set_text(result->op, ATTR_function, intern_text(grad->kernel->session->names, function));
    return result;
}

static Value *slope_of_ex2(Grad *grad, Value *a, Value *y)
{
    (void)a;
    return scaled(grad, y, 0.693147180559945309);
}

static Value *slope_of_lg2(Grad *grad, Value *a, Value *y)
{
    (void)y;
    return quotient(grad, number_of(grad, a->type, 1.442695040888963407), a);
}

static Value *slope_of_rcp(Grad *grad, Value *a, Value *y)
{
    (void)a;
    return negative(grad, product(grad, y, y));
}

static Value *slope_of_sqrt(Grad *grad, Value *a, Value *y)
{
    return quotient(grad, number_of(grad, a->type, 0.5), y);
}

static Value *slope_of_rsqrt(Grad *grad, Value *a, Value *y)
{
    return quotient(grad, scaled(grad, y, -0.5), a);
}

static Value *slope_of_sin(Grad *grad, Value *a, Value *y)
{
    (void)y;
    return approximate(grad, "cos", a);
}

static Value *slope_of_cos(Grad *grad, Value *a, Value *y)
{
    (void)y;
    return negative(grad, approximate(grad, "sin", a));
}

static Value *slope_of_tanh(Grad *grad, Value *a, Value *y)
{
    (void)a;
    Value *one = number_of(grad, y->type, 1);
    return build2(&grad->builder, OP_sub, one, product(grad, y, y));
}

Value *partial_approx(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    static const struct {
        const char *function;
        Value *(*slope)(Grad *grad, Value *a, Value *y);
    } slopes[] = {{"ex2", slope_of_ex2},   {"lg2", slope_of_lg2},     {"rcp", slope_of_rcp},
                  {"sqrt", slope_of_sqrt}, {"rsqrt", slope_of_rsqrt}, {"sin", slope_of_sin},
                  {"cos", slope_of_cos},   {"tanh", slope_of_tanh}};
    const char *function = op_attr(op, ATTR_function)->text;
    if (op->operand_count == 2) return partial_div(grad, op, operand, adjoint);
    for (size_t i = 0; i < sizeof slopes / sizeof *slopes; i++)
        if (strcmp(slopes[i].function, function) == 0) {
            Value *a = primal(grad, operand(op, a)), *y = primal(grad, op->results);
            return product(grad, adjoint, slopes[i].slope(grad, a, y));
        }
    grad_refuse(grad, op, "the derivative of this instruction is not known");
    return NULL;
}

/* ---- bits ---- */

static bool takes_bits(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_bitcast && dtype_is_float(operand(op, a)->type->dtype);
}

static bool is_of_numbers(const Value *value);

/* Of what a branch or loop makes: what is done in it, or what goes into it. */
static ValueAnswer ask_region(const Op *op)
{
    return op->code == OP_launch || op_find_within(op, takes_bits, NULL) ? VALUE_FOUND
                                                                         : VALUE_OPERANDS;
}

static ValueAnswer ask_for_numbers(const Value *value, void *context)
{
    (void)context;
    if (value->op && value->op->region_count) return ask_region(value->op);
    if (value->op) return takes_bits(value->op, NULL) ? VALUE_FOUND : VALUE_OPERANDS;
    if (!value->region || ask_region(value->region->parent) == VALUE_FOUND)
        return value->region ? VALUE_FOUND : VALUE_ENOUGH;
    const Op *around = value->region->parent;
    for (int i = 0; i < around->operand_count; i++)
        if (is_of_numbers(around->operands[i])) return VALUE_FOUND;
    return VALUE_ENOUGH;
}

/* Whether bits of numbers are among what the value is made of. */
static bool is_of_numbers(const Value *value)
{
    return value_finds(value, ask_for_numbers, NULL);
}

static bool is_same_size(const Value *a, const Value *b)
{
    return type_same_shape(a->type, b->type) &&
           dtype_bits(a->type->dtype) == dtype_bits(b->type->dtype);
}

/* Bits that are moved about are numbers again. Those that are made of no numbers, as random ones
 * are, are constants. */
void adjoint_bitcast(Grad *grad, Op *op)
{
    const Adjoint both = take_adjoint(grad, op->results);
    Value *a = operand(op, a);
    const bool has_numbers = is_differentiable(a) || is_of_numbers(a);
    if (has_numbers && !is_same_size(a, op->results))
        grad_refuse(grad, op, "it is of the bits of a number");
    else if (has_numbers)
        give_both(grad, a, both);
}

/* ---- other lanes ---- */

static Value *value_of_lane(Grad *grad, Value *value, Value *lane)
{
    Op *op = build_op(&grad->builder, OP_shuffle, 2, (Value *[]){value, lane}, 1, &value->type);
    op_set_text(op, ATTR_mode, intern_text(grad->kernel->session->names, "idx"));
    return op->results;
}

static Value *lane_within_warp(Grad *grad, Value *lane)
{
    return build2(&grad->builder, OP_and, lane,
                  build_const(&grad->builder, lane->type->dtype, WARP_SIZE - 1));
}

/* Which lane a thread's value came from. */
static Value *source_lane(Grad *grad, const Op *shuffle, Value *own)
{
    Value *lane = build_cast(&grad->builder, DTYPE_i32, replayed(grad, operand(shuffle, lane)));
    const bool is_xor = !strcmp(op_attr(shuffle, ATTR_mode)->text, "xor");
    return lane_within_warp(grad, is_xor ? build2(&grad->builder, OP_xor, own, lane) : lane);
}

/* The sum over the lanes whose value came from this one. */
static Value *sum_of_takers(Grad *grad, const Op *shuffle, Value *adjoint)
{
    Value *own = lane_within_warp(grad, thread_of(grad)), *source = source_lane(grad, shuffle, own);
    Value *operands[] = {build_const(&grad->builder, DTYPE_i32, 0),
                         build_const(&grad->builder, DTYPE_i32, WARP_SIZE),
                         build_const(&grad->builder, DTYPE_i32, 1),
                         number_of(grad, adjoint->type, 0)};
    Op *loop = loop_build(&grad->builder, 4, operands);
    Value *lane = loop->regions[0]->arguments[0], *sum = loop->regions[0]->arguments[1];
    const Builder outside = grad->builder;
    grad->builder = builder_at_end(loop->regions[0], outside.span);
    Value *took = compare(grad, "eq", value_of_lane(grad, source, lane), own);
    Value *more = choice(grad, took, value_of_lane(grad, adjoint, lane), NULL);
    sum = build2(&grad->builder, OP_add, sum, more);
    build_op(&grad->builder, OP_yield, 1, &sum, 0, NULL);
    grad->builder = outside;
    return loop->results;
}

void adjoint_shuffle(Grad *grad, Op *op)
{
    const Adjoint both = take_adjoint(grad, op->results);
    const char *mode = op_attr(op, ATTR_mode)->text;
    Value *own = both.parts[PART_OWN];
    if (strcmp(mode, "idx") != 0 && strcmp(mode, "xor") != 0)
        grad_refuse(grad, op, "its lanes are counted from the own one");
    else if (own && dtype_bits(own->type->dtype) != 32)
        grad_refuse(grad, op, "its adjoint has other than 32 bits");
    else
        give_both(grad, operand(op, value),
                  (Adjoint){{both.parts[PART_TOTAL], own ? sum_of_takers(grad, op, own) : NULL}});
}

Value *partial_replayed(Grad *grad, const Op *op, int operand, Value *adjoint)
{
    (void)grad, (void)op;
    return operand ? NULL : adjoint;
}
