/* scope.c: names and where they are bound. */
#include "eval/python/python.h"

#include <string.h>

/* ---- assigning ---- */

static Scope *home_scope(Scope *scope, Name name)
{
    Scope *outside = map_get(&scope->outside, name);
    if (outside != NULL) return outside;
    return scope;
}

/* What a host says that a module's name is holds until a function of a kernel's assigns it anew. A
 * function that a statement of the module calls binds a `global` as that statement does. */
bool scope_assign(Eval *eval, Scope *scope, Name name, Object *object, Span at)
{
    Scope *home = home_scope(scope, name);
    const Scope *running = eval->staging == NULL ? eval->running : NULL;
    const bool is_told =
        home != scope && home->kind == SCOPE_UNIT && map_has(&home->unit->defined, name);
    if (is_told) {
        map_set(eval->arena, &home->unit->defined, name, object);
        vec_push(eval->arena, &eval->untold, home->unit);
    } else if (home != scope && running != NULL && running->unit->scope == home) {
        home = eval->running;
    }
    return eval->ops->binding_set(eval, bindings_make(eval, &home->bindings, name), object, at);
}

/* ---- looking up ---- */

/* The module tile.host; NULL: there is no host. */
static Object *tile_host(Eval *eval, Span at)
{
    if (eval->host == NULL) return NULL;
    return eval->ops->import_module(eval, intern_text(eval->session->names, "tile.host"), at);
}

/* In statements for `run` the host's own names, which may be those of kernels, and tile.host's. */
static Object *lookup_host(Eval *eval, const Scope *scope, Name name, Span at, bool *found)
{
    *found = scope->host_names && eval->host != NULL && eval->host->find(eval->host, name);
    if (*found) return host_function_named(eval, name);
    Object *module = scope->host_names ? tile_host(eval, at) : NULL;
    return module != NULL && module->kind == OBJECT_MODULE
               ? eval->ops->attribute_find(eval, module, name, at, found)
               : NULL;
}

static Object *lookup_one(Eval *eval, Scope *scope, Name name, Span at, bool late, bool *found)
{
    bool of_module = scope->kind == SCOPE_UNIT || scope->kind == SCOPE_STATEMENT;
    Object *defined = of_module ? map_get(&scope->unit->defined, name) : NULL;
    if (defined != NULL) {
        *found = true;
        return defined;
    }
    Binding *binding = bindings_get(&scope->bindings, name);
    if (binding != NULL && binding->object != NULL) {
        *found = true;
        return eval->ops->binding_get(eval, binding, at);
    }
    if (scope->kind == SCOPE_UNIT || (scope->kind == SCOPE_STATEMENT && late))
        return unit_lookup_now(eval, scope->unit, name, at, found);
    if (scope->kind == SCOPE_STATEMENT)
        return unit_lookup(eval, scope->unit, name, scope->index, at, found);
    return NULL;
}

Object *scope_lookup(Eval *eval, Scope *scope, Name name, Span at, bool *found)
{
    *found = false;
    bool late = false;
    Object *missing = NULL;
    for (Scope *each = scope; each != NULL; each = each->parent) {
        if (each->kind == SCOPE_CLASS && each != scope) continue;
        Object *object = lookup_one(eval, home_scope(each, name), name, at, late, found);
        /* In statements for `run` a name of tile.host wins over a module that does not exist there.
         */
        if (*found && (object == NULL || object->kind != OBJECT_MISSING || !scope->host_names))
            return object;
        missing = *found ? object : missing;
        *found = false;
        late |= each->kind == SCOPE_FUNCTION;
    }
    Object *host = lookup_host(eval, scope, name, at, found);
    *found = host != NULL || missing != NULL;
    return host != NULL ? host : missing;
}

/* A function may have the names of a module without saying so: that of its attribute __names__. */
static Object *name_of_module(Eval *eval, Name name, Span at)
{
    const Function *function = eval->frame->function;
    const Binding *said =
        function == NULL || function->attributes == NULL
            ? NULL
            : bindings_get(function->attributes, intern_text(eval->session->names, "__names__"));
    if (said == NULL || said->object->kind != OBJECT_TEXT) return NULL;
    bool found = false;
    eval->quiet++;
    Object *module = eval->ops->import_module(
        eval, intern_text(eval->session->names, said->object->as.text.data), at);
    Object *object =
        module == NULL ? NULL : eval->ops->attribute_find(eval, module, name, at, &found);
    eval->quiet--;
    return found ? object : NULL;
}

/* One of Python's own functions, before which a kernel sees those of the module that it is written
 * with: Warp's round() goes away from zero at halves, its abs() takes vectors. */
static bool is_of_python(const Object *object)
{
    return object != NULL && object->kind == OBJECT_BUILTIN &&
           strcmp(object->as.builtin->module, "builtins") == 0;
}

/* A method whose first parameter has another name: said where it stands, and so once. */
static bool lacks_self(Eval *eval)
{
    const Frame *frame = eval->frame;
    const Node *node = frame->function != NULL ? frame->function->node : NULL;
    if (node == NULL || node->kind != NODE_FunctionDef || frame->self == NULL ||
        frame->self->kind != OBJECT_INSTANCE)
        return false;
    const Nodes parameters = NODE_AS(arguments, NODE_AS(FunctionDef, node)->args)->args;
    if (parameters.count == 0) return false;
    FAIL(eval, no_self, parameters.items[0]->span, frame->function->name,
         NODE_AS(arg, parameters.items[0])->arg);
    return true;
}

Object *name_read(Eval *eval, Name name, Span at)
{
    bool found;
    Object *object = scope_lookup(eval, eval->frame->scope, name, at, &found);
    if (found && !is_of_python(object)) return object;
    Object *of_module = name_of_module(eval, name, at);
    if (of_module != NULL && (!found || of_module->kind == OBJECT_FUNCTION)) return of_module;
    if (found) return object;
    if (strcmp(name, "self") == 0 && lacks_self(eval)) return NULL;
    Nearest nearest = nearest_to(name);
    FAIL(eval, unknown_name, at, name);
    const bool in_statements = eval->frame->scope->host_names; /* which have tile.host's names */
    if (!in_statements && eval->ops->hint_import(eval, eval->frame->scope->unit, name, at))
        return NULL;
    const char *own;
    for (size_t i = 0; in_statements && eval->host != NULL; i++) {
        if ((own = eval->host->name(eval->host, i)) == NULL) break;
        nearest_try(&nearest, own);
    }
    const Object *host = in_statements ? tile_host(eval, at) : NULL;
    if (host != NULL && host->kind == OBJECT_MODULE)
        nearest_try_scope(eval, &nearest, host->as.unit->scope);
    nearest_try_scope(eval, &nearest, eval->frame->scope);
    return nearest_hint(eval, &nearest);
}
