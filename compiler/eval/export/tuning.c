/* tuning.c: kernels in several configurations, from which tuning chooses at the first call.
 *
 * A configuration is a dict of names and values. Where the instance has `__members__`, each of them
 * was made with one configuration of `__configurations__`; else the names are keys of the kernel's
 * function. To callers all are one kernel: what the configurations give is no argument. One that
 * cannot be built is left out with a remark. */
#include "eval/export/export.h"

#include <string.h>

/* ---- planning ---- */

static Object *name_object(Eval *eval, Name name)
{
    return object_text(eval, name, strlen(name));
}

/* The dict without the parameters that the call gives a value. */
static Object *without_given(Eval *eval, const Signature *signature, Object *const *values,
                             const Object *configuration)
{
    Object *left = object_new(eval, OBJECT_DICT);
    for (size_t i = 0; i < configuration->as.dict.keys.count; i++) {
        const Object *name = configuration->as.dict.keys.data[i];
        size_t index =
            name->kind == OBJECT_TEXT
                ? signature_find(signature, intern_text(eval->session->names, name->as.text.data))
                : signature->parameters.count;
        if (index < signature->parameters.count && values[index] != NULL) continue;
        dict_set(eval, left, configuration->as.dict.keys.data[i],
                 configuration->as.dict.values.data[i]);
    }
    return left;
}

static bool is_among(Eval *eval, const ObjectVec *list, const Object *object)
{
    for (size_t i = 0; i < list->count; i++)
        if (object_equal(eval, list->data[i], object)) return true;
    return false;
}

/* Every name is a key of the function, and each configuration has all of them. */
static bool check_names(Eval *eval, const Signature *signature,
                        const Specialisation *specialisation)
{
    const Object *first = specialisation->configurations.data[0];
    for (size_t i = 0; i < specialisation->configurations.count; i++) {
        const Object *configuration = specialisation->configurations.data[i];
        for (size_t j = 0; j < configuration->as.dict.keys.count; j++) {
            const Object *name = configuration->as.dict.keys.data[j];
            const size_t index = name->kind == OBJECT_TEXT
                                     ? signature_find(signature, intern_text(eval->session->names,
                                                                             name->as.text.data))
                                     : signature->parameters.count;
            if (index == signature->parameters.count ||
                signature->parameters.data[index].kind != PARAMETER_KEY)
                return FAIL(eval, configuration_name, specialisation->at, object_repr(eval, name),
                            kernel_name(signature->instance)),
                       false;
            if (dict_get(eval, first, name) == NULL ||
                configuration->as.dict.keys.count != first->as.dict.keys.count)
                return FAIL(eval, configurations_differ, specialisation->at), false;
        }
    }
    return true;
}

static bool are_members(const Object *members, uint32_t count)
{
    bool good = object_is_sequence(members) && members->as.list.count == count;
    for (uint32_t i = 0; good && i < count; i++) good = is_kernel(members->as.list.items[i]);
    return good;
}

bool tuning_plan(Eval *eval, const Signature *signature, Object *const *values,
                 Specialisation *specialisation)
{
    const Object *all = signature->configurations;
    const Object *members = instance_attribute(eval, signature->instance, "__members__");
    if (all == NULL || !object_is_sequence(all) || all->as.list.count == 0) return true;
    if (members != NULL && !are_members(members, all->as.list.count))
        return FAIL(eval, member_count, specialisation->at, all->as.list.count), false;
    ObjectVec *out = &specialisation->configurations;
    for (uint32_t i = 0; i < all->as.list.count; i++) {
        Object *configuration = all->as.list.items[i];
        if (configuration->kind != OBJECT_DICT)
            return FAIL(eval, expected_kind, specialisation->at, "a configuration",
                        "a dict of names and values", object_repr(eval, configuration)),
                   false;
        if (members == NULL) configuration = without_given(eval, signature, values, configuration);
        if (members == NULL && is_among(eval, out, configuration)) continue;
        if (!eval_may_add(eval, out->count, "configurations", specialisation->at)) return false;
        vec_push(eval->arena, out, configuration);
        if (members != NULL)
            vec_push(eval->arena, &specialisation->members, members->as.list.items[i]);
    }
    if (members != NULL) return true;
    if (out->data[0]->as.dict.keys.count == 0 && out->count == 1)
        out->count = 0; /* the call gives all */
    return out->count == 0 || check_names(eval, signature, specialisation);
}

Object *tuning_key(Eval *eval, const Specialisation *specialisation, Name parameter)
{
    Object *list = NULL;
    const ObjectVec *all = &specialisation->configurations;
    (void)parameter;
    if (all->count == 0 || specialisation->members.count > 0) return NULL;
    Object *key = name_object(eval, parameter);
    for (size_t i = 0; i < all->count; i++) {
        Object *value = dict_get(eval, all->data[i], key);
        if (value == NULL) return NULL;
        if (list == NULL) list = object_list(eval, OBJECT_LIST, NULL, 0);
        list_append(eval, list, value);
    }
    return list;
}

/* ---- staging ---- */

/* "block_m=64, num_warps=4" */
static Name configuration_name(Eval *eval, const Object *configuration)
{
    Buf text = {0};
    for (size_t i = 0; i < configuration->as.dict.keys.count; i++) {
        buf_text(&text, i == 0 ? "" : ", ");
        object_print(eval, configuration->as.dict.keys.data[i], TEXT_STR, &text);
        buf_char(&text, '=');
        object_print(eval, configuration->as.dict.values.data[i], TEXT_REPR, &text);
    }
    Name name = intern(eval->session->names, text.data, text.length);
    buf_free(&text);
    return name;
}

static bool same_extents(Object *const *a, Object *const *b, int rank)
{
    for (int i = 0; i < rank; i++)
        if (a[i]->kind != b[i]->kind ||
            (a[i]->kind == OBJECT_SYMBOL && a[i]->as.symbol->is_key != b[i]->as.symbol->is_key))
            return false;
    return true;
}

static bool same_tensor(const TensorType *a, const TensorType *b)
{
    if (a == NULL || b == NULL) return a == b;
    return a->rank == b->rank && a->any_dtype == b->any_dtype && a->is_strided == b->is_strided &&
           same_extents(a->shape, b->shape, a->rank) &&
           (!a->is_strided || same_extents(a->strides, b->strides, a->rank));
}

/* Whether the keys of the first member are keys of the other. */
static bool same_parameters(const Signature *a, const Signature *b)
{
    if (a->parameters.count != b->parameters.count) return false;
    for (size_t i = 0; i < a->parameters.count; i++) {
        const KernelParameter *left = &a->parameters.data[i], *right = &b->parameters.data[i];
        if (left->name != right->name || left->kind != right->kind ||
            left->is_result != right->is_result || left->is_declared != right->is_declared ||
            !same_tensor(left->tensor, right->tensor))
            return false;
    }
    return true;
}

/* The specialisation with one configuration's keys. False: reported. */
static bool make_member(Eval *eval, const Signature *signature, const Specialisation *family,
                        size_t index, Specialisation *out)
{
    const size_t count = signature->parameters.count;
    *out = *family;
    out->configurations = (ObjectVec){0};
    out->members = (ObjectVec){0};
    out->kernel = NULL;
    if (family->members.count > 0) {
        Signature own;
        out->instance = family->members.data[index];
        if (!signature_read(eval, out->instance, family->at, &own)) return false;
        if (!same_parameters(signature, &own)) FAIL(eval, member_arguments, family->at);
        return same_parameters(signature, &own);
    }
    const Object *configuration = family->configurations.data[index];
    Object **values = arena_new_array(eval->arena, Object *, count + 1);
    out->keys = arena_new_array(eval->arena, Object *, count + 1);
    out->is_tuned = arena_new_array(eval->arena, bool, count + 1);
    for (size_t i = 0; i < count; i++) {
        out->keys[i] = family->keys[i];
        values[i] =
            dict_get(eval, configuration, name_object(eval, signature->parameters.data[i].name));
        if (values[i] == NULL) continue;
        out->is_tuned[i] = true;
        out->keys[i] = specialise_key(eval, &signature->parameters.data[i], values[i], family->at);
        if (out->keys[i] == NULL) return false;
    }
    return true;
}

/* Whether calls of one are calls of the other. */
static bool same_arguments(const Kernel *a, const Kernel *b)
{
    const int count = kernel_argument_count(a);
    if (count != kernel_argument_count(b) || a->tensor_count != b->tensor_count) return false;
    for (int i = 0; i < count; i++) {
        const Parameter *left = &a->parameters[i], *right = &b->parameters[i];
        if (left->name != right->name || left->is_key != right->is_key ||
            left->value->type->kind != right->value->type->kind ||
            left->value->type->dtype != right->value->type->dtype)
            return false;
    }
    return true;
}

typedef struct Chain {
    Kernel *first, *last;
    const char *fault; /* of the first configuration that was left out, and its name */
    Name faulty;
    Span at;
    int count;
} Chain;

static void leave_out(Eval *eval, Chain *chain, Name configuration, const char *why, Span at)
{
    if (chain->fault == NULL) {
        chain->fault = why;
        chain->faulty = configuration;
        chain->at = at;
    }
    if (eval->quiet == 0)
        diag_report(eval->session->diags, DIAG_configuration_left_out, at, configuration, why);
}

static void stage_member(Eval *eval, const Signature *signature, const Specialisation *family,
                         size_t index, Name export_name, Name symbol, Chain *chain,
                         Specialisation *out)
{
    Name configuration = configuration_name(eval, family->configurations.data[index]);
    const DiagMute mute = diag_mute(eval->session->diags);
    Span at = family->at;
    const bool good =
        make_member(eval, signature, family, index, out) &&
        specialisation_stage(eval, out, export_name,
                             intern_printf(eval->session->names, "%s_%zu", symbol, index));
    const char *why = diag_muted_error(eval->session->diags, &at);
    diag_unmute(eval->session->diags, mute);
    if (!good) {
        leave_out(eval, chain, configuration, why != NULL ? why : "it cannot be staged",
                  at.source != NULL ? at : family->at);
        return;
    }
    if (chain->first != NULL && !same_arguments(chain->first, out->kernel)) {
        leave_out(eval, chain, configuration, "it takes other arguments than the first one",
                  family->at);
        return;
    }
    out->kernel->configuration = configuration;
    if (chain->first == NULL)
        chain->first = out->kernel;
    else
        chain->last->next_configuration = out->kernel;
    chain->last = out->kernel;
    chain->count++;
}

/* A kernel that is looked at for whether it can be built needs no more of them. */
static bool are_enough(const Eval *eval, const Chain *chain)
{
    enum { SURVEYED_CONFIGURATIONS = 4 };
    return eval->host != NULL && eval->host->surveys && chain->count >= SURVEYED_CONFIGURATIONS;
}

bool tuning_stage(Eval *eval, const Signature *signature, Specialisation *specialisation,
                  Name export_name, Name symbol)
{
    Chain chain = {0};
    for (size_t i = 0; i < specialisation->configurations.count && !are_enough(eval, &chain); i++) {
        const bool is_first = chain.first == NULL;
        Specialisation member;
        stage_member(eval, signature, specialisation, i, export_name, symbol, &chain, &member);
        if (!is_first || chain.first == NULL) continue;
        specialisation->parameter_arguments = member.parameter_arguments;
        specialisation->tensor_arguments = member.tensor_arguments;
        specialisation->gives_tuple = member.gives_tuple;
    }
    specialisation->kernel = chain.first;
    if (chain.first != NULL) return true;
    FAIL(eval, no_configuration, chain.at, (int)specialisation->configurations.count, export_name,
         chain.faulty, chain.fault);
    return false;
}

/* ---- for the library ---- */

/* new_instance(class, positional, named): as a call makes it that no hook of the class sees. */
Object *core_new_instance(Eval *eval, const Bound *bound)
{
    const Object *positional = bound->values[1], *named = bound->values[2];
    Arguments arguments = {.at = bound->at};
    if (bound->values[0]->kind != OBJECT_CLASS || !object_is_sequence(positional) ||
        named->kind != OBJECT_DICT)
        return FAIL(eval, expected_kind, bound->at, "the arguments of new_instance()",
                    "a class, a list and a dict", object_repr(eval, bound->values[0]));
    for (uint32_t i = 0; i < positional->as.list.count; i++)
        vec_push(eval->arena, &arguments.positional, positional->as.list.items[i]);
    for (size_t i = 0; i < named->as.dict.keys.count; i++) {
        const Object *name = named->as.dict.keys.data[i];
        if (name->kind != OBJECT_TEXT)
            return FAIL(eval, expected_kind, bound->at, "the name of an argument", "a str",
                        object_repr(eval, name));
        vec_push(eval->arena, &arguments.names,
                 intern_text(eval->session->names, name->as.text.data));
        vec_push(eval->arena, &arguments.named, named->as.dict.values.data[i]);
    }
    return call_class_itself(eval, bound->values[0], &arguments);
}

/* Those of a function that may be given by place or by name, in order. */
Object *core_parameter_names(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    if (object->kind != OBJECT_FUNCTION || object->as.function.node->kind != NODE_FunctionDef)
        return list;
    const Nodearguments *arguments =
        NODE_AS(arguments, NODE_AS(FunctionDef, object->as.function.node)->args);
    for (uint32_t i = 0; i < arguments->posonlyargs.count; i++)
        list_append(eval, list,
                    name_object(eval, NODE_AS(arg, arguments->posonlyargs.items[i])->arg));
    for (uint32_t i = 0; i < arguments->args.count; i++)
        list_append(eval, list, name_object(eval, NODE_AS(arg, arguments->args.items[i])->arg));
    return list;
}

/* skip_configuration(configuration, why): a remark. */
Object *core_skip_configuration(Eval *eval, const Bound *bound)
{
    Object *configuration = bound->values[0];
    Buf why = {0};
    if (configuration->kind != OBJECT_DICT)
        return FAIL(eval, expected_kind, bound->at, "a configuration", "a dict of names and values",
                    object_repr(eval, configuration));
    object_print(eval, bound->values[1], TEXT_STR, &why);
    const char *text = arena_copy_text(eval->arena, why.data, why.length);
    buf_free(&why);
    if (eval->quiet == 0)
        diag_report(eval->session->diags, DIAG_configuration_left_out, bound->at,
                    configuration_name(eval, configuration),
                    text[0] != '\0' ? text : "an assertion fails");
    return eval->none;
}
