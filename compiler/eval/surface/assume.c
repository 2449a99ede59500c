/* assume.c: the author's word about run-time integers. What concerns the arguments alone is checked
 * at the call, and what concerns the device by the emulator. */
#include "eval/surface/surface.h"

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
    const Location location = source_location(at.source, at.begin);
    const char *line = source_line(at.source, location.line, &length);
    const size_t from = location.column - 1, most = at.end - at.begin;
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

/* ---- where it is checked ---- */

typedef struct Assumption {
    Eval *eval;
    Span at;
    Map seen;        /* parts of the condition */
    bool is_checked; /* at the call: the part that is looked at */
} Assumption;

/* Where the host comes by, whatever the call's arguments are: the way to here, or to the launch. */
static bool host_builder(Eval *eval, Builder *out)
{
    const Op *around = eval->builder.region->parent;
    *out = eval->builder;
    if (in_host_part(eval)) return true;
    if (around != eval->staging->launch || (eval->parallel != NULL && eval->parallel->mask != NULL))
        return false;
    *out = builder_before(eval->staging->launch);
    out->span = eval->builder.span;
    return true;
}

/* Numbers of the host are checked by the call. */
static bool check_at_call(const Assumption *assumption, Value *condition)
{
    Builder builder;
    Map copied = {0};
    if (!host_builder(assumption->eval, &builder)) return false;
    if (!in_host_part(assumption->eval)) condition = value_on_host(&builder, condition, &copied);
    if (condition == NULL) return false;
    op_set_text(build_op(&builder, OP_require, 1, &condition, 0, NULL), ATTR_text,
                text_of(assumption->eval, assumption->at));
    return true;
}

/* Whether every call comes to the check, and before it launches anything. */
static bool is_first(Eval *eval)
{
    Builder builder;
    const Region *body = eval->staging->kernel->host;
    if (!host_builder(eval, &builder) || builder.region != body) return false;
    for (const Op *op = body->first; op != NULL && op != builder.before; op = op->next)
        if (op->code == OP_launch) return false;
    return true;
}

/* A multiple of a parameter is what variants are made of. */
static bool note_multiple(const Assumption *assumption, const Fact *fact)
{
    Parameter *parameter = kernel_parameter_of(assumption->eval->staging->kernel, fact->value);
    if (parameter == NULL || fact->multiple == 1 || !assumption->is_checked ||
        !is_first(assumption->eval))
        return false;
    parameter->multiple = common_multiple(parameter->multiple, fact->multiple);
    return true;
}

static void add_fact(const Assumption *assumption, const Fact *fact)
{
    Eval *eval = assumption->eval;
    if (is_integer(fact->value) && (fact->limit == NULL || is_integer(fact->limit)) &&
        !note_multiple(assumption, fact))
        build_fact(&eval->builder, fact, text_of(eval, assumption->at));
}

/* ---- conditions, as they were staged ---- */

static Fact fact_of(Value *value)
{
    return (Fact){.value = value, .multiple = 1, .low = INT64_MIN, .high = INT64_MAX};
}

/* value % multiple == 0 */
static bool assume_rest(const Assumption *assumption, const Value *rest)
{
    int64_t multiple;
    const Op *op = rest->op;
    if (op == NULL || !op_has(op, REMAINDER) || !value_constant(operand(op, b), &multiple) ||
        multiple <= 0)
        return false;
    Fact fact = fact_of(operand(op, a));
    fact.multiple = multiple;
    add_fact(assumption, &fact);
    return true;
}

/* a + gap <= b */
static void assume_order(const Assumption *assumption, Value *a, Value *b, int64_t gap)
{
    int64_t number;
    Fact fact = fact_of(a);
    if (value_constant(b, &number)) {
        if (__builtin_sub_overflow(number, gap, &fact.high)) return;
    } else if (value_constant(a, &number)) {
        fact.value = b;
        if (__builtin_add_overflow(number, gap, &fact.low)) return;
    } else {
        fact.limit = b;
        fact.gap = gap;
    }
    add_fact(assumption, &fact);
}

static void assume_compared(const Assumption *assumption, const Op *op)
{
    const char *predicate = op_attr(op, ATTR_predicate)->text;
    Value *a = operand(op, a), *b = operand(op, b);
    if (!is_integer(a)) return;
    if (strcmp(predicate, "lt") == 0) assume_order(assumption, a, b, 1);
    if (strcmp(predicate, "le") == 0) assume_order(assumption, a, b, 0);
    if (strcmp(predicate, "gt") == 0) assume_order(assumption, b, a, 1);
    if (strcmp(predicate, "ge") == 0) assume_order(assumption, b, a, 0);
    if (strcmp(predicate, "eq") != 0) return;
    if (value_is_constant(b, 0) && assume_rest(assumption, a)) return;
    assume_order(assumption, a, b, 0);
    assume_order(assumption, b, a, 0);
}

enum { ASSUME_DEPTH = 1000 };

/* What is no comparison of integers tells nothing. */
static void assume_value(Assumption *assumption, Value *value, int depth)
{
    const Op *op = value->op;
    if (depth == 0 || map_has(&assumption->seen, value)) return;
    map_set(assumption->eval->staging->kernel->arena, &assumption->seen, value, assumption);
    const bool was_checked = assumption->is_checked;
    assumption->is_checked = was_checked || check_at_call(assumption, value);
    if (op != NULL && op->code == OP_and)
        for (int i = 0; i < 2; i++) assume_value(assumption, op->operands[i], depth - 1);
    if (op != NULL && op->code == OP_cmp) assume_compared(assumption, op);
    assumption->is_checked = was_checked;
}

/* Of what each iteration of a parallel loop has for itself nothing is noted. */
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
    const Type *type = argument_type(condition);
    if (eval->parallel != NULL && type != NULL && type->kind == TYPE_TILE) return eval->none;
    Value *value = stage_condition(eval, condition, bound->at);
    if (value == NULL) return NULL;
    Assumption assumption = {.eval = eval, .at = bound->at};
    assume_value(&assumption, value, ASSUME_DEPTH);
    return eval->none;
}
