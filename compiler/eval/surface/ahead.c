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

/* said_of(x, method, keyword): what a call of the method in the text around says of x, which the
 * call's first argument names. */
Object *core_said_of(Eval *eval, const Bound *bound)
{
    const Name keyword = name_of(eval, bound->values[2]);
    for (Frame *frame = eval->frame; frame != NULL; frame = frame->caller) {
        Sayings sayings = {.arena = eval->arena, .method = name_of(eval, bound->values[1])};
        if (frame->function == NULL) continue;
        node_visit_children(frame->function->node, find_sayings, &sayings);
        for (size_t i = 0; i < sayings.calls.count; i++) {
            const NodeCall *call = sayings.calls.data[i];
            if (!is_same(value_in(eval, frame, call->args.items[0]), bound->values[0])) continue;
            Object *said = value_in(eval, frame, value_given(call, keyword));
            if (said != NULL) return said;
        }
    }
    return eval->none;
}
