/* changes.c: which statements of a module change what its names are bound to, as their text tells:
 * a module that is evaluated lazily runs them before such a name is needed (module.c). What the
 * functions of the module do to their arguments and to its names counts for those who call them;
 * functions of the program's other modules may change what they are given and what those modules
 * have, and all others are taken to change nothing. */
#include "eval/text/changes.h"

#include <string.h>

static void walk_node(void *context, const Node *node);

/* ---- assignments ---- */

/* The module's name may be bound to a part of the sources. An instance shows what its class has,
 * which matters where something changes that. */
static void note_sources(Walk *walk, Name name, const NameVec *sources)
{
    ModuleText *text = walk->text;
    vec_each (source, sources) groups_join(text, name, *source);
    for (size_t i = 0; walk->classes != NULL && i < walk->classes->count; i++) {
        vec_push(text->eval->arena, &text->made, name);
        vec_push(text->eval->arena, &text->made, walk->classes->data[i]);
    }
}

static void assign_owner(Walk *walk, Name owner, const NameVec *sources)
{
    if (walk->facts != NULL)
        add_origins(walk, owner, sources);
    else if (name_has_parts(walk, owner))
        note_sources(walk, owner, sources);
}

/* The target gets what comes from the sources. */
static void assign(Walk *walk, const Node *target, const NameVec *sources)
{
    const Nodes *parts = target_parts(target);
    for (uint32_t i = 0; parts != NULL && i < parts->count; i++)
        assign(walk, parts->items[i], sources);
    if (parts != NULL) return;
    while (target->kind == NODE_Starred) target = NODE_AS(Starred, target)->value;
    const NameVec owners = node_owners(walk, target);
    vec_each (owner, &owners) {
        if (target->kind != NODE_Name) name_touch(walk, *owner, EFFECT_SURE);
        assign_owner(walk, *owner, sources);
    }
}

static void assign_value(Walk *walk, const Node *target, const Node *value)
{
    NameVec sources = {0}, classes = {0}, *outer = walk->classes;
    walk->classes = &classes;
    find_sources(walk, value, &sources);
    assign(walk, target, &sources);
    walk->classes = outer;
}

/* ---- calls ---- */

static void touch_all(Walk *walk, const NameVec *names, Effect effect)
{
    for (size_t i = 0; i < names->count; i++) name_touch(walk, names->data[i], effect);
}

static void join_all(Walk *walk, const NameVec *names)
{
    for (size_t i = 1; walk->facts == NULL && i < names->count; i++)
        groups_join(walk->text, names->data[0], names->data[i]);
}

/* What the function does to what the call gives it, and to names of the module. `receiver`: what
 * stands before the dot of a method, or NULL. */
static void apply_facts(Walk *walk, const Node *function, const NodeCall *call, Name receiver,
                        int selves)
{
    ModuleText *text = walk->text;
    const Facts *facts = function_facts(text, function);
    NameVec changed = {0};
    for (size_t i = 0; i < facts->done.list.count; i++) {
        const Touch done = facts->done.list.data[i];
        NameVec names = {0};
        const int place = parameter_place(function, done.name);
        if (place < 0 || (place < selves && receiver != NULL))
            vec_push(text->eval->arena, &names, place < 0 ? done.name : receiver);
        else if (place >= selves)
            find_given(walk, function, done.name, call, selves, &names);
        touch_all(walk, &names, done.effect);
        for (size_t j = 0; done.effect > EFFECT_NONE && j < names.count; j++)
            names_add(text->eval, &changed, names.data[j]);
    }
    for (size_t i = 0; i < facts->bound.count; i++)
        names_add(text->eval, walk->bound, facts->bound.data[i]);
    if (changed.count == 0) return;
    find_in_arguments(walk, call, &changed); /* which may be put into what is changed */
    join_all(walk, &changed);
}

static void apply_all(Walk *walk, const NodeVec *functions, const NodeCall *call, Name receiver,
                      int selves)
{
    for (size_t i = 0; functions != NULL && i < functions->count; i++)
        apply_facts(walk, functions->data[i], call, receiver, selves);
}

static void touch_arguments(Walk *walk, const NodeCall *call, Effect effect)
{
    NameVec names = {0};
    find_in_arguments(walk, call, &names);
    touch_all(walk, &names, effect);
}

/* A name that is bound to who knows what may change it, and what it is given. */
static void call_unknown(Walk *walk, const NodeCall *call, Name name)
{
    name_touch(walk, name, EFFECT_MAYBE);
    touch_arguments(walk, call, EFFECT_MAYBE);
}

static void call_builtin(Walk *walk, const NodeCall *call, Name name)
{
    static const char *const SETTERS[] = {"setattr", "delattr", NULL};
    if (strcmp(name, "next") == 0) touch_arguments(walk, call, EFFECT_MAYBE);
    const Name root = text_is_among(name, SETTERS) && call->args.count > 0
                          ? node_root(call->args.items[0])
                          : NULL;
    if (root != NULL) name_touch(walk, root, EFFECT_SURE);
}

/* A name that an import of a library binds, or of a module that is not there. */
static bool is_foreign(const ModuleText *text, Name name)
{
    const Node *import = map_get(&text->imports, name);
    return import != NULL && !text->asker->is_own(text->asker->context, import);
}

static void call_name(Walk *walk, const NodeCall *call, Name name)
{
    const ModuleText *text = walk->text;
    if (name_is_local(walk, name))
        call_unknown(walk, call, name);
    else if (map_has(&text->functions, name))
        apply_all(walk, map_get(&text->functions, name), call, NULL, 0);
    else if (map_has(&text->classes, name))
        apply_all(walk, map_get(&text->constructors, name), call, NULL, 1);
    else if (!map_has(&text->unit->definitions, name))
        call_builtin(walk, call, name);
    else if (!is_foreign(text, name))
        call_unknown(walk, call, name);
}

static Effect effect_of_method(Name name)
{
    static const char *const CHANGERS[] = {
        "add",         "append", "appendleft", "clear",   "difference_update",
        "discard",     "extend", "extendleft", "insert",  "intersection_update",
        "move_to_end", "pop",    "popitem",    "popleft", "remove",
        "reverse",     "rotate", "setdefault", "sort",    "symmetric_difference_update",
        "update",      NULL};
    static const char *const READERS[] = {"compile",     "copy",   "count", "get",
                                          "index",       "items",  "join",  "keys",
                                          "par_compile", "values", NULL};
    return text_is_among(name, CHANGERS)  ? EFFECT_SURE
           : text_is_among(name, READERS) ? EFFECT_NONE
                                          : EFFECT_MAYBE;
}

static bool is_static(const Node *function)
{
    const Nodes decorators = NODE_AS(FunctionDef, function)->decorator_list;
    for (uint32_t i = 0; i < decorators.count; i++)
        if (decorators.items[i]->kind == NODE_Name &&
            strcmp(NODE_AS(Name, decorators.items[i])->id, "staticmethod") == 0)
            return true;
    return false;
}

static void call_method_of(Walk *walk, const NodeCall *call, Name name, Name owner)
{
    const NodeVec *methods = map_get(&walk->text->methods, name);
    const Effect effect = effect_of_method(name);
    NameVec sources = {0};
    for (size_t i = 0; methods != NULL && i < methods->count; i++)
        apply_facts(walk, methods->data[i], call, owner, !is_static(methods->data[i]));
    if (effect == EFFECT_NONE) return;
    name_touch(walk, owner, effect);
    if (map_has(&walk->text->imports, owner)) touch_arguments(walk, call, EFFECT_MAYBE);
    find_in_arguments(walk, call, &sources);
    assign_owner(walk, owner, &sources);
}

static void call_method(Walk *walk, const NodeCall *call, const NodeAttribute *callee)
{
    const NameVec owners = node_owners(walk, callee->value);
    vec_each (owner, &owners)
        if (name_is_local(walk, *owner) || !is_foreign(walk->text, *owner))
            call_method_of(walk, call, callee->attr, *owner);
}

static void walk_call(Walk *walk, const NodeCall *call)
{
    if (call->func->kind == NODE_Name)
        call_name(walk, call, NODE_AS(Name, call->func)->id);
    else if (call->func->kind == NODE_Attribute)
        call_method(walk, call, NODE_AS(Attribute, call->func));
    else
        touch_arguments(walk, call, EFFECT_MAYBE);
}

/* ---- definitions ---- */

static void walk_list(Walk *walk, Nodes nodes)
{
    for (uint32_t i = 0; i < nodes.count; i++)
        if (nodes.items[i] != NULL) walk_node(walk, nodes.items[i]);
}

/* `@decorator` calls it with what it decorates. */
static void walk_decorators(Walk *walk, Nodes decorators, Name name)
{
    Arena *arena = walk->text->eval->arena;
    for (uint32_t i = 0; i < decorators.count; i++) {
        NodeName *argument = arena_new_of(arena, NodeName);
        *argument = (NodeName){.base = *decorators.items[i], .id = name};
        argument->base.kind = NODE_Name;
        Node **items = arena_new_array(arena, Node *, 1);
        items[0] = &argument->base;
        NodeCall *call = arena_new_of(arena, NodeCall);
        *call = (NodeCall){.base = *decorators.items[i],
                           .func = decorators.items[i],
                           .args = {.items = items, .count = 1}};
        call->base.kind = NODE_Call;
        walk_call(walk, call);
        walk_node(walk, decorators.items[i]);
    }
}

static void add_local(void *context, Name name)
{
    const Walk *walk = context;
    map_add(walk->text->eval->arena, &walk->locals->names, name);
}

static void add_parameters(Walk *walk, const Node *function)
{
    const Nodearguments *parameters = function_parameters(function);
    const Nodes *lists[] = {&parameters->posonlyargs, &parameters->args, &parameters->kwonlyargs};
    const Node *rest[] = {parameters->vararg, parameters->kwarg};
    for (int list = 0; list < 3; list++)
        for (uint32_t i = 0; i < lists[list]->count; i++)
            add_local(walk, NODE_AS(arg, lists[list]->items[i])->arg);
    for (int i = 0; i < 2; i++)
        if (rest[i] != NULL) add_local(walk, NODE_AS(arg, rest[i])->arg);
}

static void find_globals(void *context, const Node *node)
{
    NameVec *globals = ((Walk *)context)->bound;
    if (node->kind == NODE_Global)
        for (uint32_t i = 0; i < NODE_AS(Global, node)->names.count; i++)
            names_add(((Walk *)context)->text->eval, globals,
                      NODE_AS(Global, node)->names.items[i]);
    if (node->kind != NODE_FunctionDef && node->kind != NODE_ClassDef)
        node_visit_children(node, find_globals, context);
}

/* The body of a function: its own names, what it does to others. */
static void walk_body(Walk *walk, const Node *function)
{
    Locals locals = {.outer = walk->locals};
    walk->locals = &locals;
    if (function->kind == NODE_Lambda) {
        add_parameters(walk, function);
        walk_node(walk, NODE_AS(Lambda, function)->body);
    } else {
        const Nodes body = NODE_AS(FunctionDef, function)->body;
        NameVec globals = {0}, *bound = walk->bound;
        walk->bound = &globals;
        for (uint32_t i = 0; i < body.count; i++) find_globals(walk, body.items[i]);
        walk->bound = bound;
        for (uint32_t i = 0; i < body.count; i++)
            names_bound(walk->text->eval, body.items[i], add_local, walk);
        for (size_t i = 0; i < globals.count; i++) {
            if (map_has(&locals.names, globals.data[i]))
                names_add(walk->text->eval, bound, globals.data[i]);
            map_remove(&locals.names, globals.data[i]);
        }
        add_parameters(walk, function);
        walk_list(walk, body);
    }
    walk->locals = locals.outer;
}

static void walk_function(Walk *walk, const Node *node)
{
    const NodeFunctionDef *function = NODE_AS(FunctionDef, node);
    walk_decorators(walk, function->decorator_list, function->name);
    walk_node(walk, function->args);
    if (walk->facts != NULL) walk_body(walk, node); /* it may be called, or returned */
}

/* A class that says what happens to those that derive from it hears of this one. */
static void walk_bases(Walk *walk, const NodeClassDef *class)
{
    const Name hook = intern_text(walk->text->eval->session->names, "__init_subclass__");
    const NodeVec *hooks = map_get(&walk->text->methods, hook);
    const NodeCall call = {.base = class->base};
    for (uint32_t i = 0; hooks != NULL && i < class->bases.count; i++)
        apply_all(walk, hooks, &call, node_root(class->bases.items[i]), 1);
}

static void walk_class(Walk *walk, const NodeClassDef *class)
{
    walk_decorators(walk, class->decorator_list, class->name);
    walk_bases(walk, class);
    walk_list(walk, class->bases);
    Locals locals = {.outer = walk->locals};
    walk->locals = &locals;
    for (uint32_t i = 0; i < class->body.count; i++)
        names_bound(walk->text->eval, class->body.items[i], add_local, walk);
    walk_list(walk, class->body);
    walk->locals = locals.outer;
}

static void walk_lambda(Walk *walk, const Node *node)
{
    Locals locals = {.outer = walk->locals};
    walk->locals = &locals;
    add_parameters(walk, node);
    node_visit_children(node, walk_node, walk);
    walk->locals = locals.outer;
}

/* ---- statements ---- */

/* `if __name__ == "__main__":` holds in no module that is evaluated lazily. */
static bool is_main(const Node *test)
{
    const Node *left = test->kind == NODE_Compare ? NODE_AS(Compare, test)->left : NULL;
    return left != NULL && left->kind == NODE_Name &&
           strcmp(NODE_AS(Name, left)->id, "__name__") == 0 &&
           NODE_AS(Compare, test)->ops.count == 1 &&
           NODE_AS(Compare, test)->ops.items[0] == OPERATOR_Eq;
}

static void walk_targets(Walk *walk, Nodes targets, const Node *value)
{
    for (uint32_t i = 0; i < targets.count; i++) assign_value(walk, targets.items[i], value);
}

static void walk_deleted(Walk *walk, Nodes targets)
{
    const NameVec nothing = {0};
    for (uint32_t i = 0; i < targets.count; i++)
        if (targets.items[i]->kind != NODE_Name) assign(walk, targets.items[i], &nothing);
}

static void walk_augmented(Walk *walk, const NodeAugAssign *node)
{
    if (node->target->kind == NODE_Name)
        name_touch(walk, NODE_AS(Name, node->target)->id,
                   walk->facts == NULL ? EFFECT_SURE : EFFECT_MAYBE); /* it may be a number */
    assign_value(walk, node->target, node->value);
}

static void walk_return(Walk *walk, const Node *value)
{
    NameVec sources = {0};
    if (walk->facts == NULL || value == NULL) return;
    find_sources(walk, value, &sources);
    for (size_t i = 0; i < sources.count; i++) {
        const NameVec *origins = map_get(&walk->origins, sources.data[i]);
        names_add(walk->text->eval, &walk->facts->returns, sources.data[i]);
        for (size_t j = 0; origins != NULL && j < origins->count; j++)
            names_add(walk->text->eval, &walk->facts->returns, origins->data[j]);
    }
}

/* `with x as y`: y is x, a part of it, or what an __enter__ of the module gives. */
static void walk_context(Walk *walk, const Nodewithitem *item)
{
    if (item->optional_vars == NULL) return;
    NodeAttribute *entering = arena_new_of(walk->text->eval->arena, NodeAttribute);
    *entering = (NodeAttribute){.base = item->base,
                                .value = item->context_expr,
                                .attr = intern_text(walk->text->eval->session->names, "__enter__")};
    entering->base.kind = NODE_Attribute;
    NodeCall *call = arena_new_of(walk->text->eval->arena, NodeCall);
    *call = (NodeCall){.base = item->base, .func = &entering->base};
    call->base.kind = NODE_Call;
    assign_value(walk, item->optional_vars, &call->base);
}

static void walk_node(void *context, const Node *node)
{
    Walk *walk = context;
    if (stack_is_low()) return;
    switch ((int)node->kind) {
    case NODE_Name: name_touch(walk, NODE_AS(Name, node)->id, EFFECT_NONE); return;
    case NODE_Import:
    case NODE_ImportFrom:
    case NODE_AsyncFunctionDef: return;
    case NODE_FunctionDef: walk_function(walk, node); return;
    case NODE_ClassDef: walk_class(walk, NODE_AS(ClassDef, node)); return;
    case NODE_Lambda: walk_lambda(walk, node); return;
    case NODE_If:
        if (!is_main(NODE_AS(If, node)->test)) break;
        walk_list(walk, NODE_AS(If, node)->orelse);
        return;
    case NODE_Assign:
        walk_targets(walk, NODE_AS(Assign, node)->targets, NODE_AS(Assign, node)->value);
        break;
    case NODE_AnnAssign:
        if (NODE_AS(AnnAssign, node)->value != NULL)
            assign_value(walk, NODE_AS(AnnAssign, node)->target, NODE_AS(AnnAssign, node)->value);
        break;
    case NODE_AugAssign: walk_augmented(walk, NODE_AS(AugAssign, node)); break;
    case NODE_NamedExpr:
        assign_value(walk, NODE_AS(NamedExpr, node)->target, NODE_AS(NamedExpr, node)->value);
        break;
    case NODE_Delete: walk_deleted(walk, NODE_AS(Delete, node)->targets); break;
    case NODE_For: assign_value(walk, NODE_AS(For, node)->target, NODE_AS(For, node)->iter); break;
    case NODE_comprehension: {
        NameVec sources = {0};
        find_sources(walk, NODE_AS(comprehension, node)->iter, &sources);
        bind_targets(walk, NODE_AS(comprehension, node)->target, &sources);
        break;
    }
    case NODE_withitem: walk_context(walk, NODE_AS(withitem, node)); break;
    case NODE_Return: walk_return(walk, NODE_AS(Return, node)->value); break;
    case NODE_Yield: walk_return(walk, NODE_AS(Yield, node)->value); break;
    case NODE_Call: walk_call(walk, NODE_AS(Call, node)); break;
    default: break;
    }
    node_visit_children(node, walk_node, walk);
}

const Facts *function_facts(ModuleText *text, const Node *function)
{
    Facts *facts = map_get(&text->facts, function);
    if (facts != NULL) return facts; /* of one that calls itself, what is found so far */
    facts = arena_new_of(text->eval->arena, Facts);
    map_set(text->eval->arena, &text->facts, function, facts);
    Walk walk = {.text = text,
                 .done = &facts->done,
                 .bound = &facts->bound,
                 .facts = facts,
                 .function = function};
    walk_body(&walk, function);
    if (function->kind == NODE_Lambda) walk_return(&walk, NODE_AS(Lambda, function)->body);
    return facts;
}

/* ---- a module ---- */

static void add_function(ModuleText *text, Map *functions, Name name, const Node *node)
{
    NodeVec *nodes = map_get(functions, name);
    if (nodes == NULL) {
        nodes = arena_new_of(text->eval->arena, NodeVec);
        map_set(text->eval->arena, functions, name, nodes);
    }
    vec_push(text->eval->arena, nodes, node);
}

static bool is_enumeration(const NodeClassDef *class)
{
    static const char *const BASES[] = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", NULL};
    for (uint32_t i = 0; i < class->bases.count; i++) {
        const Node *base = class->bases.items[i];
        const Name name = base->kind == NODE_Attribute ? NODE_AS(Attribute, base)->attr
                          : base->kind == NODE_Name    ? NODE_AS(Name, base)->id
                                                       : NULL;
        if (name != NULL && text_is_among(name, BASES)) return true;
    }
    return false;
}

static void add_methods(ModuleText *text, const NodeClassDef *class)
{
    static const char *const MAKERS[] = {"__init__", "__new__", "__post_init__", NULL};
    map_add(text->eval->arena, &text->classes, class->name);
    if (is_enumeration(class)) map_add(text->eval->arena, &text->enumerations, class->name);
    for (uint32_t i = 0; i < class->body.count; i++) {
        if (class->body.items[i]->kind != NODE_FunctionDef) continue;
        const Name name = NODE_AS(FunctionDef, class->body.items[i])->name;
        add_function(text, &text->methods, name, class->body.items[i]);
        if (text_is_among(name, MAKERS))
            add_function(text, &text->constructors, class->name, class->body.items[i]);
    }
}

typedef struct Imported {
    ModuleText *text;
    const Node *node;
    Name module;
    bool is_container;
} Imported;

/* All that comes of a module is of one group: its functions may change what it has. */
static void add_import(void *context, Name name)
{
    const Imported *imported = context;
    ModuleText *text = imported->text;
    map_set(text->eval->arena, &text->imports, name, (void *)(uintptr_t)imported->node);
    if (imported->is_container) map_add(text->eval->arena, &text->containers, name);
    groups_join(text, name, imported->module);
}

static void add_imports(ModuleText *text, const Node *node)
{
    static const char *const CONTAINERS[] = {"collections", "copy",  "dataclasses", "functools",
                                             "itertools",   "types", NULL};
    const Name from = node->kind == NODE_Import
                          ? NODE_AS(alias, NODE_AS(Import, node)->names.items[0])->name
                          : NODE_AS(ImportFrom, node)->module;
    Imported imported = {text, node,
                         from != NULL ? from : intern_text(text->eval->session->names, "."), false};
    imported.is_container = text_is_among(imported.module, CONTAINERS);
    names_bound(text->eval, node, add_import, &imported);
}

/* Of the module itself, wherever in its statements. */
static void find_definitions(void *context, const Node *node)
{
    ModuleText *text = context;
    const Nodes none = {0};
    const Nodes targets = node->kind == NODE_Assign ? NODE_AS(Assign, node)->targets : none;
    if (node->kind == NODE_FunctionDef)
        add_function(text, &text->functions, NODE_AS(FunctionDef, node)->name, node);
    else if (node->kind == NODE_ClassDef)
        add_methods(text, NODE_AS(ClassDef, node));
    else if (node->kind == NODE_Import || node->kind == NODE_ImportFrom)
        add_imports(text, node);
    else if (targets.count == 1 && targets.items[0]->kind == NODE_Name &&
             NODE_AS(Assign, node)->value->kind == NODE_Lambda)
        add_function(text, &text->functions, NODE_AS(Name, targets.items[0])->id,
                     NODE_AS(Assign, node)->value);
    else if (!stack_is_low())
        node_visit_children(node, find_definitions, text);
}

/* What binds nothing and changes nothing need not run for what it reads. */
static bool has_effect(const Node *statement, const Done *done)
{
    bool changes = statement->kind != NODE_Expr && statement->kind != NODE_Assert &&
                   statement->kind != NODE_Raise;
    vec_each (touch, &done->list) changes |= touch->effect > EFFECT_NONE;
    return changes;
}

static void add_to_group(ModuleText *text, const Touch *touch)
{
    const Name head = group_of(text, touch->name);
    TouchVec *touches = map_get(&text->groups, head);
    if (touches == NULL) {
        touches = arena_new_of(text->eval->arena, TouchVec);
        map_set(text->eval->arena, &text->groups, head, touches);
    }
    vec_push(text->eval->arena, touches, *touch);
}

/* What the module's statement does goes to `all`. */
static void read_statement(ModuleText *text, uint32_t index, TouchVec *all)
{
    Arena *arena = text->eval->arena;
    const Node *statement = text->unit->tree->tree->body.items[index];
    Done done = {0};
    NameVec bound = {0};
    Walk walk = {.text = text, .done = &done, .bound = &bound};
    walk_node(&walk, statement);
    vec_each (name, &bound) text->asker->bind(text->asker->context, index, *name);
    if (!has_effect(statement, &done)) return;
    vec_each (touch, &done.list) {
        touch->statement = index;
        if (touch->effect > EFFECT_NONE) map_add(arena, &text->changed, touch->name);
        vec_push(arena, all, *touch);
    }
}

ModuleText *module_text(Eval *eval, const Unit *unit, const TextAsker *asker)
{
    ModuleText *text = arena_new_of(eval->arena, ModuleText);
    const Nodes body = unit->tree->tree->body;
    TouchVec all = {0};
    *text = (ModuleText){.eval = eval, .unit = unit, .asker = asker};
    for (uint32_t i = 0; i < body.count; i++) find_definitions(text, body.items[i]);
    for (uint32_t i = 0; i < body.count; i++) read_statement(text, i, &all);
    for (size_t i = 0; i < text->made.count; i += 2)
        if (map_has(&text->changed, text->made.data[i + 1]))
            groups_join(text, text->made.data[i], text->made.data[i + 1]);
    vec_each (touch, &all) add_to_group(text, touch);
    return text;
}

const TouchVec *touches_of(const ModuleText *text, Name name)
{
    return map_get(&text->groups, group_of(text, name));
}

bool node_changes(ModuleText *text, const Node *statement, Name name)
{
    Done done = {0};
    NameVec bound = {0};
    Walk walk = {.text = text, .done = &done, .bound = &bound};
    walk_node(&walk, statement);
    vec_each (touch, &done.list)
        if (touch->name == name && touch->effect == EFFECT_SURE) return true;
    return false;
}
