/* module.c: a module's names, which are evaluated when something needs them: a statement sees the
 * last binding above it, a function sees the last one of all, and where a statement of the module
 * calls it, the last one above that. What else may change the object that the name is bound to
 * (changes.c) is evaluated before it is seen, too, in order. */
#include "eval/python/python.h"

/* ---- its statements ---- */

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
    size_t place = statements->count;
    while (place > 0 && statements->data[place - 1] > indexing->index) place--;
    if (place > 0 && statements->data[place - 1] == indexing->index) return;
    vec_push(arena, statements, indexing->index);
    for (size_t i = statements->count - 1; i > place; i--)
        statements->data[i] = statements->data[i - 1];
    statements->data[place] = indexing->index;
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

/* A function that the statement calls may bind the name. */
static void index_late(void *context, uint32_t statement, Name name)
{
    Indexing *indexing = context;
    indexing->index = statement;
    index_name(indexing, name);
}

static bool is_own(void *context, const Node *import)
{
    const Indexing *indexing = context;
    return indexing->eval->ops->import_is_own(indexing->eval, indexing->unit, import);
}

static void read_changes(Eval *eval, Unit *unit)
{
    Indexing *indexing = arena_new_of(eval->arena, Indexing);
    TextAsker *asker = arena_new_of(eval->arena, TextAsker);
    *indexing = (Indexing){eval, unit, 0};
    *asker = (TextAsker){indexing, index_late, is_own};
    unit->text = module_text(eval, unit, asker);
}

/* ---- running one ---- */

Aside step_aside(Eval *eval)
{
    const Aside aside = {eval->frame,   eval->staging,  eval->builder, eval->trial,
                         eval->running, eval->parallel, eval->calling, eval->at,
                         eval->control, eval->tests,    eval->library};
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
    eval->running = aside->running;
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
    if (!unit->is_library) eval->running = thunk->scope;
    const bool glances = eval->glances;
    eval->glances = false;
    MadeVec *made = eval->made;
    thunk->made.count = 0;
    eval->made = unit->is_library ? NULL : &thunk->made;
    Flow flow = eval->ops->eval_statement(eval, unit->tree->tree->body.items[index]);
    step_back(eval, &aside);
    eval->glances = glances;
    eval->made = made;
    /* What failed in silence may be asked for again, aloud. */
    thunk->state = flow != FLOW_ERROR ? THUNK_DONE : eval->quiet > 0 ? THUNK_NEW : THUNK_FAILED;
    return flow != FLOW_ERROR;
}

/* ---- what changes the object that a name is bound to ---- */

/* What a statement must do to an object before that matters. Numbers and texts never change. Of
 * functions and kernels only what is assigned to them counts, as all that calls them would else be
 * run; but what a function of another module sees, other calls of that module may have changed. */
static Effect least_effect(const Unit *unit, const Object *object, int depth)
{
    enum { DEPTH = 8 };
    const Unit *from = object->kind == OBJECT_FUNCTION ? object->as.function.unit : NULL;
    const bool is_of_other = from != NULL && from != unit && !from->is_library;
    switch ((int)object->kind) {
    case OBJECT_LIST:
    case OBJECT_DICT:
    case OBJECT_SET:
    case OBJECT_ITERATOR:
    case OBJECT_CLASS:
    case OBJECT_METHOD: return EFFECT_MAYBE;
    case OBJECT_INSTANCE: return is_kernel(object) ? EFFECT_SURE : EFFECT_MAYBE;
    case OBJECT_MODULE: return object->as.unit->is_library ? EFFECT_NONE : EFFECT_MAYBE;
    case OBJECT_FUNCTION: return is_of_other ? EFFECT_MAYBE : EFFECT_SURE;
    case OBJECT_TUPLE:
        for (uint32_t i = 0; depth < DEPTH && i < object->as.list.count; i++)
            if (least_effect(unit, object->as.list.items[i], depth + 1) == EFFECT_MAYBE)
                return EFFECT_MAYBE;
    }
    return EFFECT_NONE;
}

/* A name of a module, as the statements above `index` see it. */
typedef struct Seen {
    Unit *unit;
    Name name;
    uint32_t bound, index; /* `bound` is the statement that binds it */
    const Object *object;
} Seen;

/* What belongs to the code that needs the change, not to the change. */
typedef struct Outside {
    Object *missing;
    Attempt *attempt, *changes;
    uint64_t steps_left, work_left;
} Outside;

static Outside step_outside(Eval *eval, Attempt *attempt, bool is_sure)
{
    const Outside outside = {eval->needed_missing, eval->attempt, eval->changes, eval->steps_left,
                             eval->work_left};
    *attempt = (Attempt){.quiet = ++eval->quiet, .frame = eval->frame};
    eval->needed_missing = NULL;
    eval->attempt = eval->changes = attempt;
    eval->steps_left = UNROLL_LIMIT;
    if (!is_sure && eval->work_left > WORK_OF_CHANGE) eval->work_left = WORK_OF_CHANGE;
    return outside;
}

static void step_inside(Eval *eval, const Outside *outside, bool is_sure)
{
    const bool is_limited = !is_sure && outside->work_left > WORK_OF_CHANGE;
    if (is_limited) eval->work_left += outside->work_left - WORK_OF_CHANGE;
    if (is_limited) eval->spent_at = (Span){0};
    eval->needed_missing = outside->missing;
    eval->attempt = outside->attempt;
    eval->changes = outside->changes;
    eval->steps_left = outside->steps_left;
    eval->quiet--;
}

/* The module's statement is evaluated for what it may change, in silence. What it needs that is not
 * there leaves the program as it was. */
static void run_change(Eval *eval, const Seen *seen, const Touch *touch)
{
    Thunk *thunk = &seen->unit->thunks[touch->statement];
    if (thunk->state != THUNK_NEW || thunk->left.count > 0) return;
    const Node *node = seen->unit->tree->tree->body.items[touch->statement];
    const bool is_sure = touch->effect == EFFECT_SURE && touch->name == seen->name;
    Attempt attempt;
    const Outside outside = step_outside(eval, &attempt, is_sure);
    if (!thunk_force(eval, seen->unit, touch->statement, seen->name, node->span))
        vec_push(eval->arena, &thunk->left,
                 ((LeftOut){node, eval->needed_missing, attempt.fault.text}));
    step_inside(eval, &outside, is_sure);
}

/* Whether another name of the module was bound to the same object by a statement above. */
static bool is_bound_to(const Seen *seen, Name name, uint32_t index)
{
    const IndexVec *statements = map_get(&seen->unit->definitions, name);
    for (size_t i = statements != NULL ? statements->count : 0; i-- > 0;) {
        const Thunk *thunk = &seen->unit->thunks[statements->data[i]];
        if (statements->data[i] >= index || thunk->state != THUNK_DONE) continue;
        const Binding *binding = bindings_get(&thunk->scope->bindings, name);
        if (binding != NULL && binding->object != NULL) return binding->object == seen->object;
    }
    return false;
}

static const char *fault_of(Eval *eval, const LeftOut *left)
{
    return left->missing != NULL ? arena_printf(eval->arena, "needs the host module '%s'",
                                                left->missing->as.missing.module)
           : left->fault != NULL ? arena_printf(eval->arena, "fails: %s", left->fault)
                                 : "fails";
}

/* What would have changed the object for sure was left out: it is not what the program says. */
static bool is_known(Eval *eval, const Seen *seen, const Touch *touch, Span at)
{
    if (touch->effect < EFFECT_SURE) return true;
    const Thunk *thunk = &seen->unit->thunks[touch->statement];
    vec_each (left, &thunk->left) {
        const bool is_it = touch->name == seen->name
                               ? touch->statement > seen->bound
                               : is_bound_to(seen, touch->name, touch->statement);
        if (!is_it || !node_changes(seen->unit->text, left->node, touch->name)) continue;
        FAIL(eval, change_left_out, at, seen->name, fault_of(eval, left));
        if (eval->quiet == 0)
            diag_note(eval->session->diags, left->node->span, "it is changed here");
        return false;
    }
    return true;
}

/* How many of the touches are to happen before the name is seen: up to the last change, or all of
 * them if what sees it is to change it. */
static size_t count_needed(const Seen *seen, const TouchVec *touches, Effect least)
{
    size_t before = 0, needed = 0;
    vec_each (touch, touches) {
        if (touch->statement > seen->index) break;
        if (touch->statement < seen->index) before++;
        const bool is_own = least < EFFECT_SURE || touch->name == seen->name;
        if (is_own && touch->effect >= least) needed = before;
    }
    return needed;
}

/* Evaluates what stands above `index` and may change the object, and what reads it before that
 * happens. False: reported. */
static bool settle(Eval *eval, const Seen *seen, Span at)
{
    Unit *unit = seen->unit;
    const Effect least = unit->text != NULL ? least_effect(unit, seen->object, 0) : EFFECT_NONE;
    const TouchVec *touches = least != EFFECT_NONE ? touches_of(unit->text, seen->name) : NULL;
    if (touches == NULL || eval->glances) return true;
    const size_t needed = count_needed(seen, touches, least);
    const bool is_settled = map_number(&unit->settled, seen->name, 0) >= (intptr_t)seen->index;
    if (!is_settled) map_set_number(eval->arena, &unit->settled, seen->name, (intptr_t)seen->index);
    for (size_t i = 0; i < needed; i++) {
        const Touch *touch = &touches->data[i];
        if (!is_settled) run_change(eval, seen, touch);
        if (least < EFFECT_SURE && !is_known(eval, seen, touch, at)) return false;
    }
    return true;
}

/* ---- looking up ---- */

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
            const Seen seen = {unit, name, statement, index, binding->object};
            return settle(eval, &seen, at) ? eval->ops->binding_get(eval, binding, at) : NULL;
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
        if (!*found || object == NULL || node->kind != NODE_ImportFrom) continue;
        const Seen seen = {unit, name, statement, index, object};
        return settle(eval, &seen, at) ? object : NULL;
    }
    return NULL;
}

Object *unit_lookup(Eval *eval, Unit *unit, Name name, uint32_t index, Span at, bool *found)
{
    Object *defined = index == UINT32_MAX ? map_get(&unit->defined, name) : NULL;
    *found = defined != NULL;
    if (*found) return defined;
    if (!unit->is_eager) {
        if (unit->text == NULL && !unit->is_library) read_changes(eval, unit);
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

Object *unit_lookup_now(Eval *eval, Unit *unit, Name name, Span at, bool *found)
{
    const Scope *running = eval->staging == NULL ? eval->running : NULL;
    if (running == NULL || running->unit != unit)
        return unit_lookup(eval, unit, name, UINT32_MAX, at, found);
    Binding *binding = bindings_get(&running->bindings, name);
    *found = binding != NULL && binding->object != NULL;
    if (*found) return eval->ops->binding_get(eval, binding, at);
    Object *object = unit_lookup(eval, unit, name, running->index, at, found);
    return *found ? object : unit_lookup(eval, unit, name, UINT32_MAX, at, found);
}
