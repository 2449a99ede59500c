/* object.c: attributes, classes and their instances. */
#include "eval/python/python.h"

#include <string.h>

/* ---- classes ---- */

/* In how many tails a class stands: behind the first place of a list. */
static void count_in_tails(Eval *eval, Map *tails, const Object *class, intptr_t more)
{
    const intptr_t count = (intptr_t)map_get(tails, class) + more;
    map_set(eval->arena, tails, class, (void *)count);
}

/* C3, as Python does: the first head that stands in no tail comes next; NULL: there is none. */
static Object *next_in_order(Eval *eval, const ObjectVec *lists, size_t *taken, size_t count,
                             Map *tails)
{
    for (size_t i = 0; i < count; i++) {
        if (taken[i] == lists[i].count) continue;
        Object *head = lists[i].data[taken[i]];
        if (map_get(tails, head) != NULL) continue;
        for (size_t j = 0; j < count; j++)
            if (taken[j] < lists[j].count && lists[j].data[taken[j]] == head &&
                ++taken[j] < lists[j].count)
                count_in_tails(eval, tails, lists[j].data[taken[j]], -1);
        return head;
    }
    return NULL;
}

enum { BASES_LIMIT = 1000 };

/* False: reported. */
static bool find_order(Eval *eval, Object *object)
{
    Class *class = object->as.class;
    size_t count = (size_t) class->base_count + 1, total = 1;
    ObjectVec *lists = arena_new_array(eval->arena, ObjectVec, count);
    size_t *taken = arena_new_array(eval->arena, size_t, count);
    Map tails = {0};
    for (int i = 0; i < class->base_count; i++) {
        const Class *base = class->bases[i]->as.class;
        for (int j = 0; j < base->mro_count; j++) vec_push(eval->arena, &lists[i], base->mro[j]);
        vec_push(eval->arena, &lists[count - 1], class->bases[i]);
        total += (size_t)base->mro_count;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 1; j < lists[i].count; j++)
            count_in_tails(eval, &tails, lists[i].data[j], 1);
    class->mro = arena_new_array(eval->arena, Object *, total);
    class->mro[class->mro_count++] = object;
    for (Object *next; (next = next_in_order(eval, lists, taken, count, &tails)) != NULL;) {
        if (class->mro_count > BASES_LIMIT)
            return FAIL(eval, too_much, class->at, "at compile time",
                        "1000 classes above one class"),
                   false;
        class->mro[class->mro_count++] = next;
    }
    for (size_t i = 0; i < count; i++)
        if (taken[i] < lists[i].count)
            return raise_python(eval, "TypeError",
                                "the bases have no order that agrees with their own", class->at);
    return true;
}

static Object *new_class(Eval *eval, Name name, const ObjectVec *bases, Span at)
{
    Object *object = object_new(eval, OBJECT_CLASS);
    ObjectVec classes = {0};
    for (size_t i = 0; i < bases->count; i++)
        if (bases->data[i]->kind == OBJECT_CLASS) vec_push(eval->arena, &classes, bases->data[i]);
    if (classes.count == 0 && eval->root_class != NULL)
        vec_push(eval->arena, &classes, eval->root_class);
    object->as.class = arena_new_of(eval->arena, Class);
    *object->as.class =
        (Class){.name = name, .bases = classes.data, .base_count = (int)classes.count, .at = at};
    object->as.class->written = bases->count > 0
                                    ? object_list(eval, OBJECT_TUPLE, bases->data, bases->count)
                                    : object_list(eval, OBJECT_TUPLE, classes.data, classes.count);
    return find_order(eval, object) ? object : NULL;
}

/* Sets `*root` to the base that says itself what a class below it is, as a vector's type does. */
static bool eval_bases(Eval *eval, Nodes nodes, ObjectVec *bases, Object **root)
{
    for (uint32_t i = 0; i < nodes.count; i++) {
        Object *base = eval->ops->eval_expr(eval, nodes.items[i]);
        if (base == NULL) return false;
        if (base->kind == OBJECT_MISSING) {
            eval->ops->missing_needed(eval, base, NULL, nodes.items[i]->span);
            return false;
        }
        if (special_method(eval, base, "__derive__") != NULL) {
            *root = base;
            return true;
        }
        if (base->kind == OBJECT_CLASS || base->kind == OBJECT_BUILTIN) {
            vec_push(eval->arena, bases, base);
        } else if (base->kind != OBJECT_NONE) {
            FAIL(eval, expected_kind, nodes.items[i]->span, "a base", "a class",
                 object_repr(eval, base));
            return false;
        }
    }
    return true;
}

static void own_functions(Object *class)
{
    const BindingVec *list = &class->as.class->attributes.list;
    for (size_t i = 0; i < list->count; i++) {
        Object *object = list->data[i]->object;
        bool wrapped = object != NULL &&
                       (object->kind == OBJECT_PROPERTY || object->kind == OBJECT_STATIC_METHOD ||
                        object->kind == OBJECT_CLASS_METHOD);
        if (wrapped) object = object->as.method.function;
        if (object != NULL && object->kind == OBJECT_FUNCTION && object->as.function.owner == NULL)
            object->as.function.owner = class;
    }
}

/* Tells what the body bound: __set_name__ of each value that wants to know. */
static bool tell_names(Eval *eval, Object *class, Span at)
{
    const BindingVec *list = &class->as.class->attributes.list;
    const size_t count = list->count; /* they may bind more */
    for (size_t i = 0; i < count; i++) {
        Object *value = list->data[i]->object;
        Object *method = value != NULL ? special_method(eval, value, "__set_name__") : NULL;
        Name name = list->data[i]->name;
        Object *given[] = {value, class, object_text(eval, name, strlen(name))};
        if (method != NULL && eval->ops->call_simple(eval, method, 3, given, at) == NULL)
            return false;
    }
    return true;
}

/* Tells the bases: __init_subclass__ of the next in order, with the keywords of the statement. */
static bool class_finish(Eval *eval, Object *class, const NodeClassDef *node)
{
    Name hook = intern_text(eval->session->names, "__init_subclass__");
    Arguments arguments = {.at = node->base.span};
    Object *method = NULL;
    if (!tell_names(eval, class, node->base.span)) return false;
    for (int i = 1; method == NULL && i < class->as.class->mro_count; i++) {
        Binding *binding = bindings_get(&class->as.class->mro[i]->as.class->attributes, hook);
        if (binding != NULL) method = binding->object;
    }
    if (method == NULL) return true;
    if (method->kind == OBJECT_CLASS_METHOD) method = method->as.method.function;
    for (uint32_t i = 0; i < node->keywords.count; i++) {
        const Nodekeyword *keyword = NODE_AS(keyword, node->keywords.items[i]);
        Object *value = eval->ops->eval_expr(eval, keyword->value);
        if (value == NULL) return false;
        if (keyword->arg == NULL) continue;
        vec_push(eval->arena, &arguments.names, keyword->arg);
        vec_push(eval->arena, &arguments.named, value);
    }
    return method->kind != OBJECT_FUNCTION ||
           eval->ops->call_function(eval, method, class, &arguments) != NULL;
}

/* As it is now. An instance has one, which follows the attributes. */
static Object *attributes_dict(Eval *eval, Object *object)
{
    const bool is_class = object->kind == OBJECT_CLASS;
    const Bindings *attributes =
        is_class ? &object->as.class->attributes : &object->as.instance->attributes;
    Object *dict = is_class ? NULL : object->as.instance->dict;
    if (dict == NULL) dict = dict_new(eval);
    if (!is_class) object->as.instance->dict = dict;
    dict->as.dict.mirrored = object;
    dict_clear(dict);
    for (size_t i = 0; i < attributes->list.count; i++) {
        Binding *binding = attributes->list.data[i];
        Object *value =
            binding->object != NULL ? eval->ops->binding_get(eval, binding, eval->at) : NULL;
        if (value != NULL)
            dict_set(eval, dict, object_text(eval, binding->name, strlen(binding->name)), value);
    }
    return dict;
}

/* What the base makes of the name and of what the body bound. */
static Object *class_derive(Eval *eval, Object *root, Object *class, Span at)
{
    const Name name = class->as.class->name;
    Object *given[] = {root, object_text(eval, name, strlen(name)), attributes_dict(eval, class)};
    return eval->ops->call_simple(eval, special_method(eval, root, "__derive__"), 3, given, at);
}

static Name file_of_statement(Eval *eval, const Unit *unit, const NodeClassDef *node)
{
    if (unit == NULL || unit->is_library || unit->tree == NULL) return NULL;
    for (uint32_t i = 0; i < unit->tree->tree->body.count; i++)
        if (unit->tree->tree->body.items[i] == &node->base)
            return intern_text(eval->session->names,
                               os_real_path(eval->arena, node->base.span.source->path));
    return NULL;
}

/* A host that runs the program tells of a class by its place in a file, and a kernel's text says
 * its name: both mean the class that the host has. One that says so is one for all modules that are
 * made of that file, as members of enumerations are compared by what they are. */
static Object *class_of_text(Eval *eval, Object *class, const NodeClassDef *node)
{
    const Scope *scope = eval->frame->scope;
    const bool is_inner = scope->kind == SCOPE_FUNCTION && scope->bindings.list.count > 0;
    if (eval->frame->function != NULL || is_inner || !class_says(class, "__one_for_all__"))
        return class;
    const Span at = node->base.span;
    const Name key =
        intern_printf(eval->session->names, "%s:%.*s", os_real_path(eval->arena, at.source->path),
                      (int)(at.end - at.begin), at.source->text + at.begin);
    Object *before = map_get(&eval->classes_of_texts, key);
    if (before == NULL) map_set(eval->arena, &eval->classes_of_texts, key, class);
    return before != NULL ? before : class;
}

Object *class_new(Eval *eval, const NodeClassDef *node)
{
    ObjectVec bases = {0};
    Object *root = NULL;
    if (!eval_bases(eval, node->bases, &bases, &root)) return NULL;
    Object *class = new_class(eval, node->name, &bases, node->base.span);
    if (class == NULL) return NULL;
    Scope *outer = eval->frame->scope;
    Scope *scope = scope_new(eval, SCOPE_CLASS, outer->kind == SCOPE_CLASS ? outer->parent : outer,
                             outer->unit);
    eval->frame->scope = scope;
    Flow flow = eval->ops->eval_block(eval, node->body);
    eval->frame->scope = outer;
    class->as.class->attributes = scope->bindings;
    class->as.class->file = file_of_statement(eval, outer->unit, node);
    if (root != NULL)
        return flow == FLOW_NEXT ? class_derive(eval, root, class, node->base.span) : NULL;
    own_functions(class);
    return flow == FLOW_NEXT && class_finish(eval, class, node) ? class_of_text(eval, class, node)
                                                                : NULL;
}

Object *class_make(Eval *eval, Name name, const ObjectVec *bases, const Object *attributes, Span at)
{
    Object *class = new_class(eval, name, bases, at);
    for (size_t i = 0; class != NULL && i < attributes->as.dict.keys.count; i++) {
        const Object *key = attributes->as.dict.keys.data[i];
        if (key->kind != OBJECT_TEXT)
            return FAIL(eval, expected_kind, at, "an attribute's name", "a str",
                        object_repr(eval, key));
        Name attribute = intern(eval->session->names, key->as.text.data, key->as.text.length);
        bindings_make(eval, &class->as.class->attributes, attribute)->object =
            attributes->as.dict.values.data[i];
    }
    if (class != NULL) own_functions(class);
    return class;
}

/* ---- attributes ---- */

static Object *bind_method(Eval *eval, Object *self, Object *function)
{
    Object *method = object_new(eval, OBJECT_METHOD);
    method->as.method.self = self;
    method->as.method.function = function;
    return method;
}

static bool name_is(Name name, const char *text)
{
    return strcmp(name, text) == 0;
}

/* What is found in a class, as it is seen through an instance (or the class, self NULL). */
static Object *bind_found(Eval *eval, Object *self, Object *class, Object *object, Span at)
{
    if (object->kind == OBJECT_STATIC_METHOD) return object->as.method.function;
    if (object->kind == OBJECT_CLASS_METHOD)
        return bind_method(eval, class, object->as.method.function);
    if (object->kind == OBJECT_FUNCTION && name_is(object->as.function.name, "__new__"))
        return object; /* which is static without saying so */
    Object *getter = special_method(eval, object, "__get__");
    if (getter != NULL)
        return eval->ops->call_simple(
            eval, getter, 3, (Object *[]){object, self != NULL ? self : eval->none, class}, at);
    if (self == NULL) return object;
    if (object->kind == OBJECT_PROPERTY)
        return eval->ops->call_simple(eval, object->as.method.function, 1, &self, at);
    if (object->kind != OBJECT_FUNCTION ||
        said_of(eval, &object->as.function, "__static__") == eval->yes)
        return object;
    return bind_method(eval, self, object);
}

/* What an object has by its class: `inherited` is what the class itself has under the name, or
 * NULL. */
static Object *find_by_class(Eval *eval, Object *object, Object *class, Object *inherited,
                             Name name, Span at, bool *found)
{
    if (inherited != NULL) return bind_found(eval, object, class, inherited, at);
    if (name_is(name, "__class__")) return class;
    Object *fallback = class_find(class, intern_text(eval->session->names, "__getattr__"));
    if (fallback != NULL)
        return eval->ops->call_simple(
            eval, fallback, 2, (Object *[]){object, object_text(eval, name, strlen(name))}, at);
    *found = false;
    return NULL;
}

static Object *find_in_instance(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *class = object->as.instance->class;
    Binding *own = bindings_get(&object->as.instance->attributes, name);
    *found = true;
    Object *inherited = class_find(class, name);
    const bool is_settled = inherited != NULL && special_method(eval, inherited, "__set__") != NULL;
    if (own != NULL && own->object != NULL && !is_settled)
        return eval->ops->binding_get(eval, own, at);
    if (name_is(name, "__dict__")) return attributes_dict(eval, object);
    return find_by_class(eval, object, class, inherited, name, at, found);
}

static Object *find_in_record(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *class = object->as.list.class, *field = record_field(eval, object, name);
    *found = true;
    if (field != NULL) return field;
    return find_by_class(eval, object, class, class_find(class, name), name, at, found);
}

/* What all classes have in the end, and is not looked for in each of them: NULL if it is not that.
 */
static Object *find_in_object(Eval *eval, Name name, Span at)
{
    bool found;
    Object *last =
        scope_lookup(eval, eval->builtins, intern_text(eval->session->names, "_last"), at, &found);
    return found && last != NULL ? class_find(last, name) : NULL;
}

static Object *find_in_class(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *value = class_find(object, name);
    *found = true;
    if (value != NULL) return bind_found(eval, NULL, object, value, at);
    const Class *class = object->as.class;
    if (name_is(name, "__name__") || name_is(name, "__qualname__"))
        return object_text(eval, class->name, strlen(class->name));
    if (name_is(name, "__dict__")) return attributes_dict(eval, object);
    if (name_is(name, "__mro__"))
        return object_list(eval, OBJECT_TUPLE, class->mro, (size_t) class->mro_count);
    if (name_is(name, "__bases__")) return class->written;
    if (object == eval->root_class) value = find_in_object(eval, name, at);
    *found = value != NULL;
    return value;
}

/* The module's own __getattr__, for names that it does not have. One of the library says None of
 * what it does not have either. */
static Object *module_fallback(Eval *eval, Unit *unit, Name name, Span at, bool *found)
{
    Name own = intern_text(eval->session->names, "__getattr__");
    if (name == own) return NULL;
    Object *function = unit_lookup(eval, unit, own, UINT32_MAX, at, found);
    if (!*found || function == NULL) return NULL;
    Object *text = object_text(eval, name, strlen(name));
    Object *value = eval->ops->call_simple(eval, function, 1, &text, at);
    *found = value != eval->none || !unit->is_library;
    return *found ? value : NULL;
}

static Object *find_in_module(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Unit *unit = object->as.unit;
    Object *value = unit_lookup(eval, unit, name, UINT32_MAX, at, found);
    if (!*found && eval->host != NULL && name_is(unit->name, "tile.host") &&
        eval->host->find(eval->host, name)) {
        *found = true;
        value = host_function_named(eval, name);
    }
    if (*found || unit->folder == NULL)
        return *found ? value : module_fallback(eval, unit, name, at, found);
    eval->quiet++;
    Object *module = eval->ops->import_module(
        eval, intern_printf(eval->session->names, "%s.%s", unit->name, name), at);
    eval->quiet--;
    *found = module != NULL && module->kind == OBJECT_MODULE;
    return *found ? module : module_fallback(eval, unit, name, at, found);
}

static Object *find_in_super(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *self = object->as.method.self, *after = object->as.method.function;
    Object *class = object_class(self) != NULL ? object_class(self) : self;
    const Class *c = class->as.class;
    int i = 0;
    while (i < c->mro_count && c->mro[i] != after) i++;
    for (i++; i < c->mro_count; i++) {
        Binding *binding = bindings_get(&c->mro[i]->as.class->attributes, name);
        if (binding == NULL || binding->object == NULL) continue;
        *found = true;
        return bind_found(eval, self, class, binding->object, at);
    }
    Object *value = find_in_object(eval, name, at);
    *found = value != NULL;
    return *found ? bind_found(eval, self, class, value, at) : NULL;
}

static Object *find_in_range(Eval *eval, const Object *object, Name name, bool *found)
{
    const char *const names[] = {"start", "stop", "step"};
    Object *const values[] = {object->as.range.start, object->as.range.stop, object->as.range.step};
    for (int i = 0; i < 3; i++)
        if (name_is(name, names[i])) {
            *found = true;
            return values[i] != NULL ? values[i] : eval->none;
        }
    return NULL;
}

/* What the host does not have itself stands in a module of the library, which the array names. */
static Object *method_of_library(Eval *eval, Object *array, Name name, Span at, bool *found)
{
    Object *path =
        host_attribute(eval, array, intern_text(eval->session->names, "__methods__"), at, found);
    if (!*found || path == NULL) return NULL;
    Object *module =
        eval->ops->import_module(eval, intern_text(eval->session->names, path->as.text.data), at);
    Object *function =
        module != NULL ? attribute_find(eval, module, name, at, found) : (Object *)NULL;
    return *found && function != NULL ? bind_method(eval, array, function) : NULL;
}

static Object *find_in_array(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *value = host_attribute(eval, object, name, at, found);
    if (*found) return value;
    Name method = intern_printf(eval->session->names, "array.%s", name);
    if (!eval->host->find(eval->host, method))
        return method_of_library(eval, object, name, at, found);
    *found = true;
    Object *function = object_new(eval, OBJECT_HOST_FUNCTION);
    function->as.host = method;
    return bind_method(eval, object, function);
}

/* Those of the last positional parameters; None: there are none. */
static Object *function_defaults(Eval *eval, const Function *function)
{
    const Node *list = function->node->kind == NODE_Lambda
                           ? NODE_AS(Lambda, function->node)->args
                           : NODE_AS(FunctionDef, function->node)->args;
    uint32_t count = NODE_AS(arguments, list)->defaults.count;
    return count > 0 ? object_list(eval, OBJECT_TUPLE, function->defaults, count) : eval->none;
}

static Object *find_in_function(Eval *eval, const Object *object, Name name, Span at, bool *found)
{
    const Function *function = &object->as.function;
    Binding *binding =
        function->attributes != NULL ? bindings_get(function->attributes, name) : NULL;
    *found = true;
    if (binding != NULL && binding->object != NULL)
        return eval->ops->binding_get(eval, binding, at);
    if (name_is(name, "__name__") || name_is(name, "__qualname__"))
        return object_text(eval, function->name, strlen(function->name));
    if (name_is(name, "__doc__")) return eval->none;
    if (name_is(name, "__defaults__")) return function_defaults(eval, function);
    *found = false;
    return NULL;
}

Object *attribute_find(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    *found = false;
    Object *value = NULL;
    if (object_is_record(object)) return find_in_record(eval, object, name, at, found);
    switch ((int)object->kind) {
    case OBJECT_INSTANCE: return find_in_instance(eval, object, name, at, found);
    case OBJECT_CLASS: return find_in_class(eval, object, name, at, found);
    case OBJECT_MODULE: return find_in_module(eval, object, name, at, found);
    case OBJECT_SUPER: return find_in_super(eval, object, name, at, found);
    case OBJECT_MISSING: *found = true; return missing_attribute(eval, object, name, at);
    case OBJECT_ARRAY: return find_in_array(eval, object, name, at, found);
    case OBJECT_PLACE: return eval->ops->place_attribute(eval, object, name, at, found);
    case OBJECT_RANGE:
    case OBJECT_SLICE: value = find_in_range(eval, object, name, found); break;
    case OBJECT_IR:
    case OBJECT_TILE: value = eval->ops->staged_attribute(eval, object, name, at, found); break;
    case OBJECT_FUNCTION: value = find_in_function(eval, object, name, at, found); break;
    case OBJECT_BUILTIN:
        *found = name_is(name, "__name__");
        value = *found
                    ? object_text(eval, object->as.builtin->name, strlen(object->as.builtin->name))
                    : builtin_of_kind(eval, object->as.builtin, name);
        *found = value != NULL;
        break;
    default: break;
    }
    if (*found) return value;
    value = builtin_method(eval, object, name);
    *found = value != NULL;
    return value;
}

/* Whether it is where functions of arrays are, and none is, as no program runs. */
static bool lacks_arrays(Eval *eval, const Object *object)
{
    return object->kind == OBJECT_MODULE && name_is(object->as.unit->name, "tile.host") &&
           (eval->host == NULL ||
            !eval->host->find(eval->host, intern_text(eval->session->names, "zeros")));
}

static Object *host_needed(Eval *eval, Name module, Name name, Span at)
{
    FAIL(eval, host_module, at, arena_printf(eval->arena, "%s.%s", module, name), module);
    if (eval->quiet == 0)
        diag_hint(eval->session->diags, "kernels get the program's arrays as arguments");
    return NULL;
}

Object *attribute_get(Eval *eval, Object *object, Name name, Span at)
{
    bool found;
    Object *value = attribute_find(eval, object, name, at, &found);
    if (found) return value;
    if (lacks_arrays(eval, object)) return host_needed(eval, object->as.unit->name, name, at);
    if (object->kind == OBJECT_MODULE)
        FAIL(eval, unknown_import, at, object->as.unit->name, name);
    else
        FAIL(eval, unknown_attribute, at, object_repr(eval, object), name);
    Nearest nearest = nearest_to(name);
    nearest_try_attributes(eval, &nearest, object);
    return nearest_hint(eval, &nearest);
}

bool attribute_put(Eval *eval, Object *object, Name name, Object *value, Span at)
{
    if (object->kind == OBJECT_FUNCTION && object->as.function.attributes == NULL)
        object->as.function.attributes = arena_new_of(eval->arena, Bindings);
    Bindings *attributes = object->kind == OBJECT_INSTANCE   ? &object->as.instance->attributes
                           : object->kind == OBJECT_CLASS    ? &object->as.class->attributes
                           : object->kind == OBJECT_FUNCTION ? object->as.function.attributes
                                                             : NULL;
    if (object->kind == OBJECT_INSTANCE && object->as.instance->dict != NULL)
        dict_set(eval, object->as.instance->dict, object_text(eval, name, strlen(name)), value);
    if (attributes != NULL)
        return eval->ops->binding_set(eval, bindings_make(eval, attributes, name), value, at);
    if (object->kind == OBJECT_MODULE && !object->as.unit->is_library && eval->staging == NULL) {
        map_set(eval->arena, &object->as.unit->defined, name, value);
        return true;
    }
    FAIL(eval, unknown_attribute, at, object_repr(eval, object), name);
    return false;
}

/* A property's setter, or __setattr__. *found false: there is neither. */
static bool set_by_class(Eval *eval, Object *object, Name name, Object *value, Span at, bool *found)
{
    const Object *class = object->as.instance->class;
    Object *inherited = class_find(class, name);
    Object *hook = class_find(class, intern_text(eval->session->names, "__setattr__"));
    Object *text = object_text(eval, name, strlen(name));
    *found = true;
    if (hook != NULL)
        return eval->ops->call_simple(eval, hook, 3, (Object *[]){object, text, value}, at) != NULL;
    if (inherited != NULL && inherited->kind == OBJECT_PROPERTY) {
        Object *setter = inherited->as.method.self;
        if (setter != NULL)
            return eval->ops->call_simple(eval, setter, 2, (Object *[]){object, value}, at) != NULL;
        FAIL(eval, unknown_attribute, at, object_repr(eval, object),
             arena_printf(eval->arena, "%s' with a setter", name));
        return false;
    }
    Object *setter = inherited != NULL ? special_method(eval, inherited, "__set__") : NULL;
    if (setter != NULL)
        return eval->ops->call_simple(eval, setter, 3, (Object *[]){inherited, object, value},
                                      at) != NULL;
    *found = false;
    return false;
}

bool attribute_set(Eval *eval, Object *object, Name name, Object *value, Span at)
{
    bool found = false, good = false;
    if (object->kind == OBJECT_INSTANCE) good = set_by_class(eval, object, name, value, at, &found);
    if (found) return good;
    if (object->kind == OBJECT_CLASS && value->kind == OBJECT_FUNCTION &&
        value->as.function.owner == NULL)
        value->as.function.owner = object;
    return attribute_put(eval, object, name, value, at);
}

bool attribute_delete(Eval *eval, Object *object, Name name, Span at)
{
    Bindings *attributes = object->kind == OBJECT_INSTANCE ? &object->as.instance->attributes
                           : object->kind == OBJECT_CLASS  ? &object->as.class->attributes
                                                           : NULL;
    Binding *binding = attributes != NULL ? bindings_get(attributes, name) : NULL;
    if (object->kind == OBJECT_INSTANCE && object->as.instance->dict != NULL)
        dict_remove(eval, object->as.instance->dict, object_text(eval, name, strlen(name)));
    if (binding != NULL && binding->object != NULL) {
        eval->ops->binding_put(eval, binding, NULL, at);
        return true;
    }
    FAIL(eval, unknown_attribute, at, object_repr(eval, object), name);
    return false;
}

/* The attribute that an item is; NULL: reported. */
static Name mirrored_name(Eval *eval, const Object *dict, const Object *key, Span at)
{
    if (dict->as.dict.mirrored->kind == OBJECT_CLASS)
        return raise_python(eval, "TypeError",
                            "the __dict__ of a class is read only: use setattr and delattr", at);
    if (key->kind != OBJECT_TEXT)
        return FAIL(eval, expected_kind, at, "an attribute's name", "a str",
                    object_repr(eval, key));
    return intern(eval->session->names, key->as.text.data, key->as.text.length);
}

bool mirror_set(Eval *eval, const Object *dict, const Object *key, Object *value, Span at)
{
    Name name = mirrored_name(eval, dict, key, at);
    return name != NULL && attribute_put(eval, dict->as.dict.mirrored, name, value, at);
}

bool mirror_delete(Eval *eval, const Object *dict, const Object *key, Span at)
{
    Name name = mirrored_name(eval, dict, key, at);
    return name != NULL && attribute_delete(eval, dict->as.dict.mirrored, name, at);
}
