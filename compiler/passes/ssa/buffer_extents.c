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

typedef struct Extents {
    Kernel *kernel;
    Builder builder; /* at the end of the host region */
    Map copied;
    FactTable *facts;
    Value *least; /* what must not be negative for the view at hand, the least of it; or NULL */
    int looks;    /* at numbers, for the one at hand */
} Extents;

enum { MOST = 1000 }; /* looks at numbers behind one: more are given up */

static Value *on_host(Extents *extents, Value *value)
{
    return value_on_host(&extents->builder, value, &extents->copied);
}

static Value *number(Extents *extents, int64_t value)
{
    return build_const(&extents->builder, DTYPE_i64, value);
}

/* ---- numbers that must not be negative ---- */

static void require(Extents *extents, Value *value)
{
    value = build_cast(&extents->builder, DTYPE_i64, value);
    extents->least =
        extents->least ? build2(&extents->builder, OP_min, extents->least, value) : value;
}

/* One number may be looked at many times, as one of several that others are made of. */
static bool is_too_much(Extents *extents, int depth)
{
    extents->looks = depth == 0 ? 0 : extents->looks + 1;
    return extents->looks > MOST;
}

/* Whether it is not: as is known, or as the host will see. */
static bool is_positive(Extents *extents, Value *value, int depth)
{
    if (value->type->kind != TYPE_SCALAR || !dtype_is_integer(value->type->dtype) ||
        is_too_much(extents, depth))
        return false;
    if (facts_of(extents->facts, value).low >= 0) return true;
    Value *exact = on_host(extents, value);
    if (exact) {
        require(extents, exact);
        return true;
    }
    const OpCode code = value->op ? value->op->code : OP_COUNT;
    const bool keeps = code == OP_add || code == OP_mul || code == OP_cast;
    for (int i = 0; keeps && i < value->op->operand_count; i++)
        if (!is_positive(extents, value->op->operands[i], depth + 1)) return false;
    return keeps;
}

/* ---- the most that an integer can be, as an i64 of the host; NULL: not known ---- */

static Value *most_of(Extents *extents, Value *value, int depth);

static Value *less_one(Extents *extents, Value *value)
{
    return value ? build2(&extents->builder, OP_sub, value, number(extents, 1)) : NULL;
}

static Value *most_of_both(Extents *extents, OpCode code, const Op *op, int depth)
{
    Value *a = most_of(extents, operand(op, a), depth);
    Value *b = a ? most_of(extents, operand(op, b), depth) : NULL;
    return b ? build2(&extents->builder, code, a, b) : NULL;
}

/* The last iteration's of a loop that counts up, where its begin is a constant; else what is below
 * its end. */
static Value *most_of_variable(Extents *extents, const Value *value, int depth)
{
    const Op *loop = value->region ? value->region->parent : NULL;
    Builder *to = &extents->builder;
    int64_t begin, step;
    if (!loop || loop->code != OP_for || value->index != 0 ||
        !value_constant(operand(loop, step), &step) || step < 1)
        return NULL;
    Value *last = less_one(extents, most_of(extents, operand(loop, end), depth));
    if (!last || step == 1 || !value_constant(operand(loop, begin), &begin)) return last;
    Value *iterations =
        build2(to, OP_div, build2(to, OP_sub, last, number(extents, begin)), number(extents, step));
    return build2(to, OP_add, build2(to, OP_mul, iterations, number(extents, step)),
                  number(extents, begin));
}

static Value *most_of_index(Extents *extents, const Op *op, int depth)
{
    const Op *launch = op_enclosing(op, OP_launch);
    if (op->code == OP_thread_id)
        return number(extents, WARP_SIZE * (int64_t)launch_warps(launch) - 1);
    return less_one(extents,
                    most_of(extents, operand_list(launch, x)[op_int(op, ATTR_dim, 0)], depth));
}

static Value *most_of_quotient(Extents *extents, const Op *op, int depth)
{
    int64_t divisor;
    if (!value_constant(operand(op, b), &divisor) || divisor < 1) return NULL;
    Value *most = most_of(extents, operand(op, a), depth);
    return most ? build2(&extents->builder, OP_div, most, number(extents, divisor)) : NULL;
}

static Value *most_of_op(Extents *extents, const Op *op, int depth)
{
    switch (op->code) {
    case OP_cast:
        return dtype_is_integer(operand(op, a)->type->dtype)
                   ? most_of(extents, operand(op, a), depth)
                   : NULL;
    case OP_add:
    case OP_max: return most_of_both(extents, op->code, op, depth);
    case OP_select: return most_of_both(extents, OP_max, op, depth);
    case OP_mul:
        return is_positive(extents, operand(op, a), depth) &&
                       is_positive(extents, operand(op, b), depth)
                   ? most_of_both(extents, OP_mul, op, depth)
                   : NULL;
    case OP_min: {
        Value *most = most_of(extents, operand(op, a), depth);
        return most ? most : most_of(extents, operand(op, b), depth);
    }
    case OP_div:
    case OP_floordiv: return most_of_quotient(extents, op, depth);
    case OP_block_idx:
    case OP_thread_id: return most_of_index(extents, op, depth);
    default: return NULL;
    }
}

static Value *most_of(Extents *extents, Value *value, int depth)
{
    if (value->type->kind != TYPE_SCALAR || is_too_much(extents, depth)) return NULL;
    Value *most = on_host(extents, value);
    if (most) return build_cast(&extents->builder, DTYPE_i64, most);
    most = value->op ? most_of_op(extents, value->op, depth + 1)
                     : most_of_variable(extents, value, depth + 1);
    const int64_t high = facts_of(extents->facts, value).high;
    return most || high >= INT32_MAX ? most : number(extents, high);
}

/* ---- views ---- */

/* The bytes of the view: the sum of (extent - 1) * stride, and one element; none where an extent
 * is 0. NULL: not known. */
static Value *view_bytes(Extents *extents, const Op *view)
{
    const Type *type = view->results[0].type;
    Builder *to = &extents->builder;
    Value *last = number(extents, 0), *least = number(extents, 1);
    for (int d = 0; d < type->rank; d++) {
        Value *extent = most_of(extents, operand_list(view, extents)[d], 0);
        Value *stride = most_of(extents, operand_list(view, extents)[type->rank + d], 0);
        if (!extent || !stride) return NULL;
        least = build2(to, OP_min, least, extent);
        last = build2(to, OP_add, last, build2(to, OP_mul, less_one(extents, extent), stride));
    }
    Value *bits = build2(to, OP_mul, build2(to, OP_add, last, number(extents, 1)),
                         number(extents, dtype_memory_bits(type->dtype)));
    if (dtype_is_packed(type->dtype)) bits = build2(to, OP_add, bits, number(extents, 7));
    Value *bytes = build2(to, OP_div, bits, number(extents, 8));
    Value *is_empty = build_cmp(to, "lt", least, number(extents, 1));
    return build3(to, OP_select, is_empty, number(extents, 0), bytes);
}

/* With what lies between the parameter and the view's pointer, which is behind it. */
static Value *bytes_behind(Extents *extents, const Value *pointer, Value *bytes)
{
    Builder *to = &extents->builder;
    for (; bytes && pointer->op; pointer = operand(pointer->op, pointer)) {
        if (pointer->op->code == OP_ptr_cast) continue;
        Value *index = operand(pointer->op, index);
        Value *most = is_positive(extents, index, 0) ? most_of(extents, index, 0) : NULL;
        Value *bits = number(extents, dtype_memory_bits(pointer->type->dtype));
        bytes = most
                    ? build2(to, OP_add, bytes,
                             build2(to, OP_div, build2(to, OP_mul, most, bits), number(extents, 8)))
                    : NULL;
    }
    return bytes;
}

static void visit_view(Op *op, void *context)
{
    Extents *extents = context;
    if (op->code != OP_view) return;
    const Parameter *parameter = pointer_parameter(extents->kernel, operand(op, pointer));
    if (!parameter || parameter->is_workspace) return;
    extents->least = NULL;
    Value *bytes = bytes_behind(extents, operand(op, pointer), view_bytes(extents, op));
    if (bytes && extents->least)
        bytes = build3(&extents->builder, OP_select,
                       build_cmp(&extents->builder, "lt", extents->least, number(extents, 0)),
                       number(extents, -1), bytes);
    if (!bytes) bytes = number(extents, -1);
    Op *span = build_op(&extents->builder, OP_buffer_extent, 1, &bytes, 0, NULL);
    op_set_int(span, ATTR_index, parameter->value->index);
}

bool pass_buffer_extents(Kernel *kernel, PassContext *context)
{
    if (!kernel->configuration) return true;
    Extents extents = {.kernel = kernel,
                       .builder = builder_at_end(kernel->host, kernel->span),
                       .facts = analysis_ranges(context)};
    kernel_visit(kernel, visit_view, &extents);
    return true;
}
