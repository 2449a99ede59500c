/* buffer_extents.c: how many bytes from its address on a pointer is used for, as code of the host.
 *
 * What a view spans bounds all that is done through it, since accesses outside it do nothing. Its
 * extents, and how far behind the pointer it begins, need not be the host's to know: the most that
 * they can be is enough, which follows from the ends of loops and grids. Where that is not known
 * either, nothing is known of the pointer. Only kernels that tuning runs several times are asked.
 */
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/pass.h"

typedef struct Spans {
    Kernel *kernel;
    Builder builder; /* at the end of the host region */
    Map copied;
    FactTable *facts;
    Value *least; /* what must not be negative for the view at hand, the least of it; or NULL */
    int looks;    /* at numbers, for the one at hand */
} Spans;

enum { MOST = 1000 }; /* looks at numbers behind one: more are given up */

static Value *on_host(Spans *spans, Value *value)
{
    return value_on_host(&spans->builder, value, &spans->copied);
}

static Value *number(Spans *spans, int64_t value)
{
    return build_const(&spans->builder, DTYPE_i64, value);
}

/* ---- numbers that must not be negative ---- */

static void require(Spans *spans, Value *value)
{
    value = build_cast(&spans->builder, DTYPE_i64, value);
    spans->least = spans->least ? build2(&spans->builder, OP_min, spans->least, value) : value;
}

/* One number may be looked at many times, as one of several that others are made of. */
static bool is_too_much(Spans *spans, int depth)
{
    spans->looks = depth == 0 ? 0 : spans->looks + 1;
    return spans->looks > MOST;
}

/* Whether it is not: as is known, or as the host will see. */
static bool is_positive(Spans *spans, Value *value, int depth)
{
    if (value->type->kind != TYPE_SCALAR || !dtype_is_integer(value->type->dtype) ||
        is_too_much(spans, depth))
        return false;
    if (facts_of(spans->facts, value).low >= 0) return true;
    Value *exact = on_host(spans, value);
    if (exact) {
        require(spans, exact);
        return true;
    }
    const OpCode code = value->op ? value->op->code : OP_COUNT;
    const bool keeps = code == OP_add || code == OP_mul || code == OP_cast;
    for (int i = 0; keeps && i < value->op->operand_count; i++)
        if (!is_positive(spans, value->op->operands[i], depth + 1)) return false;
    return keeps;
}

/* ---- the most that an integer can be, as an i64 of the host; NULL: not known ---- */

static Value *most_of(Spans *spans, Value *value, int depth);

static Value *less_one(Spans *spans, Value *value)
{
    return value ? build2(&spans->builder, OP_sub, value, number(spans, 1)) : NULL;
}

static Value *most_of_both(Spans *spans, OpCode code, const Op *op, int depth)
{
    Value *a = most_of(spans, operand(op, a), depth);
    Value *b = a ? most_of(spans, operand(op, b), depth) : NULL;
    return b ? build2(&spans->builder, code, a, b) : NULL;
}

/* The last iteration's of a loop that counts up, where its begin is a constant; else what is below
 * its end. */
static Value *most_of_variable(Spans *spans, const Value *value, int depth)
{
    const Op *loop = value->region ? value->region->parent : NULL;
    Builder *to = &spans->builder;
    int64_t begin, step;
    if (!loop || loop->code != OP_for || value->index != 0 ||
        !value_constant(operand(loop, step), &step) || step < 1)
        return NULL;
    Value *last = less_one(spans, most_of(spans, operand(loop, end), depth));
    if (!last || step == 1 || !value_constant(operand(loop, begin), &begin)) return last;
    Value *iterations =
        build2(to, OP_div, build2(to, OP_sub, last, number(spans, begin)), number(spans, step));
    return build2(to, OP_add, build2(to, OP_mul, iterations, number(spans, step)),
                  number(spans, begin));
}

static Value *most_of_index(Spans *spans, const Op *op, int depth)
{
    const Op *launch = op_enclosing(op, OP_launch);
    if (op->code == OP_thread_id)
        return number(spans, WARP_SIZE * (int64_t)launch_warps(launch) - 1);
    return less_one(spans, most_of(spans, operand_list(launch, x)[op_int(op, ATTR_dim, 0)], depth));
}

static Value *most_of_quotient(Spans *spans, const Op *op, int depth)
{
    int64_t divisor;
    if (!value_constant(operand(op, b), &divisor) || divisor < 1) return NULL;
    Value *most = most_of(spans, operand(op, a), depth);
    return most ? build2(&spans->builder, OP_div, most, number(spans, divisor)) : NULL;
}

static Value *most_of_op(Spans *spans, const Op *op, int depth)
{
    switch (op->code) {
    case OP_cast:
        return dtype_is_integer(operand(op, a)->type->dtype) ? most_of(spans, operand(op, a), depth)
                                                             : NULL;
    case OP_add:
    case OP_max: return most_of_both(spans, op->code, op, depth);
    case OP_select: return most_of_both(spans, OP_max, op, depth);
    case OP_mul:
        return is_positive(spans, operand(op, a), depth) &&
                       is_positive(spans, operand(op, b), depth)
                   ? most_of_both(spans, OP_mul, op, depth)
                   : NULL;
    case OP_min: {
        Value *most = most_of(spans, operand(op, a), depth);
        return most ? most : most_of(spans, operand(op, b), depth);
    }
    case OP_div:
    case OP_floordiv: return most_of_quotient(spans, op, depth);
    case OP_block_idx:
    case OP_thread_id: return most_of_index(spans, op, depth);
    default: return NULL;
    }
}

static Value *most_of(Spans *spans, Value *value, int depth)
{
    if (value->type->kind != TYPE_SCALAR || is_too_much(spans, depth)) return NULL;
    Value *most = on_host(spans, value);
    if (most) return build_cast(&spans->builder, DTYPE_i64, most);
    most = value->op ? most_of_op(spans, value->op, depth + 1)
                     : most_of_variable(spans, value, depth + 1);
    const int64_t high = facts_of(spans->facts, value).high;
    return most || high >= INT32_MAX ? most : number(spans, high);
}

/* ---- views ---- */

/* The bytes of the view: the sum of (extent - 1) * stride, and one element; none where an extent
 * is 0. NULL: not known. */
static Value *view_bytes(Spans *spans, const Op *view)
{
    const Type *type = view->results[0].type;
    Builder *to = &spans->builder;
    Value *last = number(spans, 0), *least = number(spans, 1);
    for (int d = 0; d < type->rank; d++) {
        Value *extent = most_of(spans, operand_list(view, extents)[d], 0);
        Value *stride = most_of(spans, operand_list(view, extents)[type->rank + d], 0);
        if (!extent || !stride) return NULL;
        least = build2(to, OP_min, least, extent);
        last = build2(to, OP_add, last, build2(to, OP_mul, less_one(spans, extent), stride));
    }
    Value *bits = build2(to, OP_mul, build2(to, OP_add, last, number(spans, 1)),
                         number(spans, dtype_memory_bits(type->dtype)));
    if (dtype_is_packed(type->dtype)) bits = build2(to, OP_add, bits, number(spans, 7));
    Value *bytes = build2(to, OP_div, bits, number(spans, 8));
    Value *is_empty = build_cmp(to, "lt", least, number(spans, 1));
    return build3(to, OP_select, is_empty, number(spans, 0), bytes);
}

/* With what lies between the parameter and the view's pointer, which is behind it. */
static Value *bytes_behind(Spans *spans, const Value *pointer, Value *bytes)
{
    Builder *to = &spans->builder;
    for (; bytes && pointer->op; pointer = operand(pointer->op, pointer)) {
        if (pointer->op->code == OP_ptr_cast) continue;
        Value *index = operand(pointer->op, index);
        Value *most = is_positive(spans, index, 0) ? most_of(spans, index, 0) : NULL;
        Value *bits = number(spans, dtype_memory_bits(pointer->type->dtype));
        bytes = most ? build2(to, OP_add, bytes,
                              build2(to, OP_div, build2(to, OP_mul, most, bits), number(spans, 8)))
                     : NULL;
    }
    return bytes;
}

static void visit_view(Op *op, void *context)
{
    Spans *spans = context;
    if (op->code != OP_view) return;
    const Parameter *parameter = pointer_parameter(spans->kernel, operand(op, pointer));
    if (!parameter || parameter->is_workspace) return;
    spans->least = NULL;
    Value *bytes = bytes_behind(spans, operand(op, pointer), view_bytes(spans, op));
    if (bytes && spans->least)
        bytes = build3(&spans->builder, OP_select,
                       build_cmp(&spans->builder, "lt", spans->least, number(spans, 0)),
                       number(spans, -1), bytes);
    if (!bytes) bytes = number(spans, -1);
    Op *span = build_op(&spans->builder, OP_buffer_extent, 1, &bytes, 0, NULL);
    op_set_int(span, ATTR_index, parameter->value->index);
}

bool pass_buffer_extents(Kernel *kernel, PassContext *context)
{
    if (!kernel->configuration) return true;
    Spans spans = {.kernel = kernel,
                   .builder = builder_at_end(kernel->host, kernel->span),
                   .facts = analysis_ranges(context)};
    kernel_visit(kernel, visit_view, &spans);
    return true;
}
