/* ahead.c: what a kernel's text says of a name further on: layouts that are annotated behind the
 * place that asks for them. */
#include "eval/surface/surface.h"

#include <string.h>

/* A call .METHOD(NAME, VALUE), or .METHOD(NAME, KEYWORD=VALUE). */
typedef struct Saying {
    Name name, method, keyword;
    const Node *value; /* the first one's; NULL: none was found */
} Saying;

static bool is_name_node(const Node *node, Name name)
{
    return node->kind == NODE_Name && NODE_AS(Name, node)->id == name;
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

static void find_saying(void *context, const Node *node)
{
    Saying *saying = context;
    if (saying->value != NULL) return;
    if (node->kind == NODE_Call) {
        const NodeCall *call = NODE_AS(Call, node);
        if (call->func->kind == NODE_Attribute && call->args.count > 0 &&
            NODE_AS(Attribute, call->func)->attr == saying->method &&
            is_name_node(call->args.items[0], saying->name))
            saying->value = value_given(call, saying->keyword);
    }
    node_visit_children(node, find_saying, context);
}

static Name name_of(Eval *eval, const Object *text)
{
    return intern(eval->session->names, text->as.text.data, text->as.text.length);
}

/* The value as the frame's names have it now; None: there is none yet. */
static Object *value_in(Eval *eval, Frame *frame, const Node *value)
{
    Frame *here = eval->frame;
    eval->frame = frame;
    eval->quiet++;
    Object *object = eval_expr(eval, value);
    eval->quiet--;
    eval->frame = here;
    return object != NULL ? object : eval->none;
}

/* said_of(x, method, keyword): what a call of the method in the text around says of the variable
 * x. */
Object *core_said_of(Eval *eval, const Bound *bound)
{
    const Object *x = bound->values[0];
    Saying saying = {.method = name_of(eval, bound->values[1]),
                     .keyword = name_of(eval, bound->values[2])};
    if (!object_is_staged(x) || x->as.ir.var == NULL || x->as.ir.var->name == NULL)
        return eval->none;
    saying.name = x->as.ir.var->name;
    for (Frame *frame = eval->frame; frame != NULL && saying.value == NULL; frame = frame->caller) {
        if (frame->function == NULL) continue;
        node_visit_children(frame->function->node, find_saying, &saying);
        if (saying.value != NULL) return value_in(eval, frame, saying.value);
    }
    return eval->none;
}
