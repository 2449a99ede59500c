/* annotate.c: layouts that the author asks for. */
#include "eval/surface/surface.h"

/* ---- annotate(tile, layout): the layout as its text form ---- */

static bool fits_shape(const Layout *layout, const Type *tile)
{
    bool same = layout->rank == tile->rank;
    for (int d = 0; same && d < tile->rank; d++) same = layout->shape[d] == tile->shape[d];
    return same;
}

/* What the op names: a variable, whose every value it is, a value, or a shared tile. NULL:
 * reported. */
static Value *annotated(Eval *eval, Object *object, Span at)
{
    const Type *type = argument_type(object);
    if (type == NULL || (type->kind != TYPE_TILE && type->kind != TYPE_SHARED))
        return FAIL(eval, expected_kind, at, "what is laid out", "a register or shared tile",
                    object_repr(eval, object));
    if (!stage_ready(eval, at)) return NULL;
    if (object->as.ir.var != NULL) return object->as.ir.var;
    Value *value = stage_value(eval, object);
    bool is_part =
        type->kind == TYPE_SHARED && (value->op == NULL || value->op->code != OP_shared_alloc);
    return is_part ? FAIL(eval, expected_kind, at, "what is laid out", "a whole shared tile",
                          "a part of one")
                   : value;
}

Object *core_annotate(Eval *eval, const Bound *bound)
{
    Value *tile = annotated(eval, bound->values[0], bound->at);
    const Object *given = text_argument(eval, bound->values[1], "the layout", bound->at);
    if (tile == NULL || given == NULL) return NULL;
    Kernel *kernel = eval->staging->kernel;
    const Type *type = argument_type(bound->values[0]);
    const char *text = given->as.text.data;
    const Layout *layout = layout_read(kernel->layouts, &text);
    if (layout == NULL || !fits_shape(layout, type))
        return FAIL(eval, layout_shape, bound->at, given->as.text.data,
                    type_text(eval->arena, type));
    if (type->kind == TYPE_SHARED && !layout_is_order(layout))
        return FAIL(eval, layout_order, bound->at, given->as.text.data,
                    type_text(eval->arena, type));
    Op *op = build_op(&eval->builder, OP_anchor, 1, &tile, 0, NULL);
    op_set_text(op, ATTR_text, intern_text(eval->session->names, given->as.text.data));
    return eval->none;
}
