/* classes.c: what classes are asked for: attributes along the order of their bases, special
 * methods. */
#include "eval/values/values.h"

#include <string.h>

Object *object_class(const Object *object)
{
    if (object->kind == OBJECT_INSTANCE) return object->as.instance->class;
    return object->kind == OBJECT_TUPLE ? object->as.list.class : NULL;
}

Object *class_find(const Object *class, Name name)
{
    for (int i = 0; i < class->as.class->mro_count; i++) {
        Binding *binding = bindings_get(&class->as.class->mro[i]->as.class->attributes, name);
        if (binding != NULL && binding->object != NULL) return binding->object;
    }
    return NULL;
}

/* A statement of a module itself makes one class of a program, however often it is evaluated here:
 * a host has it evaluated for each state of the module that kernels are made in. */
bool class_is(const Class *a, const Class *b)
{
    if (a == b) return true;
    const uint32_t length = a->at.end - a->at.begin;
    return a->name == b->name && a->file != NULL && a->file == b->file &&
           b->at.end - b->at.begin == length &&
           memcmp(a->at.source->text + a->at.begin, b->at.source->text + b->at.begin, length) == 0;
}

bool class_derives(const Object *class, const Object *base)
{
    for (int i = 0; i < class->as.class->mro_count; i++)
        if (class_is(class->as.class->mro[i]->as.class, base->as.class)) return true;
    return false;
}

Object *special_method(Eval *eval, const Object *object, const char *name)
{
    const Object *class = object_class(object);
    if (class == NULL || !eval_work(eval, (uint64_t) class->as.class->mro_count / 8)) return NULL;
    return class_find(class, intern_text(eval->session->names, name));
}

const Object *said_of(Eval *eval, const Function *function, const char *name)
{
    if (function == NULL || function->attributes == NULL) return NULL;
    const Binding *said =
        bindings_get(function->attributes, intern_text(eval->session->names, name));
    return said != NULL ? said->object : NULL;
}

Object *instance_number(Eval *eval, Object *object)
{
    static const char *const NAMES[] = {"__index__", "__float__"};
    for (int i = 0; i < 2 && object->kind == OBJECT_INSTANCE; i++) {
        Object *method = special_method(eval, object, NAMES[i]);
        if (method != NULL) return eval->ops->call_simple(eval, method, 1, &object, eval->at);
    }
    return object;
}

Object *instance_new(Eval *eval, Object *class)
{
    Object *object = object_new(eval, OBJECT_INSTANCE);
    object->as.instance = arena_new_of(eval->arena, Instance);
    object->as.instance->class = class;
    if (eval->host != NULL && eval->host->surveys && class_is_kernel(class))
        vec_push(eval->arena, &eval->surveyed, object);
    return object;
}

bool object_is_record(const Object *object)
{
    return object->kind == OBJECT_TUPLE && object->as.list.class != NULL;
}

bool class_says(const Object *class, const char *name)
{
    for (int i = 0; i < class->as.class->mro_count; i++) {
        const BindingVec *list = &class->as.class->mro[i]->as.class->attributes.list;
        for (size_t j = 0; j < list->count; j++)
            if (strcmp(list->data[j]->name, name) == 0)
                return list->data[j]->object != NULL &&
                       list->data[j]->object->kind == OBJECT_BOOL &&
                       list->data[j]->object->as.integer != 0;
    }
    return false;
}

bool class_is_kernel(const Object *class)
{
    return class_says(class, "__kernel__");
}

bool is_kernel(const Object *object)
{
    return object->kind == OBJECT_INSTANCE && class_is_kernel(object->as.instance->class);
}

bool makes_kernels(const Object *object)
{
    if (object->kind == OBJECT_CLASS) return class_is_kernel(object);
    return is_kernel(object) || (object->kind == OBJECT_INSTANCE &&
                                 class_says(object->as.instance->class, "__kernel_template__"));
}

bool builtin_is(const Object *object, const char *name)
{
    return object->kind == OBJECT_BUILTIN && strcmp(object->as.builtin->module, "builtins") == 0 &&
           strcmp(object->as.builtin->name, name) == 0;
}
