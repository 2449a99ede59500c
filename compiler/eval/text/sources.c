/* sources.c: what a value may be a part of, by the text that makes it: so names of a module may be
 * bound to the same object, or to parts of it. */
#include "eval/text/changes.h"

#include <string.h>

/* ---- names ---- */

bool text_is_among(const char *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(text, *list) == 0) return true;
    return false;
}

void names_add(Eval *eval, NameVec *names, Name name)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->data[i] == name) return;
    vec_push(eval->arena, names, name);
}

static void note_done(Eval *eval, Done *done, Name name, Effect effect)
{
    const intptr_t place = map_number(&done->places, name, -1);
    if (place >= 0) {
        Touch *touch = &done->list.data[place];
        if (touch->effect < effect) touch->effect = effect;
        return;
    }
    map_set_number(eval->arena, &done->places, name, (intptr_t)done->list.count);
    vec_push(eval->arena, &done->list, ((Touch){.name = name, .effect = effect}));
}

bool name_is_local(const Walk *walk, Name name)
{
    for (const Locals *locals = walk->locals; locals != NULL; locals = locals->outer)
        if (map_has(&locals->names, name)) return true;
    return false;
}

const Nodearguments *function_parameters(const Node *function)
{
    return NODE_AS(arguments, function->kind == NODE_Lambda ? NODE_AS(Lambda, function)->args
                                                            : NODE_AS(FunctionDef, function)->args);
}

int parameter_place(const Node *function, Name name)
{
    const Nodearguments *parameters = function_parameters(function);
    const Nodes *lists[] = {&parameters->posonlyargs, &parameters->args};
    int place = 0;
    for (int list = 0; list < 2; list++)
        for (uint32_t i = 0; i < lists[list]->count; i++, place++)
            if (NODE_AS(arg, lists[list]->items[i])->arg == name) return place;
    for (uint32_t i = 0; i < parameters->kwonlyargs.count; i++)
        if (NODE_AS(arg, parameters->kwonlyargs.items[i])->arg == name) return ANY_PLACE;
    const Node *rest[] = {parameters->vararg, parameters->kwarg};
    for (int i = 0; i < 2; i++)
        if (rest[i] != NULL && NODE_AS(arg, rest[i])->arg == name) return ANY_PLACE;
    return -1;
}

void name_touch(Walk *walk, Name name, Effect effect)
{
    Eval *eval = walk->text->eval;
    const bool is_parameter = walk->function != NULL && parameter_place(walk->function, name) >= 0;
    if (is_parameter || !name_is_local(walk, name)) note_done(eval, walk->done, name, effect);
    if (map_number(&walk->touched, name, EFFECT_NONE) >= effect) return;
    map_set_number(eval->arena, &walk->touched, name, effect);
    const NameVec *origins = map_get(&walk->origins, name);
    for (size_t i = 0; origins != NULL && i < origins->count; i++)
        name_touch(walk, origins->data[i], effect);
}

Name node_root(const Node *node)
{
    for (;;) {
        if (node->kind == NODE_Attribute)
            node = NODE_AS(Attribute, node)->value;
        else if (node->kind == NODE_Subscript)
            node = NODE_AS(Subscript, node)->value;
        else if (node->kind == NODE_Starred)
            node = NODE_AS(Starred, node)->value;
        else
            return node->kind == NODE_Name ? NODE_AS(Name, node)->id : NULL;
    }
}

/* ---- groups: names that may be bound to the same object, or to parts of it ---- */

Name group_of(const ModuleText *text, Name name)
{
    for (Name next; (next = map_get(&text->heads, name)) != NULL;) name = next;
    return name;
}

void groups_join(ModuleText *text, Name a, Name b)
{
    a = group_of(text, a);
    b = group_of(text, b);
    if (a != b) map_set(text->eval->arena, &text->heads, a, (void *)(uintptr_t)b);
}

/* Functions and modules are bound to what nobody changes. */
bool name_has_parts(const Walk *walk, Name name)
{
    return name_is_local(walk, name) ||
           (map_has(&walk->text->unit->definitions, name) && !map_has(&walk->text->imports, name) &&
            !map_has(&walk->text->functions, name));
}

/* ---- what a value may be a part of ---- */

static void find_in_all(Walk *walk, Nodes nodes, NameVec *out)
{
    for (uint32_t i = 0; i < nodes.count; i++)
        if (nodes.items[i] != NULL) find_sources(walk, nodes.items[i], out);
}

void find_in_arguments(Walk *walk, const NodeCall *call, NameVec *out)
{
    find_in_all(walk, call->args, out);
    for (uint32_t i = 0; i < call->keywords.count; i++)
        find_sources(walk, NODE_AS(keyword, call->keywords.items[i])->value, out);
}

void find_given(Walk *walk, const Node *function, Name parameter, const NodeCall *call, int selves,
                NameVec *out)
{
    const int place = parameter_place(function, parameter) - selves;
    if (place >= 0 && place < (int)call->args.count && place != ANY_PLACE - selves)
        find_sources(walk, call->args.items[place], out);
    for (uint32_t i = 0; i < call->args.count; i++)
        if (place == ANY_PLACE - selves || call->args.items[i]->kind == NODE_Starred)
            find_sources(walk, call->args.items[i], out);
    for (uint32_t i = 0; i < call->keywords.count; i++) {
        const Nodekeyword *given = NODE_AS(keyword, call->keywords.items[i]);
        if (given->arg == parameter || given->arg == NULL || place == ANY_PLACE - selves)
            find_sources(walk, given->value, out);
    }
}

static void find_returned(Walk *walk, const NodeVec *functions, const NodeCall *call, NameVec *out)
{
    for (size_t i = 0; functions != NULL && i < functions->count; i++) {
        const Facts *facts = function_facts(walk->text, functions->data[i]);
        for (size_t j = 0; j < facts->returns.count; j++) {
            const Name name = facts->returns.data[j];
            if (parameter_place(functions->data[i], name) >= 0)
                find_given(walk, functions->data[i], name, call, 0, out);
            else if (name_has_parts(walk, name))
                names_add(walk->text->eval, out, name);
        }
    }
}

NameVec node_owners(Walk *walk, const Node *node)
{
    NameVec owners = {0};
    const Name root = node_root(node);
    if (root != NULL)
        names_add(walk->text->eval, &owners, root);
    else
        find_sources(walk, node, &owners);
    return owners;
}

static void find_of_method(Walk *walk, const NodeCall *call, NameVec *out)
{
    const Name root = node_root(call->func);
    const bool is_import = root != NULL && map_has(&walk->text->imports, root);
    if (is_import && !map_has(&walk->text->containers, root)) return;
    find_sources(walk, call->func, out);
    find_in_arguments(walk, call, out);
    if (call->func->kind == NODE_Attribute && !is_import)
        find_returned(walk, map_get(&walk->text->methods, NODE_AS(Attribute, call->func)->attr),
                      call, out);
}

/* What a call makes may have its arguments in it: but for numbers and texts, and the arrays and
 * types of other modules. */
static void find_in_call(Walk *walk, const NodeCall *call, NameVec *out)
{
    static const char *const PLAIN[] = {"abs",   "all", "any", "bool", "float", "hash",
                                        "id",    "int", "len", "pow",  "range", "repr",
                                        "round", "str", "sum", "type", NULL};
    const ModuleText *text = walk->text;
    if (call->func->kind != NODE_Name) {
        find_of_method(walk, call, out);
        return;
    }
    const Name name = NODE_AS(Name, call->func)->id;
    const NodeVec *functions = map_get(&text->functions, name);
    if (walk->classes != NULL && map_has(&text->classes, name))
        names_add(text->eval, walk->classes, name);
    const bool is_known = map_has(&text->unit->definitions, name);
    const bool is_plain = is_known
                              ? map_has(&text->imports, name) && !map_has(&text->containers, name)
                              : text_is_among(name, PLAIN);
    if (functions != NULL)
        find_returned(walk, functions, call, out);
    else if (!is_plain)
        find_in_arguments(walk, call, out);
}

void add_origins(Walk *walk, Name name, const NameVec *sources)
{
    Eval *eval = walk->text->eval;
    NameVec *origins = map_get(&walk->origins, name);
    if (origins == NULL) {
        origins = arena_new_of(eval->arena, NameVec);
        map_set(eval->arena, &walk->origins, name, origins);
    }
    const Effect effect = (Effect)map_number(&walk->touched, name, EFFECT_NONE);
    for (size_t i = 0; i < sources->count; i++) {
        names_add(eval, origins, sources->data[i]);
        if (effect > EFFECT_NONE) name_touch(walk, sources->data[i], effect);
    }
}

const Nodes *target_parts(const Node *target)
{
    return target->kind == NODE_Tuple  ? &NODE_AS(Tuple, target)->elts
           : target->kind == NODE_List ? &NODE_AS(List, target)->elts
                                       : NULL;
}

void bind_targets(Walk *walk, const Node *target, const NameVec *sources)
{
    const Nodes *parts = target_parts(target);
    for (uint32_t i = 0; parts != NULL && i < parts->count; i++)
        bind_targets(walk, parts->items[i], sources);
    if (parts == NULL && node_root(target) != NULL) add_origins(walk, node_root(target), sources);
}

static void find_in_comprehension(Walk *walk, const Node *item, Nodes generators, NameVec *out)
{
    for (uint32_t i = 0; i < generators.count; i++) {
        NameVec sources = {0};
        find_sources(walk, NODE_AS(comprehension, generators.items[i])->iter, &sources);
        bind_targets(walk, NODE_AS(comprehension, generators.items[i])->target, &sources);
    }
    find_sources(walk, item, out);
}

static void find_of_name(Walk *walk, Name name, NameVec *out)
{
    const NameVec *origins = map_get(&walk->origins, name);
    if (name_has_parts(walk, name)) names_add(walk->text->eval, out, name);
    for (size_t i = 0; origins != NULL && i < origins->count; i++)
        names_add(walk->text->eval, out, origins->data[i]);
}

static bool is_display(const Node *node)
{
    return node->kind == NODE_List || node->kind == NODE_Tuple || node->kind == NODE_ListComp;
}

/* Of an enumeration of the module, which has nothing that a statement could change. */
static bool is_member(const Walk *walk, const Node *node)
{
    const Node *class = node->kind == NODE_Attribute   ? NODE_AS(Attribute, node)->value
                        : node->kind == NODE_Subscript ? NODE_AS(Subscript, node)->value
                                                       : NULL;
    const Name name = class != NULL && class->kind == NODE_Name ? NODE_AS(Name, class)->id : NULL;
    return name != NULL && !name_is_local(walk, name) && map_has(&walk->text->enumerations, name);
}

void find_sources(Walk *walk, const Node *node, NameVec *out)
{
    if (stack_is_low() || is_member(walk, node)) return;
    switch ((int)node->kind) {
    case NODE_Name: find_of_name(walk, NODE_AS(Name, node)->id, out); break;
    case NODE_Attribute: find_sources(walk, NODE_AS(Attribute, node)->value, out); break;
    case NODE_Subscript: find_sources(walk, NODE_AS(Subscript, node)->value, out); break;
    case NODE_Starred: find_sources(walk, NODE_AS(Starred, node)->value, out); break;
    case NODE_NamedExpr: find_sources(walk, NODE_AS(NamedExpr, node)->value, out); break;
    case NODE_List: find_in_all(walk, NODE_AS(List, node)->elts, out); break;
    case NODE_Tuple: find_in_all(walk, NODE_AS(Tuple, node)->elts, out); break;
    case NODE_Set: find_in_all(walk, NODE_AS(Set, node)->elts, out); break;
    case NODE_Dict: find_in_all(walk, NODE_AS(Dict, node)->values, out); break;
    case NODE_BoolOp: find_in_all(walk, NODE_AS(BoolOp, node)->values, out); break;
    case NODE_ListComp:
        find_in_comprehension(walk, NODE_AS(ListComp, node)->elt,
                              NODE_AS(ListComp, node)->generators, out);
        break;
    case NODE_GeneratorExp:
        find_in_comprehension(walk, NODE_AS(GeneratorExp, node)->elt,
                              NODE_AS(GeneratorExp, node)->generators, out);
        break;
    case NODE_DictComp:
        find_in_comprehension(walk, NODE_AS(DictComp, node)->value,
                              NODE_AS(DictComp, node)->generators, out);
        break;
    case NODE_IfExp:
        find_sources(walk, NODE_AS(IfExp, node)->body, out);
        find_sources(walk, NODE_AS(IfExp, node)->orelse, out);
        break;
    case NODE_BinOp: /* of lists; most are of numbers */
        if (is_display(NODE_AS(BinOp, node)->left))
            find_sources(walk, NODE_AS(BinOp, node)->left, out);
        if (is_display(NODE_AS(BinOp, node)->right))
            find_sources(walk, NODE_AS(BinOp, node)->right, out);
        break;
    case NODE_Call: find_in_call(walk, NODE_AS(Call, node), out); break;
    default: break;
    }
}
