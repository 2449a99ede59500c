/* object.c: attributes, classes and their instances. */
#include "eval/value.h"

#include <string.h>

/* ---- classes ---- */

static void order_append(Eval *eval, ObjectVec *order, Object *class)
{
    for (size_t i = 0; i < order->count; i++)
        if (order->data[i] == class) return;
    vec_push(eval->arena, order, class);
}

/* Depth first, left to right, a class that several bases share after all of them. */
static void find_order(Eval *eval, Object *object)
{
    Class *class = object->as.class;
    ObjectVec backwards = {0};
    for (int i = class->base_count; i-- > 0;)
        for (int j = class->bases[i]->as.class->order_count; j-- > 0;)
            order_append(eval, &backwards, class->bases[i]->as.class->order[j]);
    class->order = arena_new_array(eval->arena, Object *, backwards.count + 1);
    class->order[0] = object;
    for (size_t i = 0; i < backwards.count; i++)
        class->order[backwards.count - i] = backwards.data[i];
    class->order_count = (int)backwards.count + 1;
}

static Object *new_class(Eval *eval, Name name, const ObjectVec *bases, Span at)
{
    Object *object = object_new(eval, OBJECT_CLASS);
    object->as.class = arena_new_of(eval->arena, Class);
    *object->as.class =
        (Class){.name = name, .bases = bases->data, .base_count = (int)bases->count, .at = at};
    find_order(eval, object);
    return object;
}

static bool eval_bases(Eval *eval, Nodes nodes, ObjectVec *bases)
{
    for (uint32_t i = 0; i < nodes.count; i++) {
        Object *base = eval_expr(eval, nodes.items[i]);
        if (base == NULL) return false;
        if (base->kind == OBJECT_MISSING) {
            missing_needed(eval, base, NULL, nodes.items[i]->span);
            return false;
        }
        if (base->kind == OBJECT_CLASS)
            vec_push(eval->arena, bases, base);
        else if (base->kind != OBJECT_BUILTIN && base->kind != OBJECT_NONE) {
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

Object *class_new(Eval *eval, const NodeClassDef *node)
{
    ObjectVec bases = {0};
    if (!eval_bases(eval, node->bases, &bases)) return NULL;
    if (bases.count == 0 && eval->root_class != NULL)
        vec_push(eval->arena, &bases, eval->root_class);
    Object *class = new_class(eval, node->name, &bases, node->base.span);
    Scope *outer = eval->frame->scope;
    Scope *scope = scope_new(eval, SCOPE_CLASS, outer->kind == SCOPE_CLASS ? outer->parent : outer,
                             outer->unit);
    eval->frame->scope = scope;
    Flow flow = eval_block(eval, node->body);
    eval->frame->scope = outer;
    class->as.class->attributes = scope->bindings;
    own_functions(class);
    return flow == FLOW_NEXT ? class : NULL;
}

Object *class_find(const Object *class, Name name)
{
    for (int i = 0; i < class->as.class->order_count; i++) {
        Binding *binding = bindings_get(&class->as.class->order[i]->as.class->attributes, name);
        if (binding != NULL && binding->object != NULL) return binding->object;
    }
    return NULL;
}

bool class_derives(const Object *class, const Object *base)
{
    for (int i = 0; i < class->as.class->order_count; i++)
        if (class->as.class->order[i] == base) return true;
    return false;
}

Object *instance_new(Eval *eval, Object *class)
{
    Object *object = object_new(eval, OBJECT_INSTANCE);
    object->as.instance = arena_new_of(eval->arena, Instance);
    object->as.instance->class = class;
    return object;
}

/* ---- attributes ---- */

static Object *bind_method(Eval *eval, Object *self, Object *function)
{
    Object *method = object_new(eval, OBJECT_METHOD);
    method->as.method.self = self;
    method->as.method.function = function;
    return method;
}

/* What is found in a class, as it is seen through an instance (or the class, self NULL). */
static Object *bind_found(Eval *eval, Object *self, Object *class, Object *object, Span at)
{
    if (object->kind == OBJECT_STATIC_METHOD) return object->as.method.function;
    if (object->kind == OBJECT_CLASS_METHOD)
        return bind_method(eval, class, object->as.method.function);
    if (self == NULL) return object;
    if (object->kind == OBJECT_PROPERTY)
        return call_simple(eval, object->as.method.function, 1, &self, at);
    if (object->kind == OBJECT_FUNCTION) return bind_method(eval, self, object);
    return object;
}

static bool name_is(Name name, const char *text)
{
    return strcmp(name, text) == 0;
}

static Object *find_in_instance(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *class = object->as.instance->class;
    Binding *own = bindings_get(&object->as.instance->attributes, name);
    *found = true;
    if (own != NULL && own->object != NULL) return binding_get(eval, own, at);
    Object *inherited = class_find(class, name);
    if (inherited != NULL) return bind_found(eval, object, class, inherited, at);
    if (name_is(name, "__class__")) return class;
    Object *fallback = class_find(class, intern_text(eval->session->names, "__getattr__"));
    if (fallback != NULL)
        return call_simple(eval, fallback, 2,
                           (Object *[]){object, object_text(eval, name, strlen(name))}, at);
    *found = false;
    return NULL;
}

static Object *find_in_class(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *value = class_find(object, name);
    *found = true;
    if (value != NULL) return bind_found(eval, NULL, object, value, at);
    if (name_is(name, "__name__"))
        return object_text(eval, object->as.class->name, strlen(object->as.class->name));
    *found = false;
    return NULL;
}

static Object *find_in_module(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Unit *unit = object->as.unit;
    Object *value = unit_lookup(eval, unit, name, UINT32_MAX, at, found);
    if (!*found && eval->host != NULL && name_is(unit->name, "tile.host") &&
        eval->host->find(eval->host, name)) {
        *found = true;
        value = object_new(eval, OBJECT_HOST_FUNCTION);
        value->as.host = name;
    }
    if (*found || unit->folder == NULL) return value;
    eval->quiet++;
    Object *module =
        import_module(eval, intern_printf(eval->session->names, "%s.%s", unit->name, name), at);
    eval->quiet--;
    *found = module != NULL && module->kind == OBJECT_MODULE;
    return *found ? module : NULL;
}

static Object *find_in_super(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *self = object->as.method.self, *after = object->as.method.function;
    Object *class = self->kind == OBJECT_INSTANCE ? self->as.instance->class : self;
    const Class *c = class->as.class;
    int i = 0;
    while (i < c->order_count && c->order[i] != after) i++;
    for (i++; i < c->order_count; i++) {
        Binding *binding = bindings_get(&c->order[i]->as.class->attributes, name);
        if (binding == NULL || binding->object == NULL) continue;
        *found = true;
        return bind_found(eval, self, class, binding->object, at);
    }
    return NULL;
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

static Object *static_shape(Eval *eval, const Type *type, Span at)
{
    Object *shape = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int i = 0; i < type->rank; i++) {
        if (type->shape[i] == TYPE_DYNAMIC)
            return FAIL(eval, not_static, at, "this extent", "a run-time value");
        list_append(eval, shape, object_int(eval, type->shape[i]));
    }
    return shape;
}

static Object *find_in_staged(Eval *eval, const Object *object, Name name, Span at, bool *found)
{
    const Value *value = object->as.ir.value;
    const Type *type = value != NULL ? value->type : object->as.ir.var->type->content;
    *found = name_is(name, "dtype") || name_is(name, "shape") || name_is(name, "ndim");
    if (name_is(name, "shape")) return static_shape(eval, type, at);
    if (name_is(name, "ndim")) return object_int(eval, type->rank);
    if (!*found) return NULL;
    Object *dtype =
        object_new(eval, type->kind == TYPE_POINTER ? OBJECT_POINTER_TYPE : OBJECT_DTYPE);
    dtype->as.dtype = type->dtype;
    return dtype;
}

static Object *find_in_array(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    Object *value = host_attribute(eval, object, name, at, found);
    if (*found) return value;
    Name method = intern_printf(eval->session->names, "array.%s", name);
    if (!eval->host->find(eval->host, method)) return NULL;
    *found = true;
    Object *function = object_new(eval, OBJECT_HOST_FUNCTION);
    function->as.host = method;
    return bind_method(eval, object, function);
}

Object *attribute_find(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    *found = false;
    Object *value = NULL;
    switch ((int)object->kind) {
    case OBJECT_INSTANCE: return find_in_instance(eval, object, name, at, found);
    case OBJECT_CLASS: return find_in_class(eval, object, name, at, found);
    case OBJECT_MODULE: return find_in_module(eval, object, name, at, found);
    case OBJECT_SUPER: return find_in_super(eval, object, name, at, found);
    case OBJECT_MISSING: *found = true; return missing_needed(eval, object, name, at);
    case OBJECT_ARRAY: return find_in_array(eval, object, name, at, found);
    case OBJECT_RANGE:
    case OBJECT_SLICE: value = find_in_range(eval, object, name, found); break;
    case OBJECT_IR:
    case OBJECT_TILE: value = find_in_staged(eval, object, name, at, found); break;
    case OBJECT_FUNCTION:
        *found = name_is(name, "__name__");
        value = *found
                    ? object_text(eval, object->as.function.name, strlen(object->as.function.name))
                    : NULL;
        break;
    default: break;
    }
    if (*found) return value;
    value = builtin_method(eval, object, name);
    *found = value != NULL;
    return value;
}

Object *attribute_get(Eval *eval, Object *object, Name name, Span at)
{
    bool found;
    Object *value = attribute_find(eval, object, name, at, &found);
    if (found) return value;
    if (object->kind == OBJECT_MODULE)
        return FAIL(eval, unknown_import, at, object->as.unit->name, name);
    return FAIL(eval, unknown_attribute, at, object_repr(eval, object), name);
}

bool attribute_set(Eval *eval, Object *object, Name name, Object *value, Span at)
{
    if (object->kind == OBJECT_INSTANCE)
        return binding_set(eval, bindings_make(eval, &object->as.instance->attributes, name), value,
                           at);
    if (object->kind == OBJECT_CLASS)
        return binding_set(eval, bindings_make(eval, &object->as.class->attributes, name), value,
                           at);
    FAIL(eval, unknown_attribute, at, object_repr(eval, object), name);
    return false;
}
