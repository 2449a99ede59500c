/* definition.c: modules and definitions that a host names by their place: a program that runs in
 * Python itself, whose kernels are staged here. What names are bound to there is given with them.
 */
#include "eval/python/python.h"

#include <string.h>

static bool text_given(Eval *eval, const Object *object, const char *what, Span at,
                       const char **out)
{
    *out = object->kind == OBJECT_TEXT ? object->as.text.data : NULL;
    if (*out == NULL)
        FAIL(eval, expected_kind, at, what, "a str",
             object_repr(eval, (Object *)(uintptr_t)object));
    return *out != NULL;
}

/* Binds what a dict of names gives. */
static bool take_names(Eval *eval, const Object *names, Span at,
                       void (*take)(Eval *, void *, Name, Object *), void *context)
{
    if (names == NULL) return true;
    if (names->kind != OBJECT_DICT) {
        FAIL(eval, expected_kind, at, "names", "a dict", object_kind_name(names));
        return false;
    }
    for (size_t i = 0; i < names->as.dict.keys.count; i++) {
        const char *name;
        if (!text_given(eval, names->as.dict.keys.data[i], "a name", at, &name)) return false;
        take(eval, context, intern_text(eval->session->names, name), names->as.dict.values.data[i]);
    }
    return true;
}

static void define(Eval *eval, void *unit, Name name, Object *object)
{
    map_set(eval->arena, &((Unit *)unit)->defined, name, object);
}

static void check(Eval *eval, void *context, Name name, Object *object)
{
    (void)eval, (void)context, (void)name, (void)object;
}

static void bind(Eval *eval, void *scope, Name name, Object *object)
{
    bindings_make(eval, &((Scope *)scope)->bindings, name)->object = object;
}

static void add_folder(Eval *eval, const char *folder)
{
    for (size_t i = 0; i < eval->folders.count; i++)
        if (strcmp(eval->folders.data[i], folder) == 0) return;
    vec_push(eval->arena, &eval->folders, arena_copy_text(eval->arena, folder, strlen(folder)));
}

/* module_at(path, name, folder, names): the file's module under that dotted name, whose imports are
 * looked for in the folder, too; names are bound to what the dict says, whatever it assigns. */
Object *core_module_at(Eval *eval, const Bound *bound)
{
    const char *path, *name, *folder;
    if (!text_given(eval, bound->values[0], "the path", bound->at, &path) ||
        !text_given(eval, bound->values[1], "the module's name", bound->at, &name) ||
        !text_given(eval, bound->values[2], "the folder", bound->at, &folder))
        return NULL;
    const size_t errors = diag_error_count(eval->session->diags);
    const Source *source = source_from_file(eval->session, path);
    if (source == NULL) return NULL;
    add_folder(eval, folder);
    Unit *unit = unit_new(eval, intern_text(eval->session->names, name), source, false);
    if (diag_error_count(eval->session->diags) != errors) return NULL;
    return take_names(eval, bound->values[3], bound->at, define, unit) ? unit->object : NULL;
}

/* module_told(name, names): what names of the module are that imports find under that dotted name,
 * whatever its text assigns: a host runs the program, too. */
Object *core_module_told(Eval *eval, const Bound *bound)
{
    const char *name;
    if (!text_given(eval, bound->values[0], "the module's name", bound->at, &name)) return NULL;
    const Name path = intern_text(eval->session->names, name);
    if (!take_names(eval, bound->values[1], bound->at, check, NULL)) return NULL;
    map_set(eval->arena, &eval->told, path, bound->values[1]);
    const Object *module = map_get(&eval->units, path);
    if (module != NULL && module->kind == OBJECT_MODULE) unit_take_told(eval, module->as.unit);
    return eval->none;
}

/* text_module(name, text, names) */
Object *core_text_module(Eval *eval, const Bound *bound)
{
    const char *name, *text;
    if (!text_given(eval, bound->values[0], "the module's name", bound->at, &name) ||
        !text_given(eval, bound->values[1], "the text", bound->at, &text))
        return NULL;
    const size_t errors = diag_error_count(eval->session->diags);
    const char *path = arena_printf(eval->arena, "<%s>", name);
    const Source *source = source_from_text(eval->session, path, text, strlen(text));
    Unit *unit = unit_new(eval, intern_text(eval->session->names, name), source, false);
    if (diag_error_count(eval->session->diags) != errors) return NULL;
    return take_names(eval, bound->values[2], bound->at, define, unit) ? unit->object : NULL;
}

/* ---- definitions ---- */

typedef struct Search {
    const char *name;
    uint32_t line;
    const Node *found; /* the innermost */
} Search;

/* With its decorators. */
static uint32_t first_line(const Node *node, Nodes decorators)
{
    const Span at = decorators.count > 0 ? decorators.items[0]->span : node->span;
    return source_location(at.source, at.begin).line;
}

static bool is_wanted(const Search *search, const Node *node)
{
    const bool is_class = node->kind == NODE_ClassDef;
    if (!is_class && node->kind != NODE_FunctionDef) return false;
    const Name name = is_class ? NODE_AS(ClassDef, node)->name : NODE_AS(FunctionDef, node)->name;
    const Nodes decorators = is_class ? NODE_AS(ClassDef, node)->decorator_list
                                      : NODE_AS(FunctionDef, node)->decorator_list;
    return strcmp(name, search->name) == 0 && first_line(node, decorators) <= search->line &&
           search->line <= source_location(node->span.source, node->span.end).line;
}

static void look_at(void *context, const Node *node)
{
    Search *search = context;
    if (is_wanted(search, node)) search->found = node;
    node_visit_children(node, look_at, search);
}

static const Node *find_definition(Eval *eval, const Unit *unit, const char *name, int64_t line,
                                   Span at)
{
    Search search = {.name = name, .line = (uint32_t)line};
    const Nodes body = unit->tree != NULL ? unit->tree->tree->body : (Nodes){0};
    for (uint32_t i = 0; i < body.count; i++) look_at(&search, body.items[i]);
    if (search.found != NULL) return search.found;
    return raise_python(eval, "LookupError",
                        arena_printf(eval->arena, "%s has no definition of '%s' at line %lld",
                                     unit->name, name, (long long)line),
                        at);
}

/* The function, or the class, without its decorators. */
static Object *make_definition(Eval *eval, const Node *node)
{
    if (node->kind == NODE_ClassDef) return class_new(eval, NODE_AS(ClassDef, node));
    const NodeFunctionDef *function = NODE_AS(FunctionDef, node);
    Object *object = function_new(eval, node, function->name, NODE_AS(arguments, function->args));
    if (object != NULL) object->as.function.yields = node_yields(node);
    return object;
}

/* ---- calls that a host evaluated ---- */

enum { CALL_LINE, CALL_COLUMN, CALL_END_LINE, CALL_END_COLUMN, CALL_VALUE, CALL_WHY, CALL_PARTS };

static bool is_at(const Object *call, int part, const Source *source, uint32_t offset)
{
    const Location at = source_location(source, offset);
    Object *const *parts = call->as.list.items + part;
    return parts[0]->as.integer == at.line && parts[1]->as.integer == at.column;
}

/* Whether a host evaluated the call: to what. NULL: why it could not is reported. */
bool known_call(Eval *eval, const Node *node, Object **result)
{
    const Object *calls = eval->frame->scope->calls;
    if (calls == NULL) return false;
    const Span at = node->span;
    for (uint32_t i = 0; i < calls->as.list.count; i++) {
        const Object *call = calls->as.list.items[i];
        if (!is_at(call, CALL_LINE, at.source, at.begin) ||
            !is_at(call, CALL_END_LINE, at.source, at.end))
            continue;
        Object *const *parts = call->as.list.items;
        const char *why;
        *result = parts[CALL_VALUE];
        if (parts[CALL_WHY]->kind == OBJECT_NONE) return true;
        *result = text_given(eval, parts[CALL_WHY], "why", at, &why)
                      ? raise_python(eval, "RuntimeError", why, at)
                      : NULL;
        return true;
    }
    return false;
}

static bool are_calls(Eval *eval, const Object *calls, Span at)
{
    bool good = calls->kind == OBJECT_LIST;
    for (uint32_t i = 0; good && i < calls->as.list.count; i++) {
        const Object *call = calls->as.list.items[i];
        Object *const *parts = call->as.list.items;
        good = call->kind == OBJECT_TUPLE && call->as.list.count == CALL_PARTS;
        for (int part = CALL_LINE; good && part <= CALL_END_COLUMN; part++)
            good = parts[part]->kind == OBJECT_INT;
    }
    if (!good) FAIL(eval, expected_kind, at, "calls", "a list of tuples", object_repr(eval, calls));
    return good;
}

/* definition(module, name, line, names, calls): what is defined there under that name, in whatever
 * function, without its decorators; the dict says what the names of the functions around it are. */
Object *core_definition(Eval *eval, const Bound *bound)
{
    const char *name;
    int64_t line;
    if (bound->values[0]->kind != OBJECT_MODULE)
        return FAIL(eval, expected_kind, bound->at, "module", "a module",
                    object_repr(eval, bound->values[0]));
    if (!text_given(eval, bound->values[1], "the name", bound->at, &name) ||
        !object_as_int(eval, bound->values[2], "the line", &line))
        return NULL;
    Unit *unit = bound->values[0]->as.unit;
    const Node *node = find_definition(eval, unit, name, line, bound->at);
    Scope *scope = scope_new(eval, SCOPE_FUNCTION, unit->scope, unit);
    if (node == NULL || !take_names(eval, bound->values[3], bound->at, bind, scope)) return NULL;
    if (bound->values[4] != NULL && !are_calls(eval, bound->values[4], bound->at)) return NULL;
    scope->calls = bound->values[4];
    const Aside aside = step_aside(eval);
    Frame frame = {.scope = scope, .caller = aside.frame};
    eval->frame = &frame;
    Object *object = make_definition(eval, node);
    step_back(eval, &aside);
    return object;
}

/* is_told(value): whether a host is told what the value is, and not only that there is one. */
Object *core_is_told(Eval *eval, const Bound *bound)
{
    HostValue value;
    return object_bool(eval,
                       host_value(eval, bound->values[0], &value) && value.kind != HOST_FUNCTION);
}
