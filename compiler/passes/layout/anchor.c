/* anchor.c: the layouts that authors ask for: those of shared tiles are set, those of register
 * tiles are a class's first choice. */
#include "passes/layout/layouts.h"

/* One thread alone: nothing may be spread over threads. */
static const Layout *without_threads(const Inference *inference, const Layout *layout)
{
    Layout alone = *layout;
    const int threads = layout->bits[LAYOUT_LANE] + layout->bits[LAYOUT_WARP];
    for (int i = 0; i < threads; i++)
        for (int d = 0; d < layout->rank; d++)
            if (layout->basis[layout->bits[LAYOUT_REGISTER] + i][d]) return NULL;
    alone.bits[LAYOUT_LANE] = alone.bits[LAYOUT_WARP] = 0;
    return layout_intern(inference->kernel->layouts, &alone);
}

/* Threads that it does not name hold replicas. */
static const Layout *for_threads(const Inference *inference, const Layout *layout)
{
    if (inference->warps == 0) return without_threads(inference, layout);
    int warp_bits = 0;
    while (inference->warps >> (warp_bits + 1)) warp_bits++;
    if (layout->bits[LAYOUT_LANE] != WARP_BITS || layout->bits[LAYOUT_WARP] > warp_bits ||
        layout->bits[LAYOUT_REGISTER] + layout->bits[LAYOUT_LANE] + warp_bits > LAYOUT_BITS)
        return NULL;
    Layout padded = *layout;
    padded.bits[LAYOUT_WARP] = (uint8_t)warp_bits;
    return layout_intern(inference->kernel->layouts, &padded);
}

static const Layout *written_layout(const Inference *inference, const Op *op)
{
    const char *text = op_attr(op, ATTR_text)->text;
    const Layout *layout = layout_read(inference->kernel->layouts, &text);
    CHECK(layout);
    return layout;
}

const Layout *anchor_layout(Inference *inference, const Op *op)
{
    const Layout *written = written_layout(inference, op);
    const Layout *layout = for_threads(inference, written);
    if (layout) return layout;
    inference->failed = true;
    diag_report(inference->kernel->session->diags, DIAG_layout_threads, op->span,
                layout_threads(written), inference->warps ? WARP_SIZE * inference->warps : 1);
    return NULL;
}

void anchor_shared(Op *op, void *context)
{
    Inference *inference = context;
    if (op->code != OP_anchor || operand(op, tile)->type->kind != TYPE_SHARED) return;
    Value *tile = operand(op, tile);
    const Layout *layout = written_layout(inference, op);
    tile->type = type_with_layout(inference->kernel->types, tile->type, layout);
    op_erase(op);
}
