/* import.c: finds modules: the standard library's, then files beside the program's source and on
 * the import paths. One that is nowhere is a host module: it may be named, and needing it is an
 * error. */
#include "eval/python/python.h"

#include <string.h>

static void bind_name(Eval *eval, Bindings *bindings, const char *name, Object *object)
{
    bindings_make(eval, bindings, intern_text(eval->session->names, name))->object = object;
}

/* The text that a module begins with, or None. */
static Object *unit_docstring(Eval *eval, const Unit *unit)
{
    const Nodes body = unit->tree->tree != NULL ? unit->tree->tree->body : (Nodes){0};
    const Node *first = body.count > 0 && body.items[0]->kind == NODE_Expr
                            ? NODE_AS(Expr, body.items[0])->value
                            : NULL;
    const Literal *text =
        first != NULL && first->kind == NODE_Constant ? &NODE_AS(Constant, first)->value : NULL;
    return text != NULL && text->kind == LITERAL_STRING
               ? object_text(eval, text->text, text->length)
               : eval->none;
}

Unit *unit_new(Eval *eval, Name name, const Source *source, bool is_library)
{
    Unit *unit = arena_new_of(eval->arena, Unit);
    unit->name = name;
    unit->is_library = is_library;
    unit->tree = parse_source(eval->session, source);
    unit->scope = scope_new(eval, SCOPE_UNIT, eval->builtins, unit);
    unit->object = object_new(eval, OBJECT_MODULE);
    unit->object->as.unit = unit;
    unit_index(eval, unit);
    unit->is_exact =
        is_library && map_has(&unit->definitions, intern_text(eval->session->names, "__exact__"));
    bind_name(eval, &unit->scope->bindings, "__name__", object_text(eval, name, strlen(name)));
    if (is_library) return unit;
    bind_name(eval, &unit->scope->bindings, "__file__",
              object_text(eval, source->path, strlen(source->path)));
    bind_name(eval, &unit->scope->bindings, "__doc__", unit_docstring(eval, unit));
    return unit;
}

/* ---- finding ---- */

static const Source *find_embedded(Eval *eval, const char *file)
{
    if (eval->options.stdlib_folder != NULL) {
        const char *path = os_join_path(eval->arena, eval->options.stdlib_folder, file);
        return os_file_exists(path) ? source_from_file(eval->session, path) : NULL;
    }
    for (size_t i = 0; i < stdlib_file_count; i++)
        if (strcmp(stdlib_files[i].name, file) == 0)
            return source_from_text(eval->session, arena_printf(eval->arena, "<stdlib>/%s", file),
                                    stdlib_files[i].text, stdlib_files[i].length);
    return NULL;
}

static const Source *find_file(Eval *eval, const char *folder, const char *file)
{
    const char *path = os_join_path(eval->arena, folder, file);
    const EvalOptions *options = &eval->options;
    for (int i = 0; i < options->file_count; i++)
        if (strcmp(options->files[i]->path, path) == 0) return options->files[i];
    const bool is_whole = options->files != NULL && !options->files_first;
    if (is_whole || !os_file_exists(path)) return NULL;
    const Source *source = source_from_file(eval->session, path);
    if (source != NULL) vec_push(eval->arena, &eval->inputs, source);
    return source;
}

typedef struct Found {
    const Source *source;
    bool is_package, is_library;
} Found;

static bool find_library(Eval *eval, const char *stem, Found *out)
{
    const char *folders[] = {"", "compat/"};
    for (int i = 0; i < (eval->host != NULL ? 2 : 1); i++) {
        out->is_package = false;
        out->source = find_embedded(eval, arena_printf(eval->arena, "%s%s.tile", folders[i], stem));
        if (out->source == NULL) {
            out->is_package = true;
            out->source = find_embedded(
                eval, arena_printf(eval->arena, "%s%s/__init__.tile", folders[i], stem));
        }
        if (out->source != NULL) return out->is_library = true;
    }
    return false;
}

static bool find_in_folder(Eval *eval, const char *folder, const char *stem, Found *out)
{
    /* A package wins over a file of its name. */
    static const char *const ENDINGS[] = {"/__init__.tile", "/__init__.py", ".tile", ".py"};
    for (int i = 0; i < 4; i++) {
        out->source = find_file(eval, folder, arena_printf(eval->arena, "%s%s", stem, ENDINGS[i]));
        out->is_package = i < 2;
        if (out->source != NULL) return true;
    }
    return false;
}

/* How many bytes of names both begin with, whole ones alone. */
static size_t common_names(const char *a, const char *b)
{
    size_t common = 0, i = 0;
    for (;; i++) {
        const bool ends = (a[i] == '/' || a[i] == '\0') && (b[i] == '/' || b[i] == '\0');
        if (ends) common = i;
        if (a[i] != b[i] || a[i] == '\0') return common;
    }
}

/* A module of a package that the program's file lies in, however deep: a/b/c beside a file of
 * .../a/b, or two folders above one of .../a/x/y. */
static bool find_in_own_package(Eval *eval, const char *stem, Found *out)
{
    const char *place = os_real_path(eval->arena, eval->folder[0] != '\0' ? eval->folder : ".");
    for (const char *name = place + strlen(place); name-- > place;) {
        const bool begins = name == place || name[-1] == '/';
        const size_t common = begins ? common_names(name, stem) : 0;
        if (common == 0 || stem[common] == '\0') continue;
        const char *folder = eval->folder;
        for (const char *c = name + common; *c != '\0'; c++)
            if (*c == '/') folder = os_join_path(eval->arena, folder, "..");
        if (find_in_folder(eval, folder, stem + common + 1, out)) return true;
    }
    return false;
}

/* A module of the folder of the program's file, or of one above it, as `..x` is of the next. */
static bool find_above(Eval *eval, const char *stem, int above, Found *out)
{
    const char *folder = eval->folder;
    for (int i = 0; i < above; i++) folder = arena_printf(eval->arena, "%s/..", folder);
    return find_in_folder(eval, folder, stem, out);
}

static bool find_source(Eval *eval, Name path, Found *out)
{
    *out = (Found){0};
    const int dots = (int)strspn(path, ".");
    char *stem = arena_copy_text(eval->arena, path + dots, strlen(path) - (size_t)dots);
    for (char *c = stem; *c != '\0'; c++)
        if (*c == '.') *c = '/';
    if (dots > 0) return find_above(eval, stem, dots - 1, out);
    if (find_library(eval, stem, out) || find_in_folder(eval, eval->folder, stem, out)) return true;
    for (int i = 0; i < eval->options.import_path_count; i++)
        if (find_in_folder(eval, eval->options.import_paths[i], stem, out)) return true;
    for (size_t i = 0; i < eval->folders.count; i++)
        if (find_in_folder(eval, eval->folders.data[i], stem, out)) return true;
    return find_in_own_package(eval, stem, out);
}

static Object *missing_new(Eval *eval, Name path, Name module, Span at)
{
    Object *object = object_new(eval, OBJECT_MISSING);
    object->as.missing.path = path;
    object->as.missing.module = module;
    object->as.missing.at = at;
    return object;
}

static Object *bare_module(Eval *eval, Name path, Bindings bindings)
{
    Unit *unit = arena_new_of(eval->arena, Unit);
    unit->name = path;
    unit->is_eager = true;
    unit->is_library = true;
    unit->scope = scope_new(eval, SCOPE_UNIT, NULL, unit);
    unit->scope->bindings = bindings;
    unit->object = object_new(eval, OBJECT_MODULE);
    unit->object->as.unit = unit;
    return unit->object;
}

/* The C side of the library: names that its text builds upon. */
static Object *builtin_module(Eval *eval, Name path)
{
    Bindings bindings = {0};
    builtins_bind(eval, path, &bindings);
    return bindings.list.count > 0 ? bare_module(eval, path, bindings) : NULL;
}

/* __host__: the host's functions, and the element types, which the library's tile.host builds upon.
 */
static Object *host_module(Eval *eval, Name path)
{
    Bindings bindings = {0};
    const char *name;
    for (size_t i = 0; (name = eval->host->name(eval->host, i)) != NULL; i++)
        bind_name(eval, &bindings, name, host_function_named(eval, name));
    for (DType dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        Object *object = object_new(eval, OBJECT_DTYPE);
        object->as.dtype = dtype;
        bind_name(eval, &bindings, dtype_user_name(dtype), object);
    }
    return bare_module(eval, path, bindings);
}

void unit_take_told(Eval *eval, Unit *unit)
{
    const Object *told = map_get(&eval->told, unit->name);
    for (size_t i = 0; told != NULL && i < told->as.dict.keys.count; i++)
        map_set(eval->arena, &unit->defined,
                intern_text(eval->session->names, told->as.dict.keys.data[i]->as.text.data),
                told->as.dict.values.data[i]);
}

void units_take_told(Eval *eval)
{
    while (eval->untold.count > 0) unit_take_told(eval, eval->untold.data[--eval->untold.count]);
}

/* One file is one module, by whichever of its names it is asked for first; but of those that a host
 * tells of each is its own. */
static Object *load_module(Eval *eval, Name path, Span at)
{
    Object *module = builtin_module(eval, path);
    Found found;
    if (module != NULL) return module;
    if (eval->host != NULL && strcmp(path, "__host__") == 0) return host_module(eval, path);
    size_t errors = diag_error_count(eval->session->diags);
    if (!find_source(eval, path, &found)) return missing_new(eval, path, path, at);
    const Name file =
        intern_text(eval->session->names, os_real_path(eval->arena, found.source->path));
    if (!map_has(&eval->told, path) && (module = map_get(&eval->files, file)) != NULL)
        return module;
    Unit *unit = unit_new(eval, path, found.source, found.is_library);
    unit->folder = found.is_package ? path : NULL;
    if (!found.is_library) unit_take_told(eval, unit);
    if (!map_has(&eval->told, path)) map_set(eval->arena, &eval->files, file, unit->object);
    return diag_error_count(eval->session->diags) == errors ? unit->object : NULL;
}

Object *import_module(Eval *eval, Name path, Span at)
{
    Object *module = map_get(&eval->units, path);
    if (module != NULL) return module;
    module = load_module(eval, path, at);
    if (module != NULL) map_set(eval->arena, &eval->units, path, module);
    return module;
}

static Name first_part(Eval *eval, Name path)
{
    const char *dot = strchr(path, '.');
    return dot == NULL ? path : intern(eval->session->names, path, (size_t)(dot - path));
}

/* The dotted name of a file of the library. */
static const char *library_name(Eval *eval, const char *file)
{
    char *name = arena_copy_text(eval->arena, file, strcspn(file, "."));
    for (char *c = name; *c != '\0'; c++)
        if (*c == '/') *c = '.';
    const size_t length = strlen(name), end = strlen(".__init__");
    if (length > end && strcmp(name + length - end, ".__init__") == 0) name[length - end] = '\0';
    return name;
}

/* Of the library's modules, by their dotted names. */
static void *hint_module(Eval *eval, Name path)
{
    Nearest nearest = nearest_to(path);
    for (size_t i = 0; i < stdlib_file_count; i++)
        nearest_try(&nearest, library_name(eval, stdlib_files[i].name));
    return nearest_hint(eval, &nearest);
}

/* Of the library's packages, where a letter or two are wrong: short names are near to many. */
static void *hint_root(Eval *eval, Name root)
{
    enum { LETTERS = 5 };
    Nearest nearest = nearest_to(root);
    for (size_t i = 0; i < stdlib_file_count; i++) {
        const char *name = library_name(eval, stdlib_files[i].name);
        if (strchr(name, '.') == NULL) nearest_try(&nearest, name);
    }
    return strlen(root) >= LETTERS && nearest.best != NULL ? nearest_hint(eval, &nearest) : NULL;
}

Object *missing_needed(Eval *eval, const Object *missing, Name attribute, Span at)
{
    const Name path = missing->as.missing.path, module = missing->as.missing.module;
    const Name root = first_part(eval, path);
    const char *what =
        attribute != NULL ? arena_printf(eval->arena, "%s.%s", path, attribute) : path;
    Found found;
    const bool is_part = root != module && find_source(eval, root, &found);
    eval->needed_missing = missing_new(eval, path, module, missing->as.missing.at);
    if (is_part) {
        FAIL(eval, no_module, missing->as.missing.at, root, module + strlen(root) + 1);
        return hint_module(eval, module);
    }
    FAIL(eval, host_module, at, what, root);
    if (eval->quiet > 0) return NULL;
    diag_note(eval->session->diags, missing->as.missing.at, "it is imported here");
    return hint_root(eval, root);
}

/* ---- statements ---- */

static bool module_exists(Eval *eval, const Object *module, Span at);

Flow eval_import(Eval *eval, const NodeImport *node)
{
    for (uint32_t i = 0; i < node->names.count; i++) {
        const Nodealias *alias = NODE_AS(alias, node->names.items[i]);
        Object *module = import_module(eval, alias->name, node->base.span);
        Name name = alias->asname;
        if (!module_exists(eval, module, node->base.span)) return FLOW_ERROR;
        if (module != NULL && name == NULL) { /* `import a.b` binds a */
            name = first_part(eval, alias->name);
            module = import_module(eval, name, node->base.span);
        }
        if (module == NULL ||
            !scope_assign(eval, eval->frame->scope, name, module, node->base.span))
            return FLOW_ERROR;
    }
    return FLOW_NEXT;
}

/* The module above the folder of the program's file that an import means: its name has a dot for
 * that folder and each above it. NULL: it means none. */
static Name name_above(Eval *eval, const Unit *unit, const NodeImportFrom *node, int up)
{
    const int dots = (int)strspn(unit->name, ".");
    int parts = 1;
    for (const char *c = unit->name + dots; *c != '\0'; c++) parts += *c == '.';
    const int above = (dots > 0 ? dots : 1) + up - parts;
    Found found;
    if (up < parts || above < 2) return NULL;
    const char *name = "";
    for (int i = 0; i < above; i++) name = arena_printf(eval->arena, "%s.", name);
    if (node->module == NULL) return intern_text(eval->session->names, name);
    const Name path = intern_printf(eval->session->names, "%s%s", name, node->module);
    return find_source(eval, path, &found) ? path : NULL;
}

/* A module beside the program's file: by its own name, if the library has none of that name. */
static Name name_beside(Eval *eval, Name module)
{
    Found found;
    const char *stem = arena_copy_text(eval->arena, module, strcspn(module, "."));
    return find_library(eval, stem, &found) ? intern_printf(eval->session->names, ".%s", module)
                                            : module;
}

/* `from .x import y` in package a.b means a.b.x, in module a.b it means a.x. Dots alone are the
 * folder of the program's file and those above it, as in find_source. */
static Name absolute_name(Eval *eval, const Unit *unit, const NodeImportFrom *node)
{
    if (node->level == 0 || unit == NULL) return node->module;
    size_t length = strlen(unit->name);
    int up = unit->folder != NULL ? node->level - 1 : node->level;
    const Name above = name_above(eval, unit, node, up);
    if (above != NULL) return above;
    for (int i = 0; i < up; i++) {
        while (length > 0 && unit->name[length - 1] != '.') length--;
        length -= length > 0;
    }
    Name base = intern(eval->session->names, unit->name, length);
    if (node->module == NULL) return length > 0 ? base : intern_text(eval->session->names, ".");
    return length == 0 ? name_beside(eval, node->module)
                       : intern_printf(eval->session->names, "%s.%s", base, node->module);
}

/* What is known of a host module without a host, its constants and functions of numbers: a module
 * of the library, or NULL. */
static Object *static_part(Eval *eval, Name path)
{
    Name name = intern_printf(eval->session->names, "_static.%s", path);
    Object *part = map_get(&eval->units, name);
    Found found;
    if (part != NULL || !find_library(eval, arena_printf(eval->arena, "_static/%s", path), &found))
        return part;
    part = unit_new(eval, name, found.source, true)->object;
    map_set(eval->arena, &eval->units, name, part);
    return part;
}

static Object *find_static(Eval *eval, const Object *missing, Name name, Span at, bool *found)
{
    Object *part = static_part(eval, missing->as.missing.path);
    *found = false;
    return part != NULL ? attribute_find(eval, part, name, at, found) : NULL;
}

Object *missing_attribute(Eval *eval, const Object *missing, Name name, Span at)
{
    bool found;
    Object *object = find_static(eval, missing, name, at, &found);
    if (found) return object;
    Name inner = intern_printf(eval->session->names, "%s.%s", missing->as.missing.path, name);
    if (static_part(eval, inner) != NULL)
        return missing_new(eval, inner, inner, missing->as.missing.at);
    return missing_needed(eval, missing, name, at);
}

static Object *imported_name(Eval *eval, Object *module, Name name, Span at)
{
    if (module->kind == OBJECT_MODULE) return attribute_get(eval, module, name, at);
    bool found;
    Object *object = find_static(eval, module, name, at, &found);
    if (found) return object;
    Name path = intern_printf(eval->session->names, "%s.%s", module->as.missing.path, name);
    return missing_new(eval, path, module->as.missing.module, at);
}

typedef struct AllNames {
    Eval *eval;
    VEC(Name) names;
} AllNames;

/* `import *` of the module's own binds no such name. */
static void take_name(void *context, Name name)
{
    AllNames *all = context;
    for (size_t i = 0; i < all->names.count; i++)
        if (all->names.data[i] == name) return;
    if (name[0] != '_' && name[0] != '*') vec_push(all->eval->arena, &all->names, name);
}

enum { STARS_LIMIT = 16 /* modules that take each other's names */ };

static void visit_stars(Eval *eval, const Unit *unit, int depth, void (*visit)(void *, Name),
                        void *context);

/* The names of __all__, or all that do not begin with an underscore. */
static bool module_names(Eval *eval, Object *module, Span at, AllNames *all)
{
    bool found = false;
    Unit *unit = module->as.unit;
    Object *listed = unit_lookup(eval, unit, intern_text(eval->session->names, "__all__"),
                                 UINT32_MAX, at, &found);
    if (found && listed == NULL) return false;
    for (uint32_t i = 0; listed != NULL && object_is_sequence(listed) && i < listed->as.list.count;
         i++) {
        const Object *name = listed->as.list.items[i];
        if (name->kind == OBJECT_TEXT)
            vec_push(eval->arena, &all->names,
                     intern(eval->session->names, name->as.text.data, name->as.text.length));
    }
    if (listed != NULL) return true;
    for (size_t i = 0; i < unit->scope->bindings.list.count; i++)
        take_name(all, unit->scope->bindings.list.data[i]->name);
    Nodes body = unit->tree != NULL ? unit->tree->tree->body : (Nodes){0};
    for (uint32_t i = 0; i < body.count; i++) names_bound(eval, body.items[i], take_name, all);
    visit_stars(eval, unit, 0, take_name, all);
    return true;
}

static void visit_star(Eval *eval, const Unit *unit, const NodeImportFrom *node, int depth,
                       void (*visit)(void *, Name), void *context)
{
    const Name path = absolute_name(eval, unit, node);
    Object *module =
        path != NULL && path[0] != '\0' ? import_module(eval, path, node->base.span) : NULL;
    AllNames all = {.eval = eval};
    if (module == NULL || module->kind != OBJECT_MODULE || depth == STARS_LIMIT ||
        !module_names(eval, module, node->base.span, &all))
        return;
    for (size_t i = 0; i < all.names.count; i++) visit(context, all.names.data[i]);
    visit_stars(eval, module->as.unit, depth + 1, visit, context);
}

static void visit_stars(Eval *eval, const Unit *unit, int depth, void (*visit)(void *, Name),
                        void *context)
{
    const Nodes body = unit->tree != NULL ? unit->tree->tree->body : (Nodes){0};
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind != NODE_ImportFrom) continue;
        const NodeImportFrom *node = NODE_AS(ImportFrom, body.items[i]);
        if (strcmp(NODE_AS(alias, node->names.items[0])->name, "*") == 0)
            visit_star(eval, unit, node, depth, visit, context);
    }
}

void module_visit_names(Eval *eval, Object *module, void (*visit)(void *, Name), void *context)
{
    const Unit *unit = module->as.unit;
    for (size_t i = 0; i < unit->scope->bindings.list.count; i++)
        visit(context, unit->scope->bindings.list.data[i]->name);
    const Nodes body = unit->tree != NULL ? unit->tree->tree->body : (Nodes){0};
    for (uint32_t i = 0; i < body.count; i++) names_bound(eval, body.items[i], visit, context);
    visit_stars(eval, unit, 0, visit, context);
}

/* From a host module nothing is known: it binds no name. */
static bool import_all(Eval *eval, Object *module, Span at)
{
    AllNames all = {.eval = eval};
    if (module->kind != OBJECT_MODULE) return true;
    if (!module_names(eval, module, at, &all)) return false;
    for (size_t i = 0; i < all.names.count; i++) {
        bool found;
        Object *object = attribute_find(eval, module, all.names.data[i], at, &found);
        if (found && object == NULL && survey_leaves_name(eval, all.names.data[i])) continue;
        if (found && (object == NULL ||
                      !scope_assign(eval, eval->frame->scope, all.names.data[i], object, at)))
            return false;
    }
    return true;
}

/* In a `try`, a module that is nowhere is an ImportError: where the import stands in it, not where
 * a name is first needed there. */
static bool module_exists(Eval *eval, const Object *module, Span at)
{
    const bool in_try = eval->attempt != NULL && eval->attempt->frame == eval->frame;
    if (module == NULL || module->kind != OBJECT_MISSING || !in_try) return true;
    missing_needed(eval, module, NULL, at);
    return false;
}

/* `from . import part` in a package's own text, which is what gives it the name: a module of the
 * package, or NULL. */
static Object *own_part(Eval *eval, const Object *module, Name name, Span at)
{
    if (module->kind != OBJECT_MODULE || module->as.unit->folder == NULL ||
        module->as.unit != eval->frame->scope->unit)
        return NULL;
    const Name path = intern_printf(eval->session->names, "%s.%s", module->as.unit->name, name);
    Found found;
    return find_source(eval, path, &found) ? import_module(eval, path, at) : NULL;
}

/* `from . import part` in the program's file, whose folder has no module that is known: a module
 * beside it, or a name of the folder's own text; NULL: neither is there, or it is reported. */
static Object *part_beside(Eval *eval, Name dots, Name name, Span at)
{
    Found found;
    const Name path = dots[1] == '\0' ? name_beside(eval, name)
                                      : intern_printf(eval->session->names, "%s%s", dots, name);
    if (find_source(eval, path, &found)) return import_module(eval, path, at);
    const Name init = intern_printf(eval->session->names, "%s__init__", dots);
    if (!find_source(eval, init, &found)) return NULL;
    Object *folder = import_module(eval, init, at);
    bool is_there;
    return folder != NULL ? attribute_find(eval, folder, name, at, &is_there) : NULL;
}

static bool is_folder(Name path)
{
    return path[0] == '.' && path[strspn(path, ".")] == '\0';
}

Flow eval_import_from(Eval *eval, const NodeImportFrom *node)
{
    Span at = node->base.span;
    Name path = absolute_name(eval, eval->frame->scope->unit, node);
    if (path != NULL && strcmp(path, "__future__") == 0) return FLOW_NEXT;
    const bool in_folder = path != NULL && is_folder(path);
    Object *module =
        path != NULL && !in_folder ? import_module(eval, path, at) : missing_new(eval, "", "", at);
    if (!module_exists(eval, module, at)) return FLOW_ERROR;
    for (uint32_t i = 0; module != NULL && i < node->names.count; i++) {
        const Nodealias *alias = NODE_AS(alias, node->names.items[i]);
        if (strcmp(alias->name, "*") == 0) {
            if (!import_all(eval, module, at)) return FLOW_ERROR;
            continue;
        }
        const size_t errors = diag_error_count(eval->session->diags);
        Object *object = in_folder ? part_beside(eval, path, alias->name, alias->base.span)
                                   : own_part(eval, module, alias->name, alias->base.span);
        if (diag_error_count(eval->session->diags) > errors) return FLOW_ERROR;
        if (object == NULL)
            object = imported_name(eval, module, alias->name,
                                   module->kind == OBJECT_MODULE ? alias->base.span : at);
        Name name = alias->asname != NULL ? alias->asname : alias->name;
        if (object == NULL || !scope_assign(eval, eval->frame->scope, name, object, at))
            return FLOW_ERROR;
    }
    return module != NULL ? FLOW_NEXT : FLOW_ERROR;
}

static bool is_taken(Eval *eval, Unit *unit, Name name, Span at)
{
    AllNames all = {.eval = eval};
    bool found;
    Object *listed = unit_lookup(eval, unit, intern_text(eval->session->names, "__all__"),
                                 UINT32_MAX, at, &found);
    if (!found) return name[0] != '_';
    if (listed == NULL || !module_names(eval, unit->object, at, &all)) return false;
    for (size_t i = 0; i < all.names.count; i++)
        if (all.names.data[i] == name) return true;
    return false;
}

/* ---- names that an import is lacking for ---- */

/* Whether the module gives a program that name. */
static bool module_offers(Eval *eval, Name path, Name name, Span at)
{
    bool found = false;
    Object *module = import_module(eval, path, at);
    if (module == NULL || module->kind != OBJECT_MODULE || !module->as.unit->is_library ||
        name[0] == '_')
        return false;
    const Object *object = unit_lookup(eval, module->as.unit, name, UINT32_MAX, at, &found);
    return found && object != NULL && is_taken(eval, module->as.unit, name, at);
}

/* How a program comes to a name by a module that it imports as `as`; NULL: names of it. */
typedef const char *Offer(Eval *eval, Name path, Name as, Name name, Span at);

static const char *offered_as(Eval *eval, Name path, Name as, Name name, Span at)
{
    if (!module_offers(eval, path, name, at)) return NULL;
    return as != NULL ? arena_printf(eval->arena, "%s.%s", as, name)
                      : arena_printf(eval->arena, "from %s import %s", path, name);
}

/* Of the library's modules beside that one. */
static const char *offered_beside(Eval *eval, Name path, Name as, Name name, Span at)
{
    const Name root = first_part(eval, path);
    const size_t length = strlen(root);
    (void)as;
    for (size_t i = 0; i < stdlib_file_count; i++) {
        const char *other = library_name(eval, stdlib_files[i].name);
        if (strncmp(other, root, length) == 0 && (other[length] == '.' || other[length] == '\0') &&
            strstr(other, "._") == NULL &&
            module_offers(eval, intern_text(eval->session->names, other), name, at))
            return arena_printf(eval->arena, "from %s import %s", other, name);
    }
    return NULL;
}

/* By the modules of a statement of the program. */
static const char *offered_by(Eval *eval, const Unit *unit, const Node *node, Offer *offer,
                              Name name, Span at)
{
    const char *found = NULL;
    if (node->kind == NODE_ImportFrom) {
        const Name path = absolute_name(eval, unit, NODE_AS(ImportFrom, node));
        return path != NULL && path[0] != '\0' ? offer(eval, path, NULL, name, at) : NULL;
    }
    if (node->kind != NODE_Import) return NULL;
    const Nodes names = NODE_AS(Import, node)->names;
    for (uint32_t i = 0; found == NULL && i < names.count; i++) {
        const Nodealias *alias = NODE_AS(alias, names.items[i]);
        found =
            offer(eval, alias->name, alias->asname != NULL ? alias->asname : alias->name, name, at);
    }
    return found;
}

/* A name by which programs import a module. */
static const char *import_of(Eval *eval, Name name)
{
    const Object *modules = eval->imported_as;
    for (size_t i = 0; modules != NULL && i < modules->as.dict.keys.count; i++) {
        if (strcmp(modules->as.dict.keys.data[i]->as.text.data, name) != 0) continue;
        const char *path = modules->as.dict.values.data[i]->as.text.data;
        return strcmp(path, name) == 0 ? arena_printf(eval->arena, "import %s", path)
                                       : arena_printf(eval->arena, "import %s as %s", path, name);
    }
    return NULL;
}

bool hint_import(Eval *eval, const Unit *unit, Name name, Span at)
{
    if (unit == NULL || unit->is_library || eval->quiet > 0) return false;
    const char *import = import_of(eval, name), *found = NULL;
    const Nodes body = unit->tree->tree->body;
    eval->quiet++;
    for (uint32_t i = 0; import == NULL && found == NULL && i < body.count; i++)
        if (body.items[i]->kind == NODE_ImportFrom)
            found = offered_by(eval, unit, body.items[i], offered_as, name, at);
    for (uint32_t i = 0; import == NULL && found == NULL && i < body.count; i++)
        found = offered_by(eval, unit, body.items[i], offered_as, name, at);
    for (uint32_t i = 0; import == NULL && found == NULL && i < body.count; i++)
        found = offered_by(eval, unit, body.items[i], offered_beside, name, at);
    eval->quiet--;
    if (import == NULL) import = found;
    if (import == NULL) return false;
    const bool is_line = strchr(import, ' ') != NULL;
    diag_hint(eval->session->diags, is_line ? "import it: %s" : "write %s", import);
    return true;
}

bool import_is_own(Eval *eval, const Unit *unit, const Node *node)
{
    const bool is_plain = node->kind == NODE_Import;
    const Name path = is_plain ? NODE_AS(alias, NODE_AS(Import, node)->names.items[0])->name
                               : absolute_name(eval, unit, NODE_AS(ImportFrom, node));
    if (path == NULL || path[0] == '\0' || is_folder(path)) return false;
    const Object *module = import_module(eval, path, node->span);
    return module != NULL && module->kind == OBJECT_MODULE && !module->as.unit->is_library;
}

Object *star_lookup(Eval *eval, const Unit *unit, const NodeImportFrom *node, Name name, Span at,
                    bool *found)
{
    const Name path = absolute_name(eval, unit, node);
    const Object *module =
        path != NULL && path[0] != '\0' ? import_module(eval, path, node->base.span) : NULL;
    *found = false;
    if (module == NULL || module->kind != OBJECT_MODULE || module->as.unit == unit) return NULL;
    Object *object = unit_lookup(eval, module->as.unit, name, UINT32_MAX, at, found);
    if (*found && object != NULL) *found = is_taken(eval, module->as.unit, name, at);
    return object;
}

/* names(module): those that `from module import *` takes. */
Object *core_names(Eval *eval, const Bound *bound)
{
    Object *module = bound->values[0], *list = object_list(eval, OBJECT_LIST, NULL, 0);
    AllNames all = {.eval = eval};
    if (module->kind != OBJECT_MODULE) return list;
    if (!module_names(eval, module, bound->at, &all)) return NULL;
    for (size_t i = 0; i < all.names.count; i++)
        list_append(eval, list, object_text(eval, all.names.data[i], strlen(all.names.data[i])));
    return list;
}
