/* makers.c: which expressions and statements of a module make kernels, by their text: what is no
 * kernel's business is not evaluated to see what it is. */
#include "eval/export/export.h"

#include <string.h>

enum { RESOLVE_DEPTH = 16 };

Scope *statement_scope(Eval *eval, Unit *unit, uint32_t index)
{
    Scope *scope = scope_new(eval, SCOPE_STATEMENT, eval->builtins, unit);
    scope->index = index;
    return scope;
}

/* ---- expressions ---- */

const Nodes *parts_of(const Node *node)
{
    return node->kind == NODE_Tuple  ? &NODE_AS(Tuple, node)->elts
           : node->kind == NODE_List ? &NODE_AS(List, node)->elts
                                     : NULL;
}

static bool makes_kernel(Program *program, const Node *node, uint32_t index, int depth);

static bool is_maker(const Object *object)
{
    return object != NULL && makes_kernels(object);
}

static Object *eval_quietly(Program *program, uint32_t index, const Node *node)
{
    Eval *eval = &program->eval;
    eval->quiet++;
    Object *object = eval_in(eval, statement_scope(eval, program->unit, index), node);
    eval->quiet--;
    return object;
}

/* The last of the module's statements above `*index` that binds the name, and its index; or NULL.
 */
static const Node *binding_statement(const Program *program, const Node *name, uint32_t *index)
{
    const Unit *unit = program->unit;
    const IndexVec *statements = map_get(&unit->definitions, NODE_AS(Name, name)->id);
    for (size_t i = statements != NULL ? statements->count : 0; i-- > 0;) {
        if (statements->data[i] >= *index) continue;
        *index = statements->data[i];
        return unit->tree->tree->body.items[*index];
    }
    return NULL;
}

/* Of a value that a name stands for, which may be asked for often: where it makes none, that is
 * kept with the depth at which it was seen. */
static bool value_makes_kernel(Program *program, const Node *value, uint32_t index, int depth)
{
    enum { YES = 1, NO = 2 };
    const uintptr_t known = (uintptr_t)map_get(&program->makers, value);
    if (known == YES || (known >= NO && (uintptr_t)depth >= known - NO)) return known == YES;
    const bool makes = makes_kernel(program, value, index, depth);
    map_set(program->eval.arena, &program->makers, value,
            (void *)(makes ? (uintptr_t)YES : (uintptr_t)depth + NO));
    return makes;
}

/* A name says what it is by the statement that binds it. */
static bool name_makes_kernel(Program *program, const Node *node, uint32_t index, int depth)
{
    uint32_t before = index;
    const Node *statement = binding_statement(program, node, &before);
    if (statement == NULL) return false;
    if (statement->kind == NODE_Assign)
        return value_makes_kernel(program, NODE_AS(Assign, statement)->value, before, depth + 1);
    if (statement->kind == NODE_AnnAssign && NODE_AS(AnnAssign, statement)->value != NULL)
        return value_makes_kernel(program, NODE_AS(AnnAssign, statement)->value, before, depth + 1);
    if (statement->kind != NODE_ClassDef && statement->kind != NODE_ImportFrom &&
        statement->kind != NODE_FunctionDef)
        return false;
    return is_maker(eval_quietly(program, index, node));
}

bool names_compile(Name name)
{
    return strcmp(name, "compile") == 0 || strcmp(name, "par_compile") == 0;
}

static bool makes_kernel(Program *program, const Node *node, uint32_t index, int depth)
{
    if (depth > RESOLVE_DEPTH) return false;
    if (node->kind == NODE_Name) return name_makes_kernel(program, node, index, depth);
    if (node->kind == NODE_Call)
        return makes_kernel(program, NODE_AS(Call, node)->func, index, depth + 1);
    const Nodes *parts = parts_of(node);
    for (uint32_t i = 0; parts != NULL && i < parts->count; i++)
        if (makes_kernel(program, parts->items[i], index, depth + 1)) return true;
    if (node->kind != NODE_Attribute) return false;
    const NodeAttribute *attribute = NODE_AS(Attribute, node);
    if (names_compile(attribute->attr))
        return makes_kernel(program, attribute->value, index, depth + 1);
    return attribute->value->kind == NODE_Name && is_maker(eval_quietly(program, index, node));
}

bool node_makes_kernel(Program *program, const Node *node, uint32_t index)
{
    return makes_kernel(program, node, index, 0);
}

/* ---- statements ---- */

typedef struct Search {
    Program *program;
    uint32_t index; /* of the module's statement; UINT32_MAX: in a function, which sees all */
    Map functions;  /* those that were looked at */
    Makes found;
} Search;

static void search_node(void *context, const Node *node);

static void search_all(Search *search, Nodes nodes)
{
    for (uint32_t i = 0; i < nodes.count; i++) search_node(search, nodes.items[i]);
}

/* `re.compile(...)` compiles no kernel. What a name of a loop or of a function is, nobody knows
 * yet. */
static bool may_be_kernel(const Search *search, const Node *node)
{
    if (makes_kernel(search->program, node, search->index, 0)) return true;
    while (node->kind == NODE_Attribute) node = NODE_AS(Attribute, node)->value;
    uint32_t before = search->index;
    const Node *from =
        node->kind == NODE_Name ? binding_statement(search->program, node, &before) : NULL;
    return from == NULL || (from->kind != NODE_Import && from->kind != NODE_ImportFrom);
}

/* A call of a function of the module does what that does. */
static void search_function(Search *search, const Node *name)
{
    uint32_t before = search->index;
    const Node *node = binding_statement(search->program, name, &before);
    if (node == NULL || node->kind != NODE_FunctionDef || map_has(&search->functions, node)) return;
    const NodeFunctionDef *function = NODE_AS(FunctionDef, node);
    if (function->decorator_list.count > 0 || stack_is_low()) return;
    map_set(search->program->eval.arena, &search->functions, node, search);
    const uint32_t index = search->index;
    search->index = UINT32_MAX;
    search_all(search, function->body);
    search->index = index;
}

static void search_call(Search *search, const Node *callee)
{
    if (callee->kind == NODE_Name) search_function(search, callee);
    if (callee->kind == NODE_Attribute && names_compile(NODE_AS(Attribute, callee)->attr) &&
        may_be_kernel(search, NODE_AS(Attribute, callee)->value))
        search->found = MAKES_COMPILED;
}

static void search_node(void *context, const Node *node)
{
    Search *search = context;
    switch ((int)node->kind) {
    case NODE_FunctionDef:
        if (NODE_AS(FunctionDef, node)->decorator_list.count > 0 && search->found == MAKES_NOTHING)
            search->found = MAKES_KERNELS;
        return;
    case NODE_ClassDef:
    case NODE_Lambda: return;
    case NODE_Assign:
        if (search->found == MAKES_NOTHING &&
            makes_kernel(search->program, NODE_AS(Assign, node)->value, search->index, 0))
            search->found = MAKES_KERNELS;
        break;
    case NODE_Call: search_call(search, NODE_AS(Call, node)->func); break;
    }
    if (search->found != MAKES_COMPILED) node_visit_children(node, search_node, search);
}

Makes statement_makes(Program *program, uint32_t index)
{
    Search search = {.program = program, .index = index};
    search_node(&search, program->unit->tree->tree->body.items[index]);
    return search.found;
}

/* ---- statements that say something of a module ---- */

/* module_name(function): of the program's text, not the library's. */
Object *core_module_name(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    const Unit *unit = NULL;
    if (!argument_absent(object) && object->kind == OBJECT_FUNCTION)
        unit = object->as.function.unit;
    for (const Frame *frame = eval->frame; unit == NULL && frame != NULL; frame = frame->caller)
        if (frame->scope->unit != NULL && !frame->scope->unit->is_library)
            unit = frame->scope->unit;
    return unit != NULL ? object_text(eval, unit->name, strlen(unit->name)) : eval->none;
}

/* The argument of `x.name(argument)`; NULL: it is something else. */
static const Node *argument_of_call(const Node *statement, const Object *name)
{
    if (statement->kind != NODE_Expr) return NULL;
    const Node *node = NODE_AS(Expr, statement)->value;
    if (node->kind != NODE_Call) return NULL;
    const NodeCall *call = NODE_AS(Call, node);
    const Name last = call->func->kind == NODE_Attribute ? NODE_AS(Attribute, call->func)->attr
                      : call->func->kind == NODE_Name    ? NODE_AS(Name, call->func)->id
                                                         : NULL;
    const bool is_it = last != NULL && strlen(last) == name->as.text.length &&
                       memcmp(last, name->as.text.data, name->as.text.length) == 0;
    return is_it && call->args.count == 1 && call->keywords.count == 0 ? call->args.items[0] : NULL;
}

/* module_calls(function, name): a module that is evaluated lazily runs no statement for its effect.
 * What cannot be evaluated is left out. */
Object *core_module_calls(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    const Object *name = text_argument(eval, bound->values[1], "the name", bound->at);
    ObjectVec found = {0};
    if (name == NULL) return NULL;
    Unit *unit = object->kind == OBJECT_FUNCTION ? object->as.function.unit : NULL;
    const bool is_lazy = unit != NULL && unit->tree != NULL && !unit->is_eager;
    for (uint32_t i = 0; is_lazy && i < unit->tree->tree->body.count; i++) {
        const Node *argument = argument_of_call(unit->tree->tree->body.items[i], name);
        if (argument == NULL) continue;
        eval->quiet++;
        Object *value = eval_in(eval, statement_scope(eval, unit, i), argument);
        eval->quiet--;
        if (value != NULL) vec_push(eval->arena, &found, value);
    }
    return object_list(eval, OBJECT_LIST, found.data, found.count);
}
