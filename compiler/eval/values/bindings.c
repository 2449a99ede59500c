/* bindings.c: scopes and the names in them. */
#include "eval/values/values.h"

Scope *scope_new(Eval *eval, ScopeKind kind, Scope *parent, Unit *unit)
{
    Scope *scope = arena_new_of(eval->arena, Scope);
    scope->kind = kind;
    scope->parent = parent;
    scope->unit = unit;
    scope->calls = parent != NULL ? parent->calls : NULL;
    return scope;
}

enum { FEW = 8 }; /* names, which are looked through: most calls have no more, and need no map */

Binding *bindings_get(const Bindings *bindings, Name name)
{
    if (bindings->list.count > FEW) return map_get(&bindings->map, name);
    for (size_t i = 0; i < bindings->list.count; i++)
        if (bindings->list.data[i]->name == name) return bindings->list.data[i];
    return NULL;
}

static void add_to_map(Eval *eval, Bindings *bindings)
{
    const BindingVec *list = &bindings->list;
    for (size_t i = bindings->map.count; i < list->count; i++)
        map_set(eval->arena, &bindings->map, list->data[i]->name, list->data[i]);
}

Binding *bindings_make(Eval *eval, Bindings *bindings, Name name)
{
    Binding *binding = bindings_get(bindings, name);
    if (binding != NULL) return binding;
    binding = arena_new_of(eval->arena, Binding);
    binding->name = name;
    vec_push(eval->arena, &bindings->list, binding);
    if (bindings->list.count > FEW) add_to_map(eval, bindings);
    return binding;
}

/* A function sees no class scope, and of its module all names. */
Scope *scope_for_closure(Scope *scope)
{
    while (scope->kind == SCOPE_CLASS) scope = scope->parent;
    return scope->kind == SCOPE_STATEMENT ? scope->unit->scope : scope;
}
