/* bindings.c: scopes and the names in them. */
#include "eval/values/values.h"

Scope *scope_new(Eval *eval, ScopeKind kind, Scope *parent, Unit *unit)
{
    Scope *scope = arena_new_of(eval->arena, Scope);
    scope->kind = kind;
    scope->parent = parent;
    scope->unit = unit;
    return scope;
}

Binding *bindings_get(const Bindings *bindings, Name name)
{
    return map_get(&bindings->map, name);
}

Binding *bindings_make(Eval *eval, Bindings *bindings, Name name)
{
    Binding *binding = map_get(&bindings->map, name);
    if (binding != NULL) return binding;
    binding = arena_new_of(eval->arena, Binding);
    binding->name = name;
    map_set(eval->arena, &bindings->map, name, binding);
    vec_push(eval->arena, &bindings->list, binding);
    return binding;
}

/* A function sees no class scope, and of its module all names. */
Scope *scope_for_closure(Scope *scope)
{
    while (scope->kind == SCOPE_CLASS) scope = scope->parent;
    return scope->kind == SCOPE_STATEMENT ? scope->unit->scope : scope;
}
