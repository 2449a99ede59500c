/* scope.c: names and where they are bound. A module's names are evaluated when something needs
 * them: a statement sees the last binding above it, a function sees the last one of all. */
#include "eval/python/python.h"

#include <string.h>

/* ---- assigning ---- */

static Scope *home_scope(Scope *scope, Name name)
{
    Scope *outside = map_get(&scope->outside, name);
    if (outside != NULL) return outside;
    return scope;
}

/* What a host says that a module's name is holds until a function of a kernel's assigns it anew. */
bool scope_assign(Eval *eval, Scope *scope, Name name, Object *object, Span at)
{
    Scope *home = home_scope(scope, name);
    const bool is_told =
        home != scope && home->kind == SCOPE_UNIT && map_has(&home->unit->defined, name);
    if (is_told) {
        map_set(eval->arena, &home->unit->defined, name, object);
        vec_push(eval->arena, &eval->untold, home->unit);
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
    if (scope->kind == SCOPE_UNIT)
        return unit_lookup(eval, scope->unit, name, UINT32_MAX, at, found);
    if (scope->kind == SCOPE_STATEMENT)
        return unit_lookup(eval, scope->unit, name, late ? UINT32_MAX : scope->index, at, found);
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

/* ---- a module's statements ---- */

typedef struct Indexing {
    Eval *eval;
    Unit *unit;
    uint32_t index;
} Indexing;

static void index_name(void *context, Name name)
{
    Indexing *indexing = context;
    Arena *arena = indexing->eval->arena;
    IndexVec *statements = map_get(&indexing->unit->definitions, name);
    if (statements == NULL) {
        statements = arena_new_of(arena, IndexVec);
        map_set(arena, &indexing->unit->definitions, name, statements);
    }
    if (statements->count == 0 || vec_last(statements) != indexing->index)
        vec_push(arena, statements, indexing->index);
}

void unit_index(Eval *eval, Unit *unit)
{
    Nodes body = unit->tree->tree->body;
    unit->thunks = arena_new_array(eval->arena, Thunk, body.count);
    for (uint32_t i = 0; i < body.count; i++) {
        Indexing indexing = {eval, unit, i};
        names_bound(eval, body.items[i], index_name, &indexing);
    }
}

Aside step_aside(Eval *eval)
{
    const Aside aside = {eval->frame,   eval->staging, eval->builder, eval->trial, eval->parallel,
                         eval->calling, eval->at,      eval->control, eval->tests, eval->library};
    eval->staging = NULL;
    eval->trial = NULL;
    eval->parallel = NULL;
    eval->calling = NULL;
    eval->control = eval->tests = 0;
    return aside;
}

void step_back(Eval *eval, const Aside *aside)
{
    eval->frame = aside->frame;
    eval->staging = aside->staging;
    eval->builder = aside->builder;
    eval->trial = aside->trial;
    eval->parallel = aside->parallel;
    eval->calling = aside->calling;
    eval->at = aside->at;
    eval->control = aside->control;
    eval->tests = aside->tests;
    eval->library = aside->library;
}

bool thunk_force(Eval *eval, Unit *unit, uint32_t index, Name name, Span at)
{
    Thunk *thunk = &unit->thunks[index];
    if (thunk->state == THUNK_DONE) return true;
    if (thunk->state == THUNK_FAILED) return false;
    if (thunk->state == THUNK_RUNNING) {
        FAIL(eval, circular_name, at, name);
        return false;
    }
    thunk->state = THUNK_RUNNING;
    thunk->scope = scope_new(eval, SCOPE_STATEMENT, eval->builtins, unit);
    thunk->scope->index = index;
    Aside aside = step_aside(eval);
    Frame frame = {.scope = thunk->scope, .caller = aside.frame};
    eval->frame = &frame;
    eval->library = unit->is_library ? aside.library + 1 : 0;
    MadeVec *made = eval->made;
    thunk->made.count = 0;
    eval->made = unit->is_library ? NULL : &thunk->made;
    Flow flow = eval->ops->eval_statement(eval, unit->tree->tree->body.items[index]);
    step_back(eval, &aside);
    eval->made = made;
    /* What failed in silence may be asked for again, aloud. */
    thunk->state = flow != FLOW_ERROR ? THUNK_DONE : eval->quiet > 0 ? THUNK_NEW : THUNK_FAILED;
    return flow != FLOW_ERROR;
}

/* Among what `statements` bind; the last ones first. */
static Object *lookup_statements(Eval *eval, Unit *unit, const IndexVec *statements, Name name,
                                 uint32_t index, Span at, bool *found)
{
    for (size_t i = statements != NULL ? statements->count : 0; i-- > 0;) {
        uint32_t statement = statements->data[i];
        if (statement >= index) continue;
        if (!thunk_force(eval, unit, statement, name, at)) {
            *found = true;
            return NULL;
        }
        Binding *binding = bindings_get(&unit->thunks[statement].scope->bindings, name);
        if (binding != NULL && binding->object != NULL) {
            *found = true;
            return eval->ops->binding_get(eval, binding, at);
        }
    }
    return NULL;
}

/* Among what `from module import *` takes, the last ones first: nothing but the name is evaluated
 * in the other module. Of those in other statements all is, when one is needed. */
static Object *lookup_stars(Eval *eval, Unit *unit, Name name, uint32_t index, Span at, bool *found)
{
    const IndexVec *statements =
        map_get(&unit->definitions, intern_text(eval->session->names, "*"));
    for (size_t i = statements != NULL ? statements->count : 0; i-- > 0 && !*found;) {
        const uint32_t statement = statements->data[i];
        const Node *node = unit->tree->tree->body.items[statement];
        const IndexVec one = {.data = &statements->data[i], .count = 1};
        Object *object =
            statement >= index ? NULL
            : node->kind == NODE_ImportFrom
                ? eval->ops->star_lookup(eval, unit, NODE_AS(ImportFrom, node), name, at, found)
                : lookup_statements(eval, unit, &one, name, index, at, found);
        if (*found) return object;
    }
    return NULL;
}

Object *unit_lookup(Eval *eval, Unit *unit, Name name, uint32_t index, Span at, bool *found)
{
    Object *defined = index == UINT32_MAX ? map_get(&unit->defined, name) : NULL;
    *found = defined != NULL;
    if (*found) return defined;
    if (!unit->is_eager) {
        Object *object = lookup_statements(eval, unit, map_get(&unit->definitions, name), name,
                                           index, at, found);
        if (!*found) object = lookup_stars(eval, unit, name, index, at, found);
        if (*found) return object;
    }
    Binding *own =
        bindings_get(&unit->scope->bindings, name); /* __name__, and what an eager module bound */
    if ((own == NULL || own->object == NULL) && unit->statements != NULL)
        own = bindings_get(&unit->statements->bindings, name);
    if (own == NULL || own->object == NULL) return NULL;
    *found = true;
    return eval->ops->binding_get(eval, own, at);
}
