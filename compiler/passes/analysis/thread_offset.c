/* thread_offset.c: a number as a part that the threads of a group have in common and an offset of
 * each thread's own, as in `block * 64 + thread`.
 *
 * Where the common part is a multiple of what the number is divided by, and the offsets lie between
 * two multiples of that, the quotient is the same in all threads; so is what a comparison finds
 * that no multiple parts. A sum that may wrap in its type keeps of its common part the power of two
 * that divides it: the type's range ends at multiples of that, so that all offsets below it wrap,
 * or none. */
#include "passes/analysis/thread_offset.h"

#include <string.h>

/* The number is common + offset, exactly. */
typedef struct Offset {
    Wide low, high;   /* the offsets' range */
    Wide multiple;    /* of the common part; 0: it is zero */
    Wide least, most; /* the number's range */
} Offset;

enum { MOST_VALUES = 64 }; /* that are looked at for one number: one may be met by many ways */

typedef struct Walk {
    FactTable *facts;
    ThreadGroup threads;
    ValueIsCommon *is_common;
    void *context;
    int left;
    bool has_thread; /* somewhere in it is the thread's index */
    bool asks;       /* what is not understood is asked about; else it is taken to be common */
} Walk;

static bool offset_of(Walk *walk, const Value *value, Offset *out);

/* ---- numbers ---- */

static Wide floor_quotient(Wide a, Wide b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool is_power_of_two(Wide number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

static bool is_number(DType dtype)
{
    return dtype_is_integer(dtype) && dtype != DTYPE_b1 && dtype_bits(dtype) >= 8;
}

static Wide greatest_divisor(Wide a, Wide b)
{
    while (b) {
        const Wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool is_small(Wide number)
{
    const Wide limit = (Wide)1 << 63;
    return number > -limit && number < limit;
}

/* As a number of the type, in which it may wrap. */
static bool fit(DType dtype, Offset *offset)
{
    const int bits = dtype_bits(dtype);
    const bool is_signed = dtype_is_signed(dtype);
    const Wide least = is_signed ? -((Wide)1 << (bits - 1)) : 0,
               most = least + ((Wide)1 << bits) - 1;
    if (!is_small(offset->low) || !is_small(offset->high) || !is_small(offset->multiple))
        return false;
    if (offset->least >= least && offset->most <= most) return true;
    const Wide half = (Wide)1 << (bits - 1), power = offset->multiple & -offset->multiple;
    const Wide multiple = power == 0 || power > half ? half : power;
    const Wide below = floor_quotient(offset->low, multiple);
    if (floor_quotient(offset->high, multiple) != below) return false;
    *offset = (Offset){offset->low - below * multiple, offset->high - below * multiple, multiple,
                       least, most};
    return true;
}

/* ---- operators ---- */

static bool sum_of(Walk *walk, const Op *op, Offset *out)
{
    Offset a, b;
    if (!offset_of(walk, operand(op, a), &a) || !offset_of(walk, operand(op, b), &b)) return false;
    const Wide multiple = greatest_divisor(a.multiple, b.multiple);
    *out = op->code == OP_add ? (Offset){a.low + b.low, a.high + b.high, multiple,
                                         a.least + b.least, a.most + b.most}
                              : (Offset){a.low - b.high, a.high - b.low, multiple, a.least - b.most,
                                         a.most - b.least};
    return true;
}

static bool scaled(Walk *walk, const Value *value, int64_t by, Offset *out)
{
    Offset a;
    if (by <= 0 || by > INT32_MAX || !offset_of(walk, value, &a)) return false;
    *out = (Offset){a.low * by, a.high * by, a.multiple * by, a.least * by, a.most * by};
    return true;
}

static bool product_of(Walk *walk, const Op *op, Offset *out)
{
    int64_t by;
    if (value_constant(operand(op, b), &by)) return scaled(walk, operand(op, a), by, out);
    return value_constant(operand(op, a), &by) && scaled(walk, operand(op, b), by, out);
}

static bool shift_of(Walk *walk, const Op *op, Offset *out)
{
    int64_t by;
    return value_constant(operand(op, b), &by) && by >= 0 && by < 31 &&
           scaled(walk, operand(op, a), (int64_t)1 << by, out);
}

/* Moves whole units from the offsets to the common part, so that the offsets are within one: a unit
 * is the greatest divisor of the common part and of `by`. 0: they are not within one. */
static Wide divide_together(Offset *a, Wide by)
{
    if (by <= 0) return 0;
    const Wide unit = greatest_divisor(a->multiple, by),
               below = floor_quotient(a->low, unit) * unit;
    if (a->high - below >= unit) return 0;
    a->low -= below;
    a->high -= below;
    return unit;
}

/* Rounded down. */
static bool floor_of(Offset a, Wide by, Offset *out)
{
    const Wide least = by > 0 ? floor_quotient(a.least, by) : 0,
               most = by > 0 ? floor_quotient(a.most, by) : 0;
    if (by > 0 && a.multiple % by == 0)
        *out = (Offset){floor_quotient(a.low, by), floor_quotient(a.high, by), a.multiple / by,
                        least, most};
    else if (divide_together(&a, by) != 0)
        *out = (Offset){0, 0, 1, least, most};
    else
        return false;
    return true;
}

static bool remainder_of(Offset a, Wide by, Offset *out)
{
    const Wide unit = divide_together(&a, by);
    if (unit != 0 && unit < by)
        *out = (Offset){a.low, a.high, unit, a.low, by - unit + a.high};
    else if (unit != 0)
        *out = (Offset){a.low, a.high, 0, a.low, a.high};
    else if (by > 0 && a.multiple % by == 0)
        *out = (Offset){0, by - 1, 0, 0, by - 1};
    else
        return false;
    return true;
}

/* What of it is above the remainder. */
static bool rounded_of(Offset a, Wide by, Offset *out)
{
    if (!floor_of(a, by, out)) return false;
    *out = (Offset){out->low * by, out->high * by, out->multiple * by, out->least * by,
                    out->most * by};
    return true;
}

static bool division_of(Walk *walk, const Op *op, Offset *out)
{
    Offset a;
    int64_t by;
    if (!value_constant(operand(op, b), &by) || !offset_of(walk, operand(op, a), &a)) return false;
    switch ((int)op->code) {
    case OP_shr: return by >= 0 && by < 31 && floor_of(a, (Wide)1 << by, out);
    case OP_floordiv: return floor_of(a, by, out);
    case OP_div: return a.least >= 0 && floor_of(a, by, out);
    case OP_floormod: return remainder_of(a, by, out);
    default: return a.least >= 0 && remainder_of(a, by, out);
    }
}

/* With a mask of the lowest bits, or of all but these. */
static bool mask_of(Walk *walk, const Op *op, Offset *out)
{
    Offset a;
    int64_t mask;
    if (!value_constant(operand(op, b), &mask) || !offset_of(walk, operand(op, a), &a))
        return false;
    if (mask >= 0 && is_power_of_two((Wide)mask + 1)) return remainder_of(a, (Wide)mask + 1, out);
    const Wide others =
        mask < 0 ? -(Wide)mask : ((Wide)1 << dtype_bits(op->results[0].type->dtype)) - mask;
    return is_power_of_two(others) && rounded_of(a, others, out);
}

/* x - x % n */
static bool is_rounded(const Op *op, int64_t *by)
{
    const Op *rest = op->code == OP_sub ? operand(op, b)->op : NULL;
    if (!rest || (!op_has(rest, REMAINDER) && rest->code != OP_and) ||
        operand(rest, a) != operand(op, a) || !value_constant(operand(rest, b), by))
        return false;
    if (rest->code != OP_and) return true;
    *by += 1;
    return is_power_of_two(*by);
}

static bool difference_of(Walk *walk, const Op *op, Offset *out)
{
    Offset a;
    int64_t by;
    if (!is_rounded(op, &by)) return sum_of(walk, op, out);
    return offset_of(walk, operand(op, a), &a) &&
           (operand(op, b)->op->code != OP_rem || a.least >= 0) && rounded_of(a, by, out);
}

static Wide lesser(Wide a, Wide b)
{
    return a < b ? a : b;
}

static Wide larger(Wide a, Wide b)
{
    return a > b ? a : b;
}

static bool extreme_of(Walk *walk, const Op *op, Offset *out)
{
    Offset a, b;
    if (!offset_of(walk, operand(op, a), &a) || !offset_of(walk, operand(op, b), &b) ||
        a.multiple || b.multiple)
        return false;
    const bool least = op->code == OP_min;
    const Wide low = least ? lesser(a.low, b.low) : larger(a.low, b.low);
    const Wide high = least ? lesser(a.high, b.high) : larger(a.high, b.high);
    *out = (Offset){low, high, 0, low, high};
    return true;
}

static bool cast_of(Walk *walk, const Op *op, Offset *out)
{
    return is_number(operand(op, a)->type->dtype) && offset_of(walk, operand(op, a), out);
}

static bool thread_of(Walk *walk, const Op *op, Offset *out)
{
    const Wide low = walk->threads.begin, high = low + walk->threads.count - 1;
    (void)op;
    walk->has_thread = true;
    *out = (Offset){low, high, 0, low, high};
    return true;
}

typedef bool OffsetRule(Walk *walk, const Op *op, Offset *out);

static OffsetRule *const rules[OP_COUNT] = {
    [OP_thread_id] = thread_of, [OP_add] = sum_of,           [OP_sub] = difference_of,
    [OP_mul] = product_of,      [OP_shl] = shift_of,         [OP_div] = division_of,
    [OP_rem] = division_of,     [OP_floordiv] = division_of, [OP_floormod] = division_of,
    [OP_shr] = division_of,     [OP_and] = mask_of,          [OP_min] = extreme_of,
    [OP_max] = extreme_of,      [OP_cast] = cast_of,
};

/* ---- values ---- */

/* One that all threads have. */
static bool common_of(Walk *walk, const Value *value, Offset *out)
{
    if (walk->asks && !walk->is_common(walk->context, value)) return false;
    const Facts facts = facts_of(walk->facts, value);
    const bool is_wide = value->type->dtype == DTYPE_u64;
    *out = (Offset){0, 0, facts.multiple, is_wide ? 0 : facts.low,
                    is_wide ? ((Wide)1 << 64) - 1 : facts.high};
    return true;
}

static bool offset_of(Walk *walk, const Value *value, Offset *out)
{
    int64_t number;
    if (value->type->kind != TYPE_SCALAR || !is_number(value->type->dtype) || --walk->left < 0)
        return false;
    if (value_constant(value, &number) && (number >= 0 || dtype_is_signed(value->type->dtype))) {
        *out = (Offset){number, number, 0, number, number};
        return true;
    }
    const bool had_thread = walk->has_thread;
    OffsetRule *rule = value->op ? rules[value->op->code] : NULL;
    if (rule && rule(walk, value->op, out) && fit(value->type->dtype, out)) return true;
    walk->has_thread = had_thread;
    return common_of(walk, value, out);
}

/* ---- comparisons ---- */

static bool comparison_is_common(Walk *walk, const Op *op)
{
    Offset a, b;
    const char *predicate = op_attr(op, ATTR_predicate)->text;
    const bool touches = strcmp(predicate, "le") == 0 || strcmp(predicate, "gt") == 0;
    if ((!touches && strcmp(predicate, "lt") != 0 && strcmp(predicate, "ge") != 0) ||
        !offset_of(walk, operand(op, a), &a) || !offset_of(walk, operand(op, b), &b))
        return false;
    const Wide multiple = greatest_divisor(a.multiple, b.multiple), low = a.low - b.high - touches,
               high = a.high - b.low - touches;
    if (multiple == 0) return (low < 0) == (high < 0);
    return floor_quotient(low, multiple) == floor_quotient(high, multiple);
}

static bool is_common(Walk *walk, const Op *op)
{
    Offset offset;
    if (op->code == OP_cmp) return comparison_is_common(walk, op);
    return rules[op->code](walk, op, &offset) && fit(op->results[0].type->dtype, &offset) &&
           offset.low == offset.high;
}

bool offset_may_vanish(const Op *op)
{
    static const bool CODES[OP_COUNT] = {
        [OP_div] = true, [OP_floordiv] = true, [OP_shr] = true,
        [OP_and] = true, [OP_sub] = true,      [OP_cmp] = true,
    };
    const Type *type = CODES[op->code] ? operand(op, a)->type : NULL;
    return type && type->kind == TYPE_SCALAR && is_number(type->dtype);
}

bool offset_is_common(FactTable *facts, const Op *op, ThreadGroup threads, ValueIsCommon *ask,
                      void *context)
{
    Walk walk = {.facts = facts,
                 .threads = threads,
                 .is_common = ask,
                 .context = context,
                 .left = MOST_VALUES};
    if (threads.count < 1 || !is_common(&walk, op) || !walk.has_thread) return false;
    walk.left = MOST_VALUES;
    walk.asks = true;
    return is_common(&walk, op);
}

/* ---- loops ---- */

/* How often the step goes into what is between begin and end. */
static bool iterations_are_common(Walk *walk, const Op *loop)
{
    Offset begin, end, iterations;
    int64_t step;
    walk->left = MOST_VALUES;
    if (!value_constant(operand(loop, step), &step) || step <= 0 ||
        !offset_of(walk, operand(loop, begin), &begin) ||
        !offset_of(walk, operand(loop, end), &end))
        return false;
    const Offset between = {begin.low - end.high, begin.high - end.low,
                            greatest_divisor(begin.multiple, end.multiple), begin.least - end.most,
                            begin.most - end.least};
    return floor_of(between, step, &iterations) && iterations.low == iterations.high;
}

bool iterations_are_equal(FactTable *facts, const Op *loop, ThreadGroup threads, ValueIsCommon *ask,
                          void *context)
{
    Walk walk = {.facts = facts, .threads = threads, .is_common = ask, .context = context};
    if (threads.count < 1 || !iterations_are_common(&walk, loop)) return false;
    walk.asks = true;
    return iterations_are_common(&walk, loop);
}
