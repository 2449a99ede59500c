/* spans.c: how many bytes from its address on a pointer is used for, as code of the host.
 *
 * What a view spans bounds all that is done through it, since accesses outside it do nothing. Where
 * its extents are not the host's to know, nothing is known of the pointer. Only kernels that tuning
 * runs several times are asked. */
#include "passes/access.h"
#include "passes/passes.h"

typedef struct Spans {
    Kernel *kernel;
    Builder builder; /* at the end of the host region */
    Map to_host;
} Spans;

enum { CHAIN = 1000 }; /* ops behind a number: more are given up */

/* The value in the host region, its scalar code copied there; NULL: the host cannot know it. */
static Value *on_host(Spans *spans, Value *value, int depth)
{
    if (!value->op && !value->region) return value; /* a parameter */
    if (value->op && value->op->parent == spans->kernel->host) return value;
    Value *known = map_get(&spans->to_host, value);
    if (known) return known;
    const OpInfo *info = value->op ? op_info(value->op->code) : NULL;
    if (!info || !(info->stages & HOST) || !(info->traits & PURE) || depth > CHAIN) return NULL;
    for (int i = 0; i < value->op->operand_count; i++) {
        Value *operand = on_host(spans, value->op->operands[i], depth + 1);
        if (!operand) return NULL;
        map_set(spans->kernel->arena, &spans->to_host, value->op->operands[i], operand);
    }
    Op *copy = op_clone(&spans->builder, value->op, &spans->to_host);
    return &copy->results[value->index];
}

static Value *number(Spans *spans, int64_t value)
{
    return build_const(&spans->builder, DTYPE_i64, value);
}

/* The bytes of the view: the sum of (extent - 1) * stride, and one element; none where an extent
 * is 0. NULL: not known. */
static Value *view_bytes(Spans *spans, const Op *view)
{
    const Type *type = view->results[0].type;
    Builder *to = &spans->builder;
    Value *last = number(spans, 0), *least = number(spans, 1);
    for (int d = 0; d < type->rank; d++) {
        Value *extent = on_host(spans, view->operands[1 + d], 0);
        Value *stride = on_host(spans, view->operands[1 + type->rank + d], 0);
        if (!extent || !stride) return NULL;
        extent = build_cast(to, DTYPE_i64, extent);
        stride = build_cast(to, DTYPE_i64, stride);
        least = build2(to, OP_min, least, extent);
        Value *steps = build2(to, OP_sub, extent, number(spans, 1));
        last = build2(to, OP_add, last, build2(to, OP_mul, steps, stride));
    }
    Value *bits = build2(to, OP_mul, build2(to, OP_add, last, number(spans, 1)),
                         number(spans, dtype_memory_bits(type->dtype)));
    if (dtype_is_packed(type->dtype)) bits = build2(to, OP_add, bits, number(spans, 7));
    Value *bytes = build2(to, OP_div, bits, number(spans, 8));
    Value *is_empty = build_cmp(to, "lt", least, number(spans, 1));
    return build3(to, OP_select, is_empty, number(spans, 0), bytes);
}

static void visit_view(Op *op, void *context)
{
    Spans *spans = context;
    if (op->code != OP_view) return;
    const Parameter *parameter = pointer_parameter(spans->kernel, op->operands[0]);
    if (!parameter || parameter->is_workspace) return;
    Value *pointer = op->operands[0];
    while (pointer->op && pointer->op->code == OP_ptr_cast) pointer = pointer->op->operands[0];
    Value *bytes = pointer == parameter->value ? view_bytes(spans, op) : NULL;
    if (!bytes) bytes = number(spans, -1);
    Op *span = build_op(&spans->builder, OP_span, 1, &bytes, 0, NULL);
    op_set_int(span, ATTR_index, parameter->value->index);
}

bool pass_spans(Kernel *kernel, const Target *target)
{
    (void)target;
    if (!kernel->configuration) return true;
    Spans spans = {.kernel = kernel, .builder = builder_at_end(kernel->host, kernel->span)};
    kernel_visit(kernel, visit_view, &spans);
    return true;
}
