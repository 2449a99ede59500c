/* quotients.c: many divisions by one number, and many reciprocals.
 *
 * A thread that divides the elements which it has of a tile by the same f32 divides 1 by it once.
 * With y = 1 / d, rounded, q = a * y and the rest r = a - q * d, which fma gives exactly,
 * q + r * y is a / d, rounded (Markstein, Computation of elementary functions on the IBM RISC
 * System/6000 processor, 1990) unless something overflows or loses bits as a subnormal number. So
 * the sizes of all numbers are looked at first; where one is out of bounds, all are divided. With
 * -r, which is q * d - a, for r a zero keeps its sign, if d is above zero.
 *
 * Reciprocals of several numbers, as of a sigmoid's elements, are what one step of Newton makes of
 * the GPU's quick one: y = rcp(x), y + y * (1 - x * y), which ptxas makes each of, too, behind a
 * test and a branch of its own. Here one test is for all, so that they wait for each other no more.
 *
 * Of what is divided by a constant some sizes are known: of what is computed of whole numbers.
 * There the test is for nothing, whose branch keeps what is on one side of it, as loads, from the
 * other.
 */
#include "passes/pass.h"
#include "ir/op_vec.h"

#include <math.h>
#include <string.h>

/* Magnitudes of what is divided, and divisors, for which the quotient is a normal number,
 * within 2^-120 and 2^120, and the rest, of at most 24 bits of the 47 below the number's first,
 * too. Between them a power of two more or less in either scales all steps alike. */
static const double LEAST = 0x1p-60, MOST = 0x1p60;
/* And those of which the reciprocal is a normal number, as they are. */
static const double LEAST_INVERTED = 0x1p-126, MOST_INVERTED = 0x1p125;

static bool divides_by(const Op *op, const Value *divisor)
{
    return op && op->code == OP_div && operand(op, b) == divisor;
}

/* A division by another number, of none that the run gives: rows of a tile have one each. */
static bool is_of_others(const Op *op, const Value *divisor)
{
    return op->code == OP_div && op->results[0].type->dtype == DTYPE_f32 &&
           !divides_by(operand(op, a)->op, divisor) && !divides_by(operand(op, b)->op, divisor);
}

/* The divisions from `op` on that have its divisor, with none but divisions between; one of what
 * such a division gave belongs to no run, but may begin one. `end` is the last of all. */
static OpVec run_from(Arena *arena, Op *op, Op **end)
{
    OpVec run = {0};
    Value *divisor = operand(op, b);
    vec_push(arena, &run, op);
    *end = op;
    for (op = op->next; op; op = op->next) {
        const bool follows = divides_by(op, divisor) && !divides_by(operand(op, a)->op, divisor);
        if (!follows && op->code != OP_const && !is_of_others(op, divisor)) break;
        if (follows) vec_push(arena, &run, op);
        if (op->code == OP_div) *end = op;
    }
    return run;
}

/* ptxas knows the reciprocal of a constant: a test more for all, and a second way for each, were no
 * gain. On an H200 1.05 of the time without where registers sufficed, 0.8 where they did not. */
static bool is_by_constant(const Op *op)
{
    const Op *divisor = operand(op, b)->op;
    return divisor && divisor->code == OP_const;
}

/* ---- numbers of known sizes ---- */

/* Multiples of 2^least, no greater than 2^most: zero, or not less than 2^least. Rounding to f32
 * takes nothing away from a multiple but more of its last bits. */
typedef struct {
    int least, most;
} Exponents;

enum { SIZED_DEPTH = 6 }; /* ops from a whole number to what is divided */

/* Sizes that f32 has as normal numbers, and that a quotient is found without a test for. */
static bool is_moderate(Exponents x)
{
    return x.least >= ilogb(LEAST) && x.most <= ilogb(MOST);
}

static bool sized_constant(double number, Exponents *out)
{
    if (number == 0 || !isfinite(number)) return false;
    int exponent;
    double fraction = frexp(number, &exponent);
    *out = (Exponents){exponent, exponent};
    for (; fraction != trunc(fraction); fraction *= 2) out->least--;
    return is_moderate(*out);
}

static bool sized_cast(const Value *from, Exponents *out)
{
    const DType dtype = from->type->dtype;
    if (!dtype_is_integer(dtype) || dtype_bits(dtype) > 32) return false;
    *out = (Exponents){0, dtype_bits(dtype)};
    return true;
}

static Exponents product_of(Exponents a, Exponents b)
{
    return (Exponents){a.least + b.least, a.most + b.most};
}

static Exponents sum_of(Exponents a, Exponents b)
{
    return (Exponents){a.least < b.least ? a.least : b.least,
                       (a.most > b.most ? a.most : b.most) + 1};
}

static bool sized(const Value *number, int depth, Exponents *out)
{
    const Op *op = number->op;
    if (!op || depth == 0 || number->type->dtype != DTYPE_f32) return false;
    if (op->code == OP_const) return sized_constant(op_attr(op, ATTR_number)->number, out);
    if (op->code == OP_cast) return sized_cast(operand(op, a), out);
    Exponents of[3];
    for (int i = 0; i < op->operand_count; i++)
        if (i == 3 || !sized(op->operands[i], depth - 1, &of[i])) return false;
    switch (op->code) {
    case OP_neg:
    case OP_abs: *out = of[0]; break;
    case OP_add:
    case OP_sub: *out = sum_of(of[0], of[1]); break;
    case OP_mul: *out = product_of(of[0], of[1]); break;
    case OP_fma: *out = sum_of(product_of(of[0], of[1]), of[2]); break;
    default: return false;
    }
    return is_moderate(*out);
}

/* ---- tests ---- */

static Value *is_within(Builder *at, Value *least, double low, Value *most, double high)
{
    Value *above = build_cmp(at, "ge", least, build_number(at, DTYPE_f32, low)),
          *below = build_cmp(at, "le", most, build_number(at, DTYPE_f32, high));
    return build2(at, OP_and, above, below);
}

/* Of all of them, in pairs, so that few wait for each other. */
static Value *combined(Builder *at, Arena *arena, OpCode code, Value *const *values, size_t count)
{
    Value **left = arena_new_array(arena, Value *, count);
    memcpy(left, values, sizeof *left * count);
    for (; count > 1; count = (count + 1) / 2)
        for (size_t i = 0; i < count / 2; i++)
            left[i] = build2(at, code, left[i], left[count - 1 - i]);
    return left[0];
}

/* The bits of a magnitude, less one, in order of the magnitudes, but that zero comes last: of the
 * bits without the sign, twice as much. */
static uint32_t rank_of(float size)
{
    uint32_t bits;
    memcpy(&bits, &size, sizeof bits);
    return 2 * bits - 1;
}

static Value *ranked(Builder *at, Value *number)
{
    const Type *word = type_scalar(at->kernel->types, DTYPE_u32);
    Value *bits = build_op(at, OP_bitcast, 1, &number, 1, &word)->results;
    return build2(at, OP_sub, build2(at, OP_add, bits, bits), build_const(at, DTYPE_u32, 1));
}

/* Whether the numbers are such, or zero, as masks and what activations cut off leave. None is
 * greater than the sum of all sizes, which takes half as long as the greatest: additions are the
 * unit's that multiplies, of which there are twice as many. With a NaN among them nothing is known
 * of the others, so that the division itself does them all. */
static Value *are_fine(Builder *at, Arena *arena, const OpVec *run)
{
    enum { CHAINS = 4 }; /* of minima that do not wait for each other */
    Value **sizes = arena_new_array(arena, Value *, run->count), *ranks[CHAINS];
    for (size_t i = 0; i < run->count; i++) {
        Value *a = operand(run->data[i], a), *rank = ranked(at, a), **least = &ranks[i % CHAINS];
        *least = i < CHAINS ? rank : build2(at, OP_min, *least, rank);
        sizes[i] = build1(at, OP_abs, a);
    }
    const size_t chains = run->count < CHAINS ? run->count : CHAINS;
    Value *divisor = operand(run->data[0], b),
          *most = combined(at, arena, OP_add, sizes, run->count);
    Value *least = build_cmp(at, "ge", combined(at, arena, OP_min, ranks, chains),
                             build_const(at, DTYPE_u32, rank_of((float)LEAST)));
    Value *fine = build2(at, OP_and, is_within(at, divisor, LEAST, most, MOST),
                         build_cmp(at, "le", divisor, build_number(at, DTYPE_f32, MOST)));
    return build2(at, OP_and, fine, least);
}

static Value *have_reciprocals(Builder *at, Arena *arena, const OpVec *run)
{
    Value **sizes = arena_new_array(arena, Value *, run->count);
    for (size_t i = 0; i < run->count; i++) sizes[i] = build1(at, OP_abs, operand(run->data[i], b));
    Value *least = combined(at, arena, OP_min, sizes, run->count),
          *most = combined(at, arena, OP_add, sizes, run->count);
    return is_within(at, least, LEAST_INVERTED, most, MOST_INVERTED);
}

static bool is_reciprocal(const Op *op)
{
    const Op *one = op->code == OP_div ? operand(op, a)->op : NULL;
    return one && one->code == OP_const && op->results[0].type->kind == TYPE_SCALAR &&
           op->results[0].type->dtype == DTYPE_f32 && op_attr(one, ATTR_number)->number == 1;
}

/* The reciprocals from `op` on, of numbers that none of them is, with none but divisions between.
 */
static OpVec reciprocals_from(Arena *arena, Op *op, Op **end)
{
    OpVec run = {0};
    Map found = {0};
    for (; op && run.count < COST_RECIPROCALS; op = op->next) {
        if (op->code == OP_const) continue;
        if (op->code != OP_div || map_has(&found, operand(op, a)->op) ||
            map_has(&found, operand(op, b)->op))
            break;
        if (!is_reciprocal(op)) continue;
        vec_push(arena, &run, op);
        map_add(arena, &found, op);
        *end = op;
    }
    return run;
}

static void build_yield(Builder *at, Value **values, size_t count)
{
    build_op(at, OP_yield, (int)count, values, 0, NULL);
}

static Value *build_quotient(Builder *at, Value *a, Value *divisor, Value *inverse)
{
    Value *quotient = build2(at, OP_mul, a, inverse);
    Value *excess = build3(at, OP_fma, quotient, divisor, build1(at, OP_neg, a));
    return build3(at, OP_fma, build1(at, OP_neg, excess), inverse, quotient);
}

static void build_quick(Region *region, const OpVec *run, Value **values)
{
    Builder at = builder_at_end(region, run->data[0]->span);
    Value *divisor = operand(run->data[0], b);
    Value *inverse = build2(&at, OP_div, build_number(&at, DTYPE_f32, 1), divisor);
    for (size_t i = 0; i < run->count; i++)
        values[i] = build_quotient(&at, operand(run->data[i], a), divisor, inverse);
    build_yield(&at, values, run->count);
}

static void build_inverses(Region *region, const OpVec *run, Value **values)
{
    Builder at = builder_at_end(region, run->data[0]->span);
    Value *one = build_number(&at, DTYPE_f32, 1);
    for (size_t i = 0; i < run->count; i++) {
        Value *x = operand(run->data[i], b), *near = build1(&at, OP_approx, x);
        op_set_text(near->op, ATTR_function, intern_text(region->kernel->session->names, "rcp"));
        Value *rest = build3(&at, OP_fma, build1(&at, OP_neg, x), near, one);
        values[i] = build3(&at, OP_fma, near, rest, near);
    }
    build_yield(&at, values, run->count);
}

static void build_plain(Region *region, const OpVec *run, Value **values)
{
    Builder at = builder_at_end(region, run->data[0]->span);
    for (size_t i = 0; i < run->count; i++)
        values[i] = build2(&at, OP_div, operand(run->data[i], a), operand(run->data[i], b));
    build_yield(&at, values, run->count);
}

/* Behind `end`, so that it parts no other run. */
static Op *replace(Kernel *kernel, const OpVec *run, Op *end, bool inverts)
{
    Arena *arena = kernel->arena;
    Builder at = builder_after(end);
    at.span = run->data[0]->span;
    Value *fine = inverts ? have_reciprocals(&at, arena, run) : are_fine(&at, arena, run);
    const Type **types = arena_new_array(arena, const Type *, run->count);
    Value **values = arena_new_array(arena, Value *, run->count);
    for (size_t i = 0; i < run->count; i++) types[i] = run->data[i]->results[0].type;
    Op *branch = build_op(&at, OP_if, 1, &fine, (int)run->count, types);
    (inverts ? build_inverses : build_quick)(branch->regions[0], run, values);
    build_plain(branch->regions[1], run, values);
    for (size_t i = 0; i < run->count; i++) {
        value_replace(&run->data[i]->results[0], &branch->results[i]);
        op_erase(run->data[i]);
    }
    return branch;
}

static bool is_in(const Op *op, const OpVec *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->data[i] == op) return true;
    return false;
}

/* What is divided by a negative constant is divided by its opposite with the other sign, so that
 * zero keeps it. */
static bool divide_untested(Op *op)
{
    Exponents sizes;
    if (!is_by_constant(op) || !sized(operand(op, b), 1, &sizes) ||
        !sized(operand(op, a), SIZED_DEPTH, &sizes))
        return false;
    const double by = op_attr(operand(op, b)->op, ATTR_number)->number;
    Builder at = builder_before(op);
    at.span = op->span;
    Value *a = by < 0 ? build1(&at, OP_neg, operand(op, a)) : operand(op, a);
    value_replace(op->results, build_quotient(&at, a, build_number(&at, DTYPE_f32, fabs(by)),
                                              build_number(&at, DTYPE_f32, (float)(1 / fabs(by)))));
    op_erase(op);
    return true;
}

/* Other runs may have begun behind the first division, which is gone: their divisions come next. */
static void look(Kernel *kernel, Region *region, Map *made)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        for (int i = 0; i < op->region_count && !map_has(made, op); i++)
            look(kernel, op->regions[i], made);
        if (op->code != OP_div || op->results[0].type->kind != TYPE_SCALAR ||
            op->results[0].type->dtype != DTYPE_f32)
            continue;
        if (divide_untested(op)) continue;
        Op *end = op;
        OpVec run = {0};
        if (is_reciprocal(op)) run = reciprocals_from(kernel->arena, op, &end);
        const bool inverts = run.count >= COST_QUOTIENTS;
        if (!inverts && !is_by_constant(op)) run = run_from(kernel->arena, op, &end);
        if (run.count < COST_QUOTIENTS) continue;
        while (next && is_in(next, &run)) next = next->next;
        Op *branch = replace(kernel, &run, end, inverts);
        map_set(kernel->arena, made, branch, branch);
    }
}

bool pass_quotients(Kernel *kernel, PassContext *context)
{
    Map made = {0};
    (void)context;
    kernel_each_launch (op, kernel) look(kernel, op->regions[0], &made);
    return true;
}
