/* ahead.c: what a kernel's text says of a name further on: layouts that are annotated behind the
 * place that asks for them. */
#include "eval/surface/surface.h"

#include "base/vec.h"

typedef VEC(const NodeCall *) Calls;

/* Calls .METHOD(NAME, VALUE), or .METHOD(NAME, KEYWORD=VALUE). */
typedef struct Sayings {
    Arena *arena;
    Name method;
    Calls calls;
} Sayings;

static void find_sayings(void *context, const Node *node)
{
    Sayings *sayings = context;
    if (node->kind == NODE_Call) {
        const NodeCall *call = NODE_AS(Call, node);
        if (call->func->kind == NODE_Attribute && call->args.count > 0 &&
            NODE_AS(Attribute, call->func)->attr == sayings->method &&
            call->args.items[0]->kind == NODE_Name)
            vec_push(sayings->arena, &sayings->calls, call);
    }
    node_visit_children(node, find_sayings, context);
}

static const Node *value_given(const NodeCall *call, Name keyword)
{
    if (call->args.count > 1) return call->args.items[1];
    for (uint32_t i = 0; i < call->keywords.count; i++) {
        const Nodekeyword *given = NODE_AS(keyword, call->keywords.items[i]);
        if (given->arg == keyword) return given->value;
    }
    return NULL;
}

static Name name_of(Eval *eval, const Object *text)
{
    return intern(eval->session->names, text->as.text.data, text->as.text.length);
}

/* As the frame's names have it now; NULL: it has no value yet. */
static Object *value_in(Eval *eval, Frame *frame, const Node *node)
{
    Frame *here = eval->frame;
    if (node == NULL) return NULL;
    eval->frame = frame;
    eval->quiet++;
    Object *object = eval_expr(eval, node);
    eval->quiet--;
    eval->frame = here;
    return object;
}

static bool is_same(const Object *a, const Object *b)
{
    if (a == b) return true;
    return a != NULL && object_is_staged(a) && object_is_staged(b) && a->as.ir.var != NULL &&
           a->as.ir.var == b->as.ir.var;
}

static bool has_value(const Object *object, const Value *value)
{
    if (object == NULL || !object_is_staged(object)) return false;
    const Value *var = object->as.ir.var;
    return object->as.ir.value == value ||
           (var != NULL && value->op != NULL && value->op->code == OP_var_get &&
            operand(value->op, variable) == var);
}

/* What is said of the object, or else of the value; NULL: nothing. */
static Object *said_here(Eval *eval, const Bound *bound, const Object *object, const Value *value)
{
    const Name keyword = name_of(eval, bound->values[2]);
    for (Frame *frame = eval->frame; frame != NULL; frame = frame->caller) {
        Sayings sayings = {.arena = eval->arena, .method = name_of(eval, bound->values[1])};
        if (frame->function == NULL) continue;
        node_visit_children(frame->function->node, find_sayings, &sayings);
        for (size_t i = 0; i < sayings.calls.count; i++) {
            const NodeCall *call = sayings.calls.data[i];
            const Object *named = value_in(eval, frame, call->args.items[0]);
            if (object ? !is_same(named, object) : !has_value(named, value)) continue;
            Object *said = value_in(eval, frame, value_given(call, keyword));
            if (said != NULL) return said;
        }
    }
    return NULL;
}

/* The only value that a variable gets; NULL: it gets several. */
static const Value *only_value(const Value *var)
{
    const Op *made = var->op;
    const Value *only = made != NULL ? operand_given(made, init) : NULL;
    for (const OpUse *use = var->uses; use != NULL; use = use->next) {
        if (use->op->code != OP_var_set) continue;
        if (only != NULL) return NULL;
        only = operand(use->op, value);
    }
    return only;
}

/* What is said of the first of the values that this one is computed of, element by element. */
static Object *said_of_sources(Eval *eval, const Bound *bound, const Value *value)
{
    const Op *op = value->op;
    Object *said = NULL;
    if (op != NULL && op->code == OP_var_get) {
        const Value *only = only_value(operand(op, variable));
        return only != NULL ? said_of_sources(eval, bound, only) : NULL;
    }
    for (int i = 0; op && op_has(op, ELEMENTWISE) && !said && i < op->operand_count; i++) {
        const Value *operand = op->operands[i];
        if (!type_is_tile(operand->type)) continue;
        said = said_here(eval, bound, NULL, operand);
        if (said == NULL) said = said_of_sources(eval, bound, operand);
    }
    return said;
}

/* said_of(x, method, keyword): what a call of the method in the text around says of x, which the
 * call's first argument names, or of what x is computed of, element by element. */
Object *core_said_of(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    Object *said = said_here(eval, bound, object, NULL);
    if (said == NULL && object_is_staged(object)) {
        const Value *only =
            object->as.ir.value ? object->as.ir.value : only_value(object->as.ir.var);
        if (only != NULL) said = said_of_sources(eval, bound, only);
    }
    return said != NULL ? said : eval->none;
}
