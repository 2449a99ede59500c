/* nearest.c: the names that a program may have meant. */
#include "eval/python/python.h"

#include <string.h>

static void try_name(void *context, Name name)
{
    nearest_try(context, name);
}

static void try_bindings(Nearest *nearest, const Bindings *bindings)
{
    for (size_t i = 0; i < bindings->list.count; i++)
        if (bindings->list.data[i]->object != NULL)
            nearest_try(nearest, bindings->list.data[i]->name);
}

static void try_unit(Eval *eval, Nearest *nearest, const Unit *unit)
{
    const Nodes body = unit->tree != NULL ? unit->tree->tree->body : (Nodes){0};
    try_bindings(nearest, &unit->scope->bindings);
    for (uint32_t i = 0; i < body.count; i++) names_bound(eval, body.items[i], try_name, nearest);
}

void nearest_try_scope(Eval *eval, Nearest *nearest, const Scope *scope)
{
    for (; scope != NULL; scope = scope->parent) {
        try_bindings(nearest, &scope->bindings);
        if (scope->kind == SCOPE_UNIT) try_unit(eval, nearest, scope->unit);
    }
}

void nearest_try_attributes(Eval *eval, Nearest *nearest, const Object *object)
{
    const Object *class = object->kind == OBJECT_CLASS ? object : object_class(object);
    if (object->kind == OBJECT_MODULE) try_unit(eval, nearest, object->as.unit);
    if (object->kind == OBJECT_INSTANCE) try_bindings(nearest, &object->as.instance->attributes);
    for (int i = 0; class != NULL && i < class->as.class->mro_count; i++)
        try_bindings(nearest, &class->as.class->mro[i]->as.class->attributes);
}

void nearest_try_parameters(Nearest *nearest, const Nodearguments *parameters)
{
    const Nodes lists[] = {parameters->args, parameters->kwonlyargs};
    for (int i = 0; i < 2; i++)
        for (uint32_t j = 0; j < lists[i].count; j++)
            nearest_try(nearest, NODE_AS(arg, lists[i].items[j])->arg);
}

void *nearest_hint(Eval *eval, const Nearest *nearest)
{
    if (eval->quiet == 0) diag_hint_nearest(eval->session->diags, nearest);
    return NULL;
}

/* nearest(name, names): of them; None: none is near. */
Object *core_nearest(Eval *eval, const Bound *bound)
{
    const Object *wanted = text_argument(eval, bound->values[0], "the name", bound->at);
    const Object *names =
        wanted != NULL ? eval->ops->iterate(eval, bound->values[1], bound->at) : NULL;
    if (names == NULL) return NULL;
    Nearest nearest = nearest_to(wanted->as.text.data);
    for (uint32_t i = 0; i < names->as.list.count; i++) {
        const Object *name = names->as.list.items[i];
        if (name->kind == OBJECT_TEXT) nearest_try(&nearest, name->as.text.data);
    }
    return nearest.best != NULL ? object_text(eval, nearest.best, strlen(nearest.best))
                                : eval->none;
}
