/* signature.c: what a kernel's function takes.
 *
 * A parameter annotated int, bool, float or str is a key: its value is part of the specialisation.
 * One annotated with an element type or a pointer type is a run-time argument; a tensor's
 * annotation says which of its extents are keys. In a plain function any other annotation, or none,
 * makes a key of any value. */
#include "eval/export/export.h"

#include <string.h>

/* ---- kernels ---- */

Object *instance_attribute(Eval *eval, const Object *instance, const char *name)
{
    Name text = intern_text(eval->session->names, name);
    Binding *own = bindings_get(&instance->as.instance->attributes, text);
    if (own != NULL && own->object != NULL) return own->object;
    return class_find(instance->as.instance->class, text);
}

static Object *own_attribute(const Object *instance, const char *name)
{
    const BindingVec *list = &instance->as.instance->attributes.list;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->data[i]->name, name) == 0) return list->data[i]->object;
    return NULL;
}

static Object *plain_function(const Object *instance)
{
    return own_attribute(instance, "__kernel_function__");
}

const char *kernel_name(const Object *instance)
{
    const Object *body = own_attribute(instance, "__kernel_body__");
    const Object *function = body != NULL ? body : plain_function(instance);
    return function != NULL && function->kind == OBJECT_FUNCTION
               ? function->as.function.name
               : instance->as.instance->class->as.class->name;
}

static bool says_same(Eval *eval, const Object *a, const Object *b, const char *name)
{
    const Object *first = own_attribute(a, name), *second = own_attribute(b, name);
    return first == second ||
           (first != NULL && second != NULL && object_equal(eval, first, second));
}

bool instances_same(Eval *eval, const Object *a, const Object *b)
{
    if (a->as.instance == b->as.instance) return true;
    const Object *left = a->as.instance->arguments, *right = b->as.instance->arguments;
    const Object *first = own_attribute(a, "__configurations__");
    const Object *second = own_attribute(b, "__configurations__");
    if ((first == NULL) != (second == NULL) ||
        (first != NULL && !object_equal(eval, first, second)))
        return false;
    return a->as.instance->class == b->as.instance->class && left != NULL && right != NULL &&
           says_same(eval, a, b, "__fast_math__") && says_same(eval, a, b, "__fuse_fp__") &&
           says_same(eval, a, b, "__block_syncs__") && object_equal(eval, left, right);
}

static bool is_definition(const Object *object)
{
    return object != NULL && object->kind == OBJECT_FUNCTION &&
           object->as.function.node->kind == NODE_FunctionDef;
}

static bool find_function(Eval *eval, Object *instance, Span at, Signature *out)
{
    out->instance = instance;
    out->function = plain_function(instance);
    out->is_function = out->function != NULL;
    out->body = own_attribute(instance, "__kernel_body__");
    out->annotate = own_attribute(instance, "__kernel_annotation__");
    if (!out->is_function)
        out->function =
            class_find(instance->as.instance->class, intern_text(eval->session->names, "__call__"));
    const Object *odd = !is_definition(out->function) ? out->function : out->body;
    if (is_definition(out->function) && (out->body == NULL || is_definition(out->body)))
        return true;
    if (out->is_function)
        FAIL(eval, expected_kind, at, "what becomes a kernel", "a function that 'def' made",
             object_repr(eval, odd));
    else
        FAIL(eval, unknown_attribute, at, object_repr(eval, instance), "__call__");
    return false;
}

/* ---- annotations ---- */

static bool read_plain_key(const Object *type, KernelParameter *out)
{
    static const struct {
        const char *name;
        ObjectKind kind;
    } rows[] = {
        {"int", OBJECT_INT}, {"bool", OBJECT_BOOL}, {"float", OBJECT_FLOAT}, {"str", OBJECT_TEXT}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!builtin_is(type, rows[i].name)) continue;
        out->is_plain = true;
        out->key_kind = rows[i].kind;
        return true;
    }
    return false;
}

/* How a value of that class is made from what is given: its static method `__key__`. */
static Object *converter(Eval *eval, const Object *type)
{
    if (type->kind != OBJECT_CLASS) return NULL;
    Object *method = class_find(type, intern_text(eval->session->names, "__key__"));
    return method != NULL && method->kind == OBJECT_STATIC_METHOD ? method->as.method.function
                                                                  : NULL;
}

static bool read_annotation(Eval *eval, const Object *type, bool any_key, KernelParameter *out)
{
    out->kind = PARAMETER_KEY;
    if (read_plain_key(type, out)) return true;
    if (type->kind == OBJECT_TENSOR_TYPE && any_key) {
        out->kind = PARAMETER_TENSOR;
        out->tensor = type->as.tensor;
        return true;
    }
    if (type->kind == OBJECT_DTYPE || type->kind == OBJECT_POINTER_TYPE) {
        out->kind = type->kind == OBJECT_DTYPE ? PARAMETER_SCALAR : PARAMETER_POINTER;
        out->dtype = type->as.dtype;
        return true;
    }
    out->convert = converter(eval, type);
    return any_key;
}

/* Where the evaluator stood, and how deep in library code. */
typedef struct Stand {
    int library;
    Span at, span;
} Stand;

/* What is wrong with an annotation is told of at its own place, whoever asks. */
static Stand go_to(Eval *eval, const Function *function, const Node *annotation)
{
    const Stand stand = {eval->library, eval->at, eval->builder.span};
    if (function->unit == NULL || !function->unit->is_library) eval->library = 0;
    eval_move_to(eval, annotation);
    return stand;
}

static void go_back(Eval *eval, const Stand *stand)
{
    eval->library = stand->library;
    eval->at = stand->at;
    eval->builder.span = stand->span;
}

static Object *eval_annotation(Eval *eval, const Function *function, const Node *annotation)
{
    Frame frame = {.scope = function->closure, .caller = eval->frame};
    const Stand stand = go_to(eval, function, annotation);
    eval->frame = &frame;
    Object *type = eval_expr(eval, annotation);
    eval->frame = frame.caller;
    go_back(eval, &stand);
    return type;
}

/* Whether the function's body says `name: type`. */
static bool is_declared(const Function *function, Name name)
{
    Nodes body = NODE_AS(FunctionDef, function->node)->body;
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind != NODE_AnnAssign) continue;
        const NodeAnnAssign *node = NODE_AS(AnnAssign, body.items[i]);
        if (node->value == NULL && node->target->kind == NODE_Name &&
            NODE_AS(Name, node->target)->id == name)
            return true;
    }
    return false;
}

/* What an annotation of the body says is its dialect's to tell; a kernel may have another in its
 * place, by the parameter's name. */
static Object *parameter_type(Eval *eval, const Signature *signature, const Function *function,
                              const Nodearg *parameter)
{
    const Node *annotation = parameter->annotation;
    const Object *kinds = own_attribute(signature->instance, "__kernel_kinds__");
    Object *name = object_text(eval, parameter->arg, strlen(parameter->arg)), *type = NULL;
    if (kinds != NULL && kinds->kind == OBJECT_DICT) type = dict_get(eval, kinds, name);
    if (type == NULL) type = eval_annotation(eval, function, annotation);
    if (type == NULL || signature->annotate == NULL || signature->body == NULL ||
        function != &signature->body->as.function)
        return type;
    const Stand stand = go_to(eval, function, annotation);
    type = call_simple(eval, signature->annotate, 1, &type, annotation->span);
    go_back(eval, &stand);
    return type;
}

static bool read_parameter(Eval *eval, const Signature *signature, const Function *function,
                           const Nodearg *node, const Object *type, Object *otherwise,
                           KernelParameter *out)
{
    *out = (KernelParameter){.name = node->arg, .span = node->base.span, .otherwise = otherwise};
    if (node->annotation == NULL && signature->is_function) {
        out->is_open = true;
        out->is_declared = is_declared(function, node->arg);
        return true;
    }
    if (type != NULL && type->kind == OBJECT_MISSING)
        return missing_needed(eval, type, NULL, node->annotation->span) != NULL;
    if (type != NULL && read_annotation(eval, type, signature->is_function, out)) {
        const bool is_none = otherwise != NULL && otherwise->kind == OBJECT_NONE;
        if (is_none && out->kind == PARAMETER_TENSOR) out->otherwise = NULL; /* a call's None */
        return true;
    }
    FAIL(eval, parameter_type, node->base.span, node->arg);
    return false;
}

static bool is_ending_and_type(const Object *object)
{
    return object_is_sequence(object) && object->as.list.count == 2 &&
           object->as.list.items[0]->kind == OBJECT_TEXT;
}

/* What a dialect takes apart into several: pairs of a name's ending and a type. */
static bool add_parts(Eval *eval, Signature *signature, const Function *function,
                      const Nodearg *node, const Object *parts)
{
    for (uint32_t i = 0; i < parts->as.list.count; i++) {
        if (!is_ending_and_type(parts->as.list.items[i]))
            return FAIL(eval, parameter_type, node->base.span, node->arg), false;
        const Object *const *pair = (const Object *const *)parts->as.list.items[i]->as.list.items;
        KernelParameter parameter;
        if (!read_parameter(eval, signature, function, node, pair[1], NULL, &parameter))
            return false;
        parameter.name =
            intern_printf(eval->session->names, "%s_%s", node->arg, pair[0]->as.text.data);
        vec_push(eval->arena, &signature->parameters, parameter);
    }
    return true;
}

static bool add_parameter(Eval *eval, Signature *signature, const Function *function,
                          const Node *node, Object *otherwise)
{
    KernelParameter parameter;
    const Nodearg *arg = NODE_AS(arg, node);
    const Object *type = NULL;
    if (arg->annotation != NULL) {
        type = parameter_type(eval, signature, function, arg);
        if (type == NULL) return false;
        if (type->kind == OBJECT_LIST) return add_parts(eval, signature, function, arg, type);
    }
    if (!read_parameter(eval, signature, function, arg, type, otherwise, &parameter)) return false;
    vec_push(eval->arena, &signature->parameters, parameter);
    return true;
}

/* parameters(function): the names of its parameters, in order. */
Object *core_parameters(Eval *eval, const Bound *bound)
{
    const Object *function = bound->values[0];
    Object *names = object_list(eval, OBJECT_TUPLE, NULL, 0);
    if (function->kind != OBJECT_FUNCTION || function->as.function.node->kind != NODE_FunctionDef)
        return names;
    const Node *list = NODE_AS(FunctionDef, function->as.function.node)->args;
    Nodes parameters = NODE_AS(arguments, list)->args;
    for (uint32_t i = 0; i < parameters.count; i++) {
        Name name = NODE_AS(arg, parameters.items[i])->arg;
        list_append(eval, names, object_text(eval, name, strlen(name)));
    }
    return names;
}

typedef enum Passing {
    POSITIONAL_ONLY,
    POSITIONAL_OR_KEYWORD,
    VAR_POSITIONAL,
    KEYWORD_ONLY,
    VAR_KEYWORD,
} Passing;

/* One row of takes(): the name, the kind by inspect's numbers, and a tuple of the default, if it
 * has one. */
static void add_row(Eval *eval, Object *rows, const Node *node, Passing kind, Object *given)
{
    Object *row = object_list(eval, OBJECT_TUPLE, NULL, 0);
    const Name name = NODE_AS(arg, node)->arg;
    list_append(eval, row, object_text(eval, name, strlen(name)));
    list_append(eval, row, object_int(eval, kind));
    list_append(eval, row, object_list(eval, OBJECT_TUPLE, &given, given != NULL));
    list_append(eval, rows, row);
}

/* takes(function): what it takes, in order. */
Object *core_takes(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    Object *rows = object_list(eval, OBJECT_TUPLE, NULL, 0);
    if (object->kind != OBJECT_FUNCTION || object->as.function.node->kind != NODE_FunctionDef)
        return FAIL(eval, expected_kind, bound->at, "what has a signature",
                    "a function that 'def' made", object_repr(eval, object));
    const Function *function = &object->as.function;
    const Nodearguments *list = NODE_AS(arguments, NODE_AS(FunctionDef, function->node)->args);
    const uint32_t positional = list->posonlyargs.count, all = positional + list->args.count;
    for (uint32_t i = 0; i < all; i++) {
        const bool is_positional = i < positional;
        const uint32_t has_none = all - list->defaults.count;
        add_row(eval, rows,
                is_positional ? list->posonlyargs.items[i] : list->args.items[i - positional],
                is_positional ? POSITIONAL_ONLY : POSITIONAL_OR_KEYWORD,
                i < has_none ? NULL : function->defaults[i - has_none]);
    }
    if (list->vararg != NULL) add_row(eval, rows, list->vararg, VAR_POSITIONAL, NULL);
    for (uint32_t i = 0; i < list->kwonlyargs.count; i++)
        add_row(eval, rows, list->kwonlyargs.items[i], KEYWORD_ONLY, function->kw_defaults[i]);
    if (list->kwarg != NULL) add_row(eval, rows, list->kwarg, VAR_KEYWORD, NULL);
    return rows;
}

/* annotations(function, known): what those of its parameters are, in order; None: it has none. The
 * dict's are taken, by the names of parameters, where it has some: these are not evaluated. */
Object *core_annotations(Eval *eval, const Bound *bound)
{
    Object *function = bound->values[0];
    if (function->kind != OBJECT_FUNCTION || function->as.function.node->kind != NODE_FunctionDef)
        return FAIL(eval, expected_kind, bound->at, "what has annotations",
                    "a function that 'def' made", object_repr(eval, function));
    const Node *list = NODE_AS(FunctionDef, function->as.function.node)->args;
    Nodes parameters = NODE_AS(arguments, list)->args;
    const Object *known = bound->values[1];
    Object *types = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (uint32_t i = 0; i < parameters.count; i++) {
        const Nodearg *arg = NODE_AS(arg, parameters.items[i]);
        const Node *node = arg->annotation;
        Object *type = NULL;
        if (known != NULL && known->kind == OBJECT_DICT)
            type = dict_get(eval, known, object_text(eval, arg->arg, strlen(arg->arg)));
        if (type == NULL)
            type = node != NULL ? eval_annotation(eval, &function->as.function, node) : eval->none;
        if (type == NULL) return NULL;
        list_append(eval, types, type);
    }
    return types;
}

/* The parts of `tuple[int, float]`; false: it is something else. */
static bool tuple_parts(const Node *annotation, Nodes *out)
{
    if (annotation->kind != NODE_Subscript) return false;
    const NodeSubscript *subscript = NODE_AS(Subscript, annotation);
    const Node *base = subscript->value;
    const Name name = base->kind == NODE_Name        ? NODE_AS(Name, base)->id
                      : base->kind == NODE_Attribute ? NODE_AS(Attribute, base)->attr
                                                     : "";
    if (strcmp(name, "tuple") != 0 && strcmp(name, "Tuple") != 0) return false;
    if (subscript->slice->kind != NODE_Tuple) return false;
    *out = NODE_AS(Tuple, subscript->slice)->elts;
    return true;
}

/* result_annotation(function): what names the result's annotation has may mean nothing here. */
Object *core_result_annotation(Eval *eval, const Bound *bound)
{
    const Object *function = bound->values[0];
    if (function->kind != OBJECT_FUNCTION || function->as.function.node->kind != NODE_FunctionDef)
        return eval->none;
    const Node *annotation = NODE_AS(FunctionDef, function->as.function.node)->returns;
    if (annotation == NULL) return eval->none;
    Nodes parts;
    const bool is_tuple = tuple_parts(annotation, &parts);
    Object *all = object_list(eval, OBJECT_TUPLE, NULL, 0);
    Object *type = NULL;
    eval->quiet++;
    for (uint32_t i = 0; i < (is_tuple ? parts.count : 1); i++) {
        type =
            eval_annotation(eval, &function->as.function, is_tuple ? parts.items[i] : annotation);
        if (type == NULL) break;
        list_append(eval, all, type);
    }
    eval->quiet--;
    return type == NULL ? eval->none : is_tuple ? all : type;
}

/* ---- all of them ---- */

static bool add_positional(Eval *eval, Signature *out, const Function *function, uint32_t from)
{
    const Nodearguments *arguments = NODE_AS(arguments, NODE_AS(FunctionDef, function->node)->args);
    uint32_t first = arguments->posonlyargs.count, count = first + arguments->args.count;
    for (uint32_t i = from; i < count; i++) {
        const Node *node =
            i < first ? arguments->posonlyargs.items[i] : arguments->args.items[i - first];
        uint32_t defaults = arguments->defaults.count;
        Object *otherwise = i + defaults >= count ? function->defaults[i + defaults - count] : NULL;
        if (!add_parameter(eval, out, function, node, otherwise)) return false;
    }
    return true;
}

static bool is_own(const Signature *signature, const Nodearguments *arguments, Name name)
{
    for (uint32_t i = 0; i < arguments->kwonlyargs.count; i++)
        if (NODE_AS(arg, arguments->kwonlyargs.items[i])->arg == name) return true;
    for (size_t i = 0; i < signature->rest_first; i++)
        if (signature->parameters.data[i].name == name) return true;
    return false;
}

/* A body's parameter that is called as one of the function's has another name outside. */
static void tell_apart(Eval *eval, Signature *out, const Nodearguments *arguments)
{
    for (size_t i = out->rest_first; i < out->parameters.count; i++) {
        KernelParameter *parameter = &out->parameters.data[i];
        while (is_own(out, arguments, parameter->name) || signature_find(out, parameter->name) != i)
            parameter->name = intern_printf(eval->session->names, "%s_", parameter->name);
    }
}

/* The body's parameters come where the function takes the rest. */
static bool add_rest(Eval *eval, Signature *out, const Nodearguments *arguments)
{
    if (out->body == NULL || arguments->vararg == NULL) return true;
    const Function *body = &out->body->as.function;
    const Nodearguments *rest = NODE_AS(arguments, NODE_AS(FunctionDef, body->node)->args);
    if (rest->vararg != NULL || rest->kwarg != NULL || rest->kwonlyargs.count > 0) {
        FAIL(eval, kernel_parameters, body->node->span, "*, ** or keyword-only");
        return false;
    }
    out->rest = NODE_AS(arg, arguments->vararg)->arg;
    out->rest_first = out->parameters.count;
    if (!add_positional(eval, out, body, 0)) return false;
    tell_apart(eval, out, arguments);
    out->rest_count = out->parameters.count - out->rest_first;
    return true;
}

static bool read_parameters(Eval *eval, Signature *out)
{
    const Function *function = &out->function->as.function;
    const Nodearguments *arguments = NODE_AS(arguments, NODE_AS(FunctionDef, function->node)->args);
    bool named = arguments->kwonlyargs.count > 0 && !out->is_function;
    if ((arguments->vararg != NULL && out->body == NULL) || arguments->kwarg != NULL || named) {
        FAIL(eval, kernel_parameters, function->node->span,
             out->is_function ? "* or **" : "*, ** or keyword-only");
        return false;
    }
    /* a method: all but self */
    if (!add_positional(eval, out, function, out->is_function ? 0 : 1) ||
        !add_rest(eval, out, arguments))
        return false;
    for (uint32_t i = 0; i < arguments->kwonlyargs.count; i++)
        if (!add_parameter(eval, out, function, arguments->kwonlyargs.items[i],
                           function->kw_defaults[i]))
            return false;
    return true;
}

/* `__results__` of the instance: which parameters the call makes and gives, as Python counts. */
static bool mark_results(Eval *eval, Span at, Signature *out)
{
    Object *results = instance_attribute(eval, out->instance, "__results__");
    const int64_t count = (int64_t)out->parameters.count;
    int64_t given;
    if (results == NULL || results->kind == OBJECT_NONE) return true;
    if (!object_is_sequence(results)) results = object_list(eval, OBJECT_LIST, &results, 1);
    for (uint32_t i = 0; i < results->as.list.count; i++) {
        if (!object_as_int(eval, results->as.list.items[i], "a result", &given)) return false;
        int64_t index = given < 0 ? given + count : given;
        KernelParameter *parameter =
            index >= 0 && index < count ? &out->parameters.data[index] : NULL;
        const bool is_said_later = parameter != NULL && parameter->is_declared;
        if (parameter == NULL || parameter->is_result ||
            (!is_said_later && (parameter->tensor == NULL || parameter->tensor->any_dtype))) {
            FAIL(eval, no_result_tensor, at, (long long)given);
            return false;
        }
        parameter->is_result = true;
        parameter->result_order = (int)i;
    }
    return true;
}

bool signature_read(Eval *eval, Object *instance, Span at, Signature *out)
{
    *out = (Signature){0};
    out->configurations = instance_attribute(eval, instance, "__configurations__");
    return find_function(eval, instance, at, out) && read_parameters(eval, out) &&
           mark_results(eval, at, out);
}

size_t signature_find(const Signature *signature, Name name)
{
    size_t index = 0;
    while (index < signature->parameters.count && signature->parameters.data[index].name != name)
        index++;
    return index;
}

static bool extents_are_settled(Object *const *extents, int rank)
{
    for (int i = 0; i < rank; i++) {
        const Object *extent = extents[i];
        bool at_run_time = extent->kind == OBJECT_SYMBOL && !extent->as.symbol->is_key;
        if (extent->kind != OBJECT_INT && extent->kind != OBJECT_IR && !at_run_time) return false;
    }
    return true;
}

bool parameter_is_settled(const KernelParameter *parameter)
{
    const TensorType *tensor = parameter->tensor;
    if (parameter->is_result) return true;
    if (parameter->kind == PARAMETER_KEY) return parameter->otherwise != NULL;
    if (parameter->kind != PARAMETER_TENSOR) return true;
    return tensor != NULL && !tensor->any_dtype &&
           extents_are_settled(tensor->shape, tensor->rank) &&
           (!tensor->is_strided || extents_are_settled(tensor->strides, tensor->rank));
}

bool kernel_has_open_key(Eval *eval, Object *instance, bool *out)
{
    Signature signature;
    *out = false;
    if (!signature_read(eval, instance, eval->at, &signature)) return false;
    for (size_t i = 0; i < signature.parameters.count; i++)
        *out |= !parameter_is_settled(&signature.parameters.data[i]);
    return true;
}

/* ---- as text ---- */

/* An extent as the lazy JIT shows it: a number; NAME$ known when compiling, NAME$dyn at the call.
 */
static void print_extent(const KernelParameter *parameter, const Object *extent, const char *what,
                         int dim, Buf *out)
{
    const Symbol *symbol = extent->kind == OBJECT_SYMBOL ? extent->as.symbol : NULL;
    if (extent->kind == OBJECT_INT) {
        buf_printf(out, "%lld", (long long)extent->as.integer);
        return;
    }
    if (symbol != NULL && symbol->name != NULL)
        buf_text(out, symbol->name);
    else
        buf_printf(out, "%s_%s_%d", parameter->name, what, dim);
    buf_text(out, symbol != NULL && !symbol->is_key ? "$dyn" : "$");
}

static void print_extents(const KernelParameter *parameter, Object *const *extents,
                          const char *what, Buf *out)
{
    buf_char(out, '[');
    for (int i = 0; i < parameter->tensor->rank; i++) {
        buf_text(out, i > 0 ? ", " : "");
        print_extent(parameter, extents[i], what, i, out);
    }
    buf_char(out, ']');
}

static void print_parameter(const KernelParameter *parameter, Buf *out)
{
    const TensorType *tensor = parameter->tensor;
    if (parameter->kind == PARAMETER_SCALAR) {
        buf_printf(out, "%s$dyn", parameter->name);
    } else if (parameter->kind == PARAMETER_POINTER) {
        buf_text(out, "ptr");
    } else if (tensor == NULL) {
        buf_printf(out, "%s$", parameter->name);
    } else {
        buf_text(out, tensor->is_strided ? "StridedTensor[" : "Tensor[");
        print_extents(parameter, tensor->shape, "shape", out);
        buf_text(out, ", ");
        if (tensor->is_strided) {
            print_extents(parameter, tensor->strides, "stride", out);
            buf_text(out, ", ");
        }
        if (tensor->any_dtype)
            buf_printf(out, "%s_dtype$]", parameter->name);
        else
            buf_printf(out, "%s]", dtype_user_name(tensor->dtype));
    }
}

/* signature(kernel): what each parameter is, as text, by its name. */
Object *core_signature(Eval *eval, const Bound *bound)
{
    Signature signature;
    Object *all = dict_new(eval);
    if (!is_kernel(bound->values[0]))
        return FAIL(eval, expected_kind, bound->at, "what has a signature", "a kernel",
                    object_repr(eval, bound->values[0]));
    if (!signature_read(eval, bound->values[0], bound->at, &signature)) return NULL;
    for (size_t i = 0; i < signature.parameters.count; i++) {
        const KernelParameter *parameter = &signature.parameters.data[i];
        Buf text = {0};
        print_parameter(parameter, &text);
        dict_set(eval, all, object_text(eval, parameter->name, strlen(parameter->name)),
                 object_text(eval, text.data, text.length));
        buf_free(&text);
    }
    return all;
}
