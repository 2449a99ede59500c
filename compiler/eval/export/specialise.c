/* specialise.c: from a kernel and what it is given to the specialisation that this needs. */
#include "eval/export/export.h"

#include <string.h>

static Object *new_specialisation(Eval *eval, Object *instance, size_t count, Span at)
{
    Object *object = object_new(eval, OBJECT_SPECIALISATION);
    object->as.specialisation = arena_new_of(eval->arena, Specialisation);
    *object->as.specialisation =
        (Specialisation){.instance = instance,
                         .key_count = (int)count,
                         .at = at,
                         .keys = arena_new_array(eval->arena, Object *, count + 1),
                         .is_tensor = arena_new_array(eval->arena, bool, count + 1)};
    return object;
}

/* ---- keys ---- */

/* As the annotation says: int, bool, float or str. */
static Object *plain_key(Eval *eval, const KernelParameter *parameter, Object *value, Span at)
{
    const bool integer = value->kind == OBJECT_INT || value->kind == OBJECT_BOOL;
    const char *wanted = NULL;
    switch (parameter->key_kind) {
    case OBJECT_INT:
        if (integer) return object_int(eval, value->as.integer);
        wanted = "an int";
        break;
    case OBJECT_BOOL:
        if (integer) return object_bool(eval, value->as.integer != 0);
        wanted = "a bool";
        break;
    case OBJECT_FLOAT:
        if (value->kind == OBJECT_FLOAT) return value;
        if (integer) return object_float(eval, (double)value->as.integer);
        wanted = "a float";
        break;
    default:
        if (value->kind == OBJECT_TEXT) return value;
        wanted = "a str";
        break;
    }
    return FAIL(eval, expected_kind, at, parameter->name, wanted, object_repr(eval, value));
}

/* The C entry takes a text up to its end. */
static bool check_text(Eval *eval, const KernelParameter *parameter, const Object *key, Span at)
{
    if (key->kind != OBJECT_TEXT || memchr(key->as.text.data, 0, key->as.text.length) == NULL)
        return true;
    FAIL(eval, expected_kind, at, parameter->name, "a text without NUL", object_repr(eval, key));
    return false;
}

static bool set_key(Eval *eval, const KernelParameter *parameter, Object *value, Span at,
                    Object **out, bool *is_tensor)
{
    *is_tensor = parameter->kind == PARAMETER_TENSOR ||
                 (parameter->is_open && value != NULL && object_is_tensor(value));
    if (parameter->is_result) return true;
    if (parameter->kind == PARAMETER_SCALAR || parameter->kind == PARAMETER_POINTER)
        return true; /* a run-time argument may be given as an example: it says nothing */
    if (*is_tensor) {
        *out = tensor_key(eval, parameter, value, at);
        return *out != NULL;
    }
    if (value == NULL) {
        FAIL(eval, open_key, at, parameter->name);
        return false;
    }
    *out = parameter->is_plain          ? plain_key(eval, parameter, value, at)
           : parameter->convert != NULL ? call_simple(eval, parameter->convert, 1, &value, at)
                                        : value;
    return *out != NULL && check_text(eval, parameter, *out, at);
}

Object *specialise_key(Eval *eval, const KernelParameter *parameter, Object *value, Span at)
{
    Object *key = NULL;
    bool is_tensor;
    return set_key(eval, parameter, value, at, &key, &is_tensor) ? key : NULL;
}

/* ---- arguments ---- */

bool lacks_argument(Eval *eval, Span at, const char *name)
{
    FAIL(eval, missing_argument, at, "the kernel", name);
    return false;
}

/* A number for an extent that the body names, of a tensor that it declares. */
static bool may_be_extent(const Signature *signature, const Object *value)
{
    bool declares = false;
    for (size_t i = 0; i < signature->parameters.count; i++)
        declares |= signature->parameters.data[i].is_declared;
    return signature->told != NULL && declares && value->kind == OBJECT_INT;
}

bool arguments_are_here(Eval *eval, const Arguments *arguments)
{
    const ObjectVec *all[] = {&arguments->positional, &arguments->named};
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < all[i]->count; j++)
            if (all[i]->data[j]->kind == OBJECT_MISSING)
                return missing_needed(eval, all[i]->data[j], NULL, arguments->at) != NULL;
    return true;
}

bool spread_arguments(Eval *eval, const Signature *signature, const Arguments *arguments,
                      Object **values)
{
    const size_t count = signature->parameters.count;
    size_t taken = 0;
    if (!arguments_are_here(eval, arguments)) return false;
    for (size_t i = 0; i < count && taken < arguments->positional.count; i++)
        if (!signature->parameters.data[i].is_result)
            values[i] = arguments->positional.data[taken++];
    if (taken < arguments->positional.count) {
        FAIL(eval, many_arguments, arguments->at, "the kernel", (unsigned)taken,
             (unsigned)arguments->positional.count);
        return false;
    }
    for (size_t i = 0; i < arguments->names.count; i++) {
        Name name = arguments->names.data[i];
        size_t index = signature_find(signature, name);
        if (index == count && may_be_extent(signature, arguments->named.data[i])) {
            dict_set(eval, signature->told, object_text(eval, name, strlen(name)),
                     arguments->named.data[i]);
            continue;
        }
        if (index == count || signature->parameters.data[index].is_result) {
            FAIL(eval, unknown_parameter, arguments->at, kernel_name(signature->instance), name);
            return false;
        }
        if (values[index] != NULL && signature->is_function) {
            FAIL(eval, argument_twice, arguments->at, name);
            return false;
        }
        values[index] = arguments->named.data[i];
    }
    return true;
}

/* ---- specialisations ---- */

/* 0.0 and -0.0 are different, and NaN is what it is. */
static bool same_value(Eval *eval, const Object *a, const Object *b)
{
    if (a->kind == OBJECT_FLOAT && b->kind == OBJECT_FLOAT)
        return memcmp(&a->as.number, &b->as.number, sizeof a->as.number) == 0;
    return object_equal(eval, a, b);
}

static bool same_keys(Eval *eval, const Specialisation *old, const Specialisation *new)
{
    const bool by_name =
        old->told != NULL && new->told != NULL &&object_equal(eval, old->told, new->told);
    for (int i = 0; i < new->key_count; i++) {
        const Object *a = old->keys[i], *b = new->keys[i];
        if (by_name && b != NULL && old->is_tensor[i] && b->kind == OBJECT_NONE) continue;
        if ((a == NULL) != (b == NULL) || old->is_tensor[i] != new->is_tensor[i]) return false;
        if (a == NULL) continue;
        bool same = old->is_tensor[i] ? tensor_key_matches(eval, a, b) : same_value(eval, a, b);
        if (!same || a->kind != b->kind) return false;
    }
    return old->key_count == new->key_count && (new->told == NULL || by_name);
}

/* The specialisation that was made before with the same keys, or this one. NULL: too many. */
static Object *remember(Eval *eval, const Signature *signature, Object *object)
{
    ObjectVec *known = &signature->instance->as.instance->specialised;
    eval->asked++;
    for (size_t i = 0; i < known->count; i++)
        if (same_keys(eval, known->data[i]->as.specialisation, object->as.specialisation))
            return known->data[i];
    if (!eval_may_add(eval, known->count, "specialisations", object->as.specialisation->at))
        return NULL;
    vec_push(eval->arena, known, object);
    if (eval->host != NULL && eval->host->surveys) vec_push(eval->arena, &eval->surveyed, object);
    return object;
}

/* What a parameter is that the call leaves open. */
static Object *open_value(const Eval *eval, const Signature *signature, size_t parameter)
{
    const Specialisation *model = eval->model;
    const bool is_model = model != NULL && model->instance == signature->instance &&
                          !model->is_tensor[parameter] && model->keys[parameter] != NULL;
    return is_model ? model->keys[parameter] : signature->parameters.data[parameter].otherwise;
}

/* Whether no argument stands for a tensor that the body declares: what is told tells of it. */
static bool leaves_tensors_open(const Signature *signature, Object *const *values)
{
    bool open = false;
    for (size_t i = 0; i < signature->parameters.count; i++)
        open |= signature->parameters.data[i].is_declared && values[i] == NULL &&
                !signature->parameters.data[i].is_result;
    return open;
}

Object *specialise_values(Eval *eval, const Signature *signature, Object **values, Span at)
{
    Object *object = new_specialisation(eval, signature->instance, signature->parameters.count, at);
    if (!tuning_plan(eval, signature, values, object->as.specialisation)) return NULL;
    if (signature->told != NULL &&
        (signature->told->as.dict.keys.count > 0 || leaves_tensors_open(signature, values)))
        object->as.specialisation->told = signature->told;
    for (size_t i = 0; i < signature->parameters.count; i++) {
        const KernelParameter *parameter = &signature->parameters.data[i];
        Object *value = values[i] != NULL ? values[i] : open_value(eval, signature, i);
        Specialisation *new = object->as.specialisation;
        new->keys[i] = tuning_key(eval, new, parameter->name);
        if (new->told != NULL && value == NULL && parameter->is_declared && !parameter->is_result) {
            new->keys[i] = eval->none;
            new->is_tensor[i] = true;
        }
        if (new->keys[i] == NULL &&
            !set_key(eval, parameter, value, at, &new->keys[i], &new->is_tensor[i]))
            return NULL;
    }
    return remember(eval, signature, object);
}

static Object *specialise_among(Eval *eval, Object *instance, const Arguments *arguments,
                                Object *configurations)
{
    Signature signature;
    if (!signature_read(eval, instance, arguments->at, &signature)) return NULL;
    if (configurations != NULL && object_is_sequence(configurations))
        signature.configurations = configurations;
    if (signature.is_function) signature.told = dict_new(eval);
    Object **values = arena_new_array(eval->arena, Object *, signature.parameters.count + 1);
    if (!spread_arguments(eval, &signature, arguments, values)) return NULL;
    return specialise_values(eval, &signature, values, arguments->at);
}

Object *specialise(Eval *eval, Object *instance, const Arguments *arguments)
{
    return specialise_among(eval, instance, arguments, NULL);
}

bool specialisation_takes(const Signature *signature, const Specialisation *specialisation,
                          size_t parameter)
{
    return !signature->parameters.data[parameter].is_result &&
           (specialisation->keys[parameter] == NULL || specialisation->is_tensor[parameter]);
}

/* ---- what messages call it ---- */

static void print_key(Eval *eval, const KernelParameter *parameter, const Object *key,
                      bool is_tensor, Buf *out)
{
    if (!is_tensor) {
        buf_text(out, object_repr(eval, key));
        return;
    }
    if (key->kind == OBJECT_NONE) {
        buf_text(out, "[...]");
        return;
    }
    const Object *dtype = key->as.list.items[0], *shape = key->as.list.items[1];
    buf_char(out, '[');
    for (uint32_t i = 0; i < shape->as.list.count; i++) {
        const Object *extent = shape->as.list.items[i];
        if (extent->kind == OBJECT_NONE && parameter->tensor != NULL &&
            parameter->tensor->shape[i]->kind == OBJECT_INT)
            extent = parameter->tensor->shape[i];
        buf_text(out, i == 0 ? "" : ", ");
        buf_text(out, extent->kind == OBJECT_NONE ? "?" : object_repr(eval, extent));
    }
    buf_char(out, ']');
    if (dtype->kind == OBJECT_DTYPE) buf_printf(out, " %s", dtype_user_name(dtype->as.dtype));
}

const char *specialisation_title(Eval *eval, const Signature *signature,
                                 const Specialisation *specialisation, const char *name)
{
    Buf buf = {0};
    buf_printf(&buf, "%s(", name);
    bool first = true;
    for (int i = 0; i < specialisation->key_count; i++) {
        if (specialisation->keys[i] == NULL) continue;
        const KernelParameter *parameter = &signature->parameters.data[i];
        buf_printf(&buf, "%s%s=", first ? "" : ", ", parameter->name);
        print_key(eval, parameter, specialisation->keys[i], specialisation->is_tensor[i], &buf);
        first = false;
    }
    const Object *told = specialisation->told;
    for (size_t i = 0; told != NULL && i < told->as.dict.keys.count; i++) {
        buf_printf(&buf, "%s%s=%s", first ? "" : ", ", told->as.dict.keys.data[i]->as.text.data,
                   object_repr(eval, told->as.dict.values.data[i]));
        first = false;
    }
    buf_char(&buf, ')');
    const char *text = arena_copy_text(eval->arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

/* ---- for the library ---- */

/* Names with their values, as a dict has them. False: reported. */
bool take_named(Eval *eval, const Object *dict, Arguments *arguments)
{
    if (dict->kind != OBJECT_DICT) {
        FAIL(eval, expected_kind, arguments->at, "a configuration", "a dict of arguments",
             object_repr(eval, dict));
        return false;
    }
    for (size_t i = 0; i < dict->as.dict.keys.count; i++) {
        const Object *key = dict->as.dict.keys.data[i];
        if (key->kind != OBJECT_TEXT) {
            FAIL(eval, expected_kind, arguments->at, "the name of an argument", "a str",
                 object_repr(eval, key));
            return false;
        }
        vec_push(eval->arena, &arguments->names,
                 intern(eval->session->names, key->as.text.data, key->as.text.length));
        vec_push(eval->arena, &arguments->named, dict->as.dict.values.data[i]);
    }
    return true;
}

static bool need_kernel(Eval *eval, const Object *object, Span at)
{
    if (is_kernel(object)) return true;
    FAIL(eval, expected_kind, at, "what is compiled", "a kernel", object_repr(eval, object));
    return false;
}

/* Takes `grad=` out, if no parameter has that name: whether the gradient is exported, too. False:
 * reported. */
static bool take_grad(Eval *eval, Object *kernel, Arguments *arguments, bool *out)
{
    Signature signature;
    const Name name = intern_text(eval->session->names, "grad");
    for (size_t i = 0; i < arguments->names.count; i++) {
        if (arguments->names.data[i] != name) continue;
        if (!signature_read(eval, kernel, arguments->at, &signature)) return false;
        if (signature_find(&signature, name) < signature.parameters.count) return true;
        Object *asked = arguments->named.data[i];
        for (; i + 1 < arguments->names.count; i++) {
            arguments->names.data[i] = arguments->names.data[i + 1];
            arguments->named.data[i] = arguments->named.data[i + 1];
        }
        arguments->names.count = --arguments->named.count;
        return object_truth(eval, asked, out);
    }
    return true;
}

Object *core_specialise(Eval *eval, const Bound *bound)
{
    bool has_gradient = false;
    const Object *positional = bound->values[1];
    Arguments arguments = {.at = bound->at};
    if (!need_kernel(eval, bound->values[0], bound->at) || !object_is_sequence(positional))
        return NULL;
    for (uint32_t i = 0; i < positional->as.list.count; i++)
        vec_push(eval->arena, &arguments.positional, positional->as.list.items[i]);
    if (!take_named(eval, bound->values[2], &arguments) ||
        !take_grad(eval, bound->values[0], &arguments, &has_gradient))
        return NULL;
    Object *object = specialise_among(eval, bound->values[0], &arguments, bound->values[3]);
    if (object != NULL) object->as.specialisation->has_gradient |= has_gradient;
    made_note(eval, object, bound->at);
    return object;
}

/* Its arguments, tensors by what they are. */
static const char *configuration_text(Eval *eval, const Object *dict, Span at)
{
    if (dict->kind != OBJECT_DICT) return object_repr(eval, dict);
    Buf text = {0};
    for (size_t i = 0; i < dict->as.dict.keys.count; i++) {
        Object *value = dict->as.dict.values.data[i];
        TensorSpec spec;
        buf_text(&text, i == 0 ? "" : ", ");
        object_print(eval, dict->as.dict.keys.data[i], TEXT_STR, &text);
        buf_char(&text, '=');
        eval->quiet++;
        bool is_tensor = object_is_tensor(value) && tensor_spec(eval, value, "", at, &spec);
        eval->quiet--;
        if (!is_tensor) object_print(eval, value, TEXT_REPR, &text);
        for (int j = 0; is_tensor && j < spec.rank; j++)
            buf_printf(&text, "%s%lld", j == 0 ? "[" : ", ", (long long)spec.shape[j]);
        if (is_tensor) buf_printf(&text, "] %s", dtype_user_name(spec.dtype));
    }
    const char *copy = arena_copy_text(eval->arena, text.data, text.length);
    buf_free(&text);
    return copy;
}

static bool build_now(Eval *eval, const Specialisation *specialisation)
{
    return eval->host->build(eval->host, specialisation->kernel) == HOST_OK;
}

/* One of many: in a run its code is made, too. */
static Object *specialise_one(Eval *eval, Object *kernel, Object *configuration, Span at)
{
    Arguments arguments = {.at = at};
    const char *text = arena_printf(eval->arena, "in the configuration %s",
                                    configuration_text(eval, configuration, at));
    vec_push(eval->arena, &eval->steps, ((CallStep){at, text}));
    Object *object =
        take_named(eval, configuration, &arguments) ? specialise(eval, kernel, &arguments) : NULL;
    made_note(eval, object, at);
    if (object != NULL && eval->host != NULL &&
        !(specialisation_build(eval, object->as.specialisation) &&
          build_now(eval, object->as.specialisation)))
        object = NULL;
    eval->steps.count--;
    return object;
}

/* Those that failed are listed, since one place in the program is told of once. */
static bool list_failures(Eval *eval, const Object *all, const Object *list, bool ignore, Span at)
{
    size_t failed = 0;
    for (uint32_t i = 0; i < list->as.list.count; i++)
        failed += list->as.list.items[i]->kind == OBJECT_NONE;
    if (failed == 0) return true;
    if (!ignore)
        FAIL(eval, configurations_failed, at, failed, list->as.list.count);
    else if (eval->quiet == 0)
        diag_report(eval->session->diags, DIAG_left_out, at, failed, list->as.list.count);
    for (uint32_t i = 0; eval->quiet == 0 && i < list->as.list.count; i++)
        if (list->as.list.items[i]->kind == OBJECT_NONE)
            diag_note(eval->session->diags, at, "%s",
                      configuration_text(eval, all->as.list.items[i], at));
    return ignore;
}

/* specialise_all(kernel, configurations, ignore_errors): all are looked at before one that failed
 * ends it; or it is None in the list. */
Object *core_specialise_all(Eval *eval, const Bound *bound)
{
    bool ignore = false;
    if (!need_kernel(eval, bound->values[0], bound->at) ||
        !object_truth(eval, bound->values[2], &ignore))
        return NULL;
    Object *all = iterate(eval, bound->values[1], bound->at);
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = 0; all != NULL && i < all->as.list.count; i++) {
        DiagMute mute = {0};
        if (ignore) mute = diag_mute(eval->session->diags);
        Object *object = specialise_one(eval, bound->values[0], all->as.list.items[i], bound->at);
        if (ignore) diag_unmute(eval->session->diags, mute);
        list_append(eval, list, object != NULL ? object : eval->none);
        if (eval->host != NULL) eval->host->progress(eval->host, i + 1, all->as.list.count);
    }
    return all != NULL && list_failures(eval, all, list, ignore, bound->at) ? list : NULL;
}

/* Its symbol says nothing of what was compiled before it, as code that is kept is found by text. */
static bool build_alone(Eval *eval, Specialisation *specialisation)
{
    Name name = intern_text(eval->session->names, kernel_name(specialisation->instance));
    return specialisation_stage(eval, specialisation, name,
                                intern_printf(eval->session->names, "%s__run0", name));
}

bool specialisation_build(Eval *eval, Specialisation *specialisation)
{
    Name name = intern_text(eval->session->names, kernel_name(specialisation->instance));
    return specialisation_stage(
        eval, specialisation, name,
        intern_printf(eval->session->names, "%s__run%zu", name, eval->kernels.count));
}

/* kernel_text(kernel): its IR, as it was staged. */
Object *core_kernel_text(Eval *eval, const Bound *bound)
{
    Object *object = bound->values[0];
    if (object->kind != OBJECT_SPECIALISATION)
        return FAIL(eval, expected_kind, bound->at, "what is shown", "a compiled kernel",
                    object_repr(eval, object));
    if (!build_alone(eval, object->as.specialisation)) return NULL;
    Buf text = {0};
    kernel_print(object->as.specialisation->kernel, &text);
    Object *result = object_text(eval, text.data, text.length);
    buf_free(&text);
    return result;
}

/* kernel_code(kernel): a compiled kernel's code is made now; without a host there is nobody to make
 * it. Gives the kernel. */
Object *core_kernel_code(Eval *eval, const Bound *bound)
{
    Object *object = bound->values[0];
    if (object->kind != OBJECT_SPECIALISATION)
        return FAIL(eval, expected_kind, bound->at, "what is made", "a compiled kernel",
                    object_repr(eval, object));
    Specialisation *specialisation = object->as.specialisation;
    if (!build_alone(eval, specialisation)) return NULL;
    return eval->host == NULL || build_now(eval, specialisation) ? object : NULL;
}
