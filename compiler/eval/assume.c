/* assume.c: the author's word about run-time integers. What concerns the arguments alone is checked
 * at the call, and what concerns the device by the emulator. */
#include "eval/builtins.h"
#include "eval/kernel.h"

#include <string.h>

typedef struct Fact {
    Value *value;
    int64_t multiple, low, high;
    Value *limit; /* value + gap <= limit, if there is one */
    int64_t gap;
} Fact;

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b, result;
    while (y != 0) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return __builtin_mul_overflow(a / x, b, &result) ? a : result;
}

static bool is_integer(const Value *value)
{
    return value->type->kind == TYPE_SCALAR && dtype_is_integer(value->type->dtype);
}

/* The text of the call. */
static Name text_of(Eval *eval, Span at)
{
    size_t length = 0;
    const Place place = source_place(at.source, at.begin);
    const char *line = source_line(at.source, place.line, &length);
    const size_t from = place.column - 1, most = at.end - at.begin;
    const bool fits = from + most <= length; /* on one line, without wide characters before it */
    return intern_printf(eval->session->names, "%.*s does not hold", fits ? (int)most : 13,
                         fits ? line + from : "what is assumed");
}

static void build_fact(Builder *builder, const Fact *fact, Name text)
{
    Value *operands[2] = {fact->value, fact->limit};
    Op *op = build_op(builder, OP_assume, fact->limit != NULL ? 2 : 1, operands, 0, NULL);
    op_set_int(op, ATTR_multiple, fact->multiple);
    if (fact->low != INT64_MIN) op_set_int(op, ATTR_low, fact->low);
    if (fact->high != INT64_MAX) op_set_int(op, ATTR_high, fact->high);
    if (fact->limit != NULL) op_set_int(op, ATTR_gap, fact->gap);
    op_set_text(op, ATTR_text, text);
}

/* A multiple of a parameter is what variants are made of. */
static bool note_multiple(Eval *eval, const Fact *fact)
{
    Parameter *parameter = kernel_parameter_of(eval->staging->kernel, fact->value);
    if (parameter == NULL || fact->multiple == 1) return false;
    parameter->multiple = common_multiple(parameter->multiple, fact->multiple);
    return true;
}

static bool add_fact(Eval *eval, const Fact *fact, Span at)
{
    if (is_integer(fact->value) && (fact->limit == NULL || is_integer(fact->limit)) &&
        !note_multiple(eval, fact))
        build_fact(&eval->builder, fact, text_of(eval, at));
    return true;
}

/* ---- conditions, as they were staged ---- */

static Fact fact_of(Value *value)
{
    return (Fact){.value = value, .multiple = 1, .low = INT64_MIN, .high = INT64_MAX};
}

/* value % multiple == 0 */
static bool assume_rest(Eval *eval, const Value *rest, Span at, bool *known)
{
    int64_t multiple;
    const Op *op = rest->op;
    *known = op != NULL && (op->code == OP_floormod || op->code == OP_rem) &&
             value_constant(op->operands[1], &multiple) && multiple > 0;
    if (!*known) return true;
    Fact fact = fact_of(op->operands[0]);
    fact.multiple = multiple;
    return add_fact(eval, &fact, at);
}

/* a + gap <= b */
static bool assume_order(Eval *eval, Value *a, Value *b, int64_t gap, Span at)
{
    int64_t number;
    Fact fact = fact_of(a);
    if (value_constant(b, &number)) {
        if (__builtin_sub_overflow(number, gap, &fact.high)) return true;
    } else if (value_constant(a, &number)) {
        fact.value = b;
        if (__builtin_add_overflow(number, gap, &fact.low)) return true;
    } else {
        fact.limit = b;
        fact.gap = gap;
    }
    return add_fact(eval, &fact, at);
}

static bool assume_compared(Eval *eval, const Op *op, Span at)
{
    const char *predicate = op_attr(op, ATTR_predicate)->text;
    Value *a = op->operands[0], *b = op->operands[1];
    int64_t zero;
    if (!is_integer(a)) return true;
    if (strcmp(predicate, "lt") == 0) return assume_order(eval, a, b, 1, at);
    if (strcmp(predicate, "le") == 0) return assume_order(eval, a, b, 0, at);
    if (strcmp(predicate, "gt") == 0) return assume_order(eval, b, a, 1, at);
    if (strcmp(predicate, "ge") == 0) return assume_order(eval, b, a, 0, at);
    if (strcmp(predicate, "eq") != 0) return true;
    bool known = false;
    if (value_constant(b, &zero) && zero == 0 && !assume_rest(eval, a, at, &known)) return false;
    return known || (assume_order(eval, a, b, 0, at) && assume_order(eval, b, a, 0, at));
}

enum { ASSUME_DEPTH = 1000 };

/* What is no comparison of integers tells nothing. */
static bool assume_value(Eval *eval, const Value *value, Map *seen, int depth, Span at)
{
    const Op *op = value->op;
    if (op == NULL || depth == 0 || map_has(seen, value)) return true;
    map_set(eval->staging->kernel->arena, seen, value, seen);
    if (op->code == OP_and)
        return assume_value(eval, op->operands[0], seen, depth - 1, at) &&
               assume_value(eval, op->operands[1], seen, depth - 1, at);
    return op->code != OP_cmp || assume_compared(eval, op, at);
}

Object *core_assume_multiple(Eval *eval, const Bound *bound)
{
    int64_t multiple;
    if (!stage_ready(eval, bound->at) ||
        !object_as_int(eval, bound->values[1], "the multiple", &multiple))
        return NULL;
    if (!object_is_staged(bound->values[0]) || multiple < 1)
        return FAIL(eval, bad_value, bound->at, "a multiple is assumed of run-time integers");
    Fact fact = fact_of(stage_value(eval, bound->values[0]));
    fact.multiple = multiple;
    if (!is_integer(fact.value))
        return FAIL(eval, expected_kind, bound->at, "what is assumed of", "an integer",
                    object_repr(eval, bound->values[0]));
    return add_fact(eval, &fact, bound->at) ? eval->none : NULL;
}

Object *core_assume(Eval *eval, const Bound *bound)
{
    Object *condition = bound->values[0];
    bool truth;
    if (!stage_ready(eval, bound->at)) return NULL;
    if (!object_is_staged(condition)) {
        if (!object_truth(eval, condition, &truth)) return NULL;
        return truth ? eval->none
                     : FAIL(eval, static_assertion, bound->at, ": what is assumed is false");
    }
    Value *value = stage_condition(eval, condition, bound->at);
    Map seen = {0};
    if (value == NULL || !assume_value(eval, value, &seen, ASSUME_DEPTH, bound->at)) return NULL;
    if (in_host_part(eval))
        op_set_text(build_op(&eval->builder, OP_require, 1, &value, 0, NULL), ATTR_text,
                    text_of(eval, bound->at));
    return eval->none;
}
