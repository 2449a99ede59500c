/* kernel.c: from a specialisation to a staged Kernel.
 *
 * The `__call__` of a class is evaluated in its launch's region; what it sets in `attrs` describes
 * the launch, and the scalar code behind the grid is copied to the host region. A plain function is
 * evaluated in the host region, and opens its launches there (launches.c). */
#include "eval/export/export.h"

#include "ir/workspace.h"

#include <string.h>

/* ---- the grid: scalar code copied to the host region ---- */

typedef struct HostCopy {
    Eval *eval;
    Builder builder;
    const char *wanted;
    Span at; /* where it is given */
    Map map;
    int depth;
} HostCopy;

static bool lies_within(Span part, Span whole)
{
    return part.source == whole.source && part.begin >= whole.begin && part.end <= whole.end;
}

static Value *copy_to_host(HostCopy *copy, Value *value)
{
    Eval *eval = copy->eval;
    if (value->op == NULL && value->region == NULL) return value; /* a parameter */
    if (value->op != NULL && value->op->parent == eval->staging->kernel->host) return value;
    Value *known = map_get(&copy->map, value);
    if (known != NULL) return known;
    const OpInfo *info = value->op != NULL ? op_info(value->op->code) : NULL;
    if (info == NULL || !(info->stages & HOST) || !(info->traits & PURE) || copy->depth > 1000) {
        const char *what = value->name != NULL ? arena_printf(eval->arena, "'%s'", value->name)
                           : info != NULL
                               ? arena_printf(eval->arena, "the result of '%s'", info->name)
                               : "a loop's counter";
        const Span at = value->op != NULL ? value->op->span : copy->at;
        FAIL(eval, device_grid, at, copy->wanted, what);
        if (eval->quiet == 0 && !lies_within(at, copy->at))
            diag_note(eval->session->diags, copy->at, "%s is given here", copy->wanted);
        return NULL;
    }
    copy->depth++;
    bool good = true;
    for (int i = 0; good && i < value->op->operand_count; i++) {
        Value *operand = copy_to_host(copy, value->op->operands[i]);
        good = operand != NULL;
        if (good) map_set(eval->arena, &copy->map, value->op->operands[i], operand);
    }
    copy->depth--;
    if (!good) return NULL;
    Op *clone = op_clone(&copy->builder, value->op, &copy->map);
    Value *result = &clone->results[value->index];
    map_set(eval->arena, &copy->map, value, result);
    return result;
}

Builder stage_host_builder(Eval *eval, Span at)
{
    Op *launch = eval->staging->launch;
    Builder builder = launch != NULL ? builder_before(launch) : eval->builder;
    builder.span = at;
    return builder;
}

Value *stage_on_host(Eval *eval, Value *value, const char *wanted)
{
    HostCopy copy = {.eval = eval,
                     .builder = stage_host_builder(eval, eval->at),
                     .wanted = wanted,
                     .at = eval->at};
    return eval->staging->launch != NULL ? copy_to_host(&copy, value) : value;
}

static Object *kernel_attribute(Eval *eval, const char *name)
{
    Instance *attributes = eval->staging->attributes->as.instance;
    Binding *binding =
        bindings_get(&attributes->attributes, intern_text(eval->session->names, name));
    if (binding == NULL || binding->object == NULL)
        return FAIL(eval, no_attribute_set, eval->staging->kernel->span, name);
    eval->at = binding->at;
    return binding_get(eval, binding, binding->at);
}

static bool set_extent(Eval *eval, HostCopy *copy, int dim, Object *extent)
{
    Value *value;
    if (extent->kind == OBJECT_INT)
        value =
            build_const(&copy->builder,
                        extent->as.integer == (int32_t)extent->as.integer ? DTYPE_i32 : DTYPE_i64,
                        extent->as.integer);
    else {
        value = stage_index(eval, extent, eval->at);
        value = value != NULL ? copy_to_host(copy, value) : NULL;
    }
    if (value == NULL) return false;
    op_set_operand(eval->staging->launch, dim, value);
    return true;
}

static bool set_grid(Eval *eval)
{
    Object *blocks = kernel_attribute(eval, "blocks");
    if (blocks == NULL) return false;
    HostCopy copy = {.eval = eval,
                     .builder = builder_before(eval->staging->launch),
                     .wanted = "the grid",
                     .at = eval->at};
    if (!object_is_sequence(blocks)) return set_extent(eval, &copy, 0, blocks);
    if (blocks->as.list.count < 1 || blocks->as.list.count > 3) {
        FAIL(eval, grid_rank, eval->at, (int)blocks->as.list.count);
        return false;
    }
    for (uint32_t i = 0; i < blocks->as.list.count; i++)
        if (!set_extent(eval, &copy, (int)i, blocks->as.list.items[i])) return false;
    return true;
}

bool kernel_warps(Eval *eval, int64_t *out)
{
    Object *object = kernel_attribute(eval, "warps");
    if (object == NULL || !object_as_int(eval, object, "the number of warps", out)) return false;
    if (*out >= 1 && *out <= MAX_BLOCK_THREADS / WARP_SIZE) return true;
    FAIL(eval, count_range, eval->at, "the number of a block's warps", 1LL, 32LL, (long long)*out);
    return false;
}

static bool set_warps(Eval *eval)
{
    int64_t warps;
    if (!kernel_warps(eval, &warps)) return false;
    op_set_int(eval->staging->launch, ATTR_warps, warps);
    return true;
}

/* Without the attribute blocks are by themselves. */
static bool set_cluster(Eval *eval)
{
    Instance *attributes = eval->staging->attributes->as.instance;
    const Binding *binding =
        bindings_get(&attributes->attributes, intern_text(eval->session->names, "cluster_blocks"));
    if (binding == NULL || binding->object == NULL) return true;
    Object *extents = kernel_attribute(eval, "cluster_blocks");
    return extents != NULL && launch_set_cluster(eval, eval->staging->launch, extents, binding->at);
}

/* ---- setting aside ---- */

static Op *make_launch(Kernel *kernel, Span at)
{
    Builder builder = builder_at_end(kernel->host, at);
    Value *one = build_const(&builder, DTYPE_i32, 1);
    Op *launch = build_op(&builder, OP_launch, 3, (Value *[]){one, one, one}, 0, NULL);
    op_set_int(launch, ATTR_warps, 1);
    return launch;
}

static void bind_self(Eval *eval, const Function *function, Scope *scope, Object *instance)
{
    const Nodearguments *arguments = NODE_AS(arguments, NODE_AS(FunctionDef, function->node)->args);
    Nodes names = arguments->posonlyargs.count > 0 ? arguments->posonlyargs : arguments->args;
    if (names.count > 0)
        binding_put(eval, bindings_make(eval, &scope->bindings, NODE_AS(arg, names.items[0])->arg),
                    instance, names.items[0]->span);
}

/* The kernel's own counts begin anew, and what it assigns of modules' names; its steps are not the
 * caller's. */
static void begin_kernel(Eval *eval, Staging *staging)
{
    eval->staging = staging;
    eval->builder = builder_at_end(staging->launch != NULL ? launch_region(staging->launch)
                                                           : staging->kernel->host,
                                   staging->at);
    eval->library = 0;
    eval->steps_left = UNROLL_LIMIT;
    units_take_told(eval);
}

/* ---- parameters ---- */

static const Type *key_type(TypeTable *types, const Object *key)
{
    switch (key->kind) {
    case OBJECT_BOOL: return type_scalar(types, DTYPE_b1);
    case OBJECT_FLOAT: return type_scalar(types, DTYPE_f64);
    case OBJECT_INT:
    case OBJECT_DTYPE:
    case OBJECT_TEXT: return type_scalar(types, DTYPE_i64);
    default: return NULL;
    }
}

/* A number, text or element type is a key of the IR too; other values are known to the evaluator
 * alone. */
static void add_key(Kernel *kernel, const KernelParameter *parameter, const Object *key)
{
    const Type *type = key_type(kernel->types, key);
    if (type == NULL) return;
    int index = kernel_add_parameter(kernel, parameter->name, type, parameter->span)->index;
    Parameter *added = &kernel->parameters[index];
    added->is_key = true;
    added->is_dtype = key->kind == OBJECT_DTYPE;
    if (key->kind == OBJECT_TEXT)
        added->text = intern(kernel->session->names, key->as.text.data, key->as.text.length);
    else if (key->kind == OBJECT_FLOAT)
        memcpy(&added->key, &key->as.number, sizeof added->key);
    else
        added->key = added->is_dtype ? dtype_code(key->as.dtype) : key->as.integer;
}

/* What the function's parameter is bound to; NULL: reported. */
static Object *stage_parameter(Eval *eval, const KernelParameter *parameter, int argument,
                               Object *key)
{
    Kernel *kernel = eval->staging->kernel;
    if (eval->staging->specialisation->is_tensor[argument])
        return parameter->is_declared ? eval->none : tensor_stage(eval, parameter, argument, key);
    if (key != NULL) {
        const bool *is_tuned = eval->staging->specialisation->is_tuned;
        if (is_tuned == NULL || !is_tuned[argument]) add_key(kernel, parameter, key);
        return key;
    }
    const Type *type = parameter->kind == PARAMETER_POINTER
                           ? type_pointer(kernel->types, parameter->dtype, SPACE_GLOBAL)
                           : type_scalar(kernel->types, parameter->dtype);
    return object_ir(eval, kernel_add_parameter(kernel, parameter->name, type, parameter->span));
}

/* What the function has the parameter as: a name of its own, or an item of its rest. */
static void bind_parameter(Eval *eval, Scope *scope, size_t index, Object *object)
{
    const Signature *signature = eval->staging->signature;
    const KernelParameter *parameter = &signature->parameters.data[index];
    if (index - signature->rest_first < signature->rest_count)
        eval->staging->rest->as.list.items[index - signature->rest_first] = object;
    else
        binding_put(eval, bindings_make(eval, &scope->bindings, parameter->name), object,
                    parameter->span);
}

/* What the call makes comes behind what it is given. */
static bool stage_results(Eval *eval, Scope *scope)
{
    const Signature *signature = eval->staging->signature;
    Value *extents[TYPE_RANK];
    for (size_t i = 0; i < signature->parameters.count; i++) {
        const KernelParameter *parameter = &signature->parameters.data[i];
        if (!parameter->is_result || parameter->is_declared) continue;
        if (!tensor_extents(eval, parameter, extents)) return false;
        Object *object =
            result_new(eval, parameter->name, parameter->tensor->dtype, parameter->tensor->rank,
                       extents, parameter->span, parameter->result_order);
        bind_parameter(eval, scope, i, object);
    }
    return true;
}

static bool stage_parameters(Eval *eval, Scope *scope)
{
    const Signature *signature = eval->staging->signature;
    Kernel *kernel = eval->staging->kernel;
    Object *rest = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (size_t i = 0; i < signature->rest_count; i++) list_append(eval, rest, eval->none);
    eval->staging->rest = rest;
    if (signature->rest != NULL)
        binding_put(eval, bindings_make(eval, &scope->bindings, signature->rest), rest, eval->at);
    for (size_t i = 0; i < signature->parameters.count; i++) {
        const KernelParameter *parameter = &signature->parameters.data[i];
        if (parameter->is_result) continue;
        Object *object =
            stage_parameter(eval, parameter, (int)i, eval->staging->specialisation->keys[i]);
        if (object == NULL) return false;
        bind_parameter(eval, scope, i, object);
        while (eval->staging->parameter_arguments.count < (size_t)kernel->parameter_count)
            vec_push(eval->arena, &eval->staging->parameter_arguments, (int)i);
    }
    return tensors_settle_extents(eval);
}

/* ---- the function ---- */

/* Evaluates the kernel function: a method in its launch's region, a plain one in the host's. */
static bool run_kernel(Eval *eval, Scope *scope)
{
    Staging *staging = eval->staging;
    const Function *function = &staging->signature->function->as.function;
    Frame frame = {.scope = scope,
                   .function = function,
                   .self = staging->is_function ? NULL : staging->signature->instance,
                   .is_entry = !staging->is_function,
                   .caller = eval->frame};
    const int library = eval->library;
    const bool in_library = function->unit != NULL && function->unit->is_library;
    if (in_library) eval->at = staging->kernel->span; /* which is that of the text behind it */
    eval->library = in_library ? library + 1 : 0;
    eval->frame = &frame;
    staging->frame = &frame;
    shadows_of_call(eval, function);
    Flow flow = eval_block(eval, NODE_AS(FunctionDef, function->node)->body);
    eval->library = library;
    bool good = flow != FLOW_ERROR && staging->failures == 0;
    if (flow == FLOW_RETURN) eval->at = frame.returned;
    if (good && staging->is_function) {
        if (staging->launch != NULL) launch_close(eval);
        Object *returned = call_result(eval, flow, eval->at);
        good = returned != NULL && launches_finish(eval, returned) &&
               tensors_take_told(eval, staging->specialisation);
    } else {
        good = good && set_grid(eval) && set_cluster(eval) && set_warps(eval);
    }
    eval->frame = frame.caller;
    return good;
}

/* ---- bodies that declare their tensors ---- */

static bool declares_tensors(const Signature *signature)
{
    for (size_t i = 0; i < signature->parameters.count; i++)
        if (signature->parameters.data[i].is_declared) return true;
    return false;
}

/* A name that cannot be told of stands for what is not known. */
static void name_ahead(void *context, Name name)
{
    Eval *eval = context;
    const Object unknown = {.kind = OBJECT_SYMBOL};
    Binding *binding = bindings_make(eval, &eval->frame->scope->bindings, name);
    binding_put(eval, binding, extent_ahead(eval, &unknown, &unknown), eval->at);
}

/* The statements up to the first launch, in silence: some of them need numbers that those behind
 * them tell. */
static void run_ahead(Eval *eval, Scope *scope)
{
    Staging *staging = eval->staging;
    const Function *function = &staging->signature->function->as.function;
    const Nodes body = NODE_AS(FunctionDef, function->node)->body;
    Frame frame = {.scope = scope, .function = function, .caller = eval->frame};
    eval->frame = &frame;
    for (uint32_t i = 0; i < body.count && body.items[i]->kind != NODE_With; i++) {
        staging->frame = &frame;
        if (eval_statement(eval, body.items[i]) == FLOW_ERROR)
            names_bound(eval, body.items[i], name_ahead, eval);
    }
    eval->frame = frame.caller;
}

/* What the tensors that the body declares tell of its extents, wherever they are declared: with
 * that it is evaluated in earnest. */
static Map extents_ahead(Eval *eval, const Signature *signature,
                         const Specialisation *specialisation)
{
    if (!declares_tensors(signature)) return (Map){0};
    const Function *function = &signature->function->as.function;
    Specialisation trial = *specialisation;
    Staging staging = {.kernel = kernel_new(eval->session, signature->function->as.function.name,
                                            specialisation->at),
                       .at = specialisation->at,
                       .signature = signature,
                       .specialisation = &trial,
                       .is_function = true,
                       .looks_ahead = true};
    Scope *scope = scope_new(eval, SCOPE_FUNCTION, function->closure, function->unit);
    const Aside aside = step_aside(eval);
    const uint64_t steps_left = eval->steps_left;
    tensors_told_ahead(eval, specialisation->told, &staging.ahead);
    begin_kernel(eval, &staging);
    eval->quiet++;
    if (stage_parameters(eval, scope)) run_ahead(eval, scope);
    eval->quiet--;
    step_back(eval, &aside);
    eval->steps_left = steps_left;
    vec_push(eval->arena, &eval->kernels, staging.kernel); /* the program may hold its values */
    return staging.ahead;
}

static Object *new_attributes(Eval *eval)
{
    const ObjectVec bases = {0};
    Name name = intern_text(eval->session->names, "attrs");
    return instance_new(eval, class_make(eval, name, &bases, dict_new(eval), eval->at));
}

/* Whether the kernel asks for approximate instructions, or declines them: None says neither. */
static bool take_fast_math(Eval *eval, const Object *instance, Staging *staging)
{
    Object *told = instance_attribute(eval, instance, "__fast_math__");
    staging->fast_math = eval->options.fast_math;
    if (told == NULL || told->kind == OBJECT_NONE) return true;
    bool wanted;
    if (!object_truth(eval, told, &wanted)) return false;
    staging->fast_math_told = true;
    staging->fast_math |= wanted;
    return true;
}

/* Whether products that are added to become fmas; None leaves that to the command line. */
static bool take_fuse_fp(Eval *eval, const Object *instance, Staging *staging)
{
    Object *told = instance_attribute(eval, instance, "__fuse_fp__");
    staging->kernel->rounds_products = eval->options.rounds_products;
    if (told == NULL || told->kind == OBJECT_NONE) return true;
    bool wanted;
    if (!object_truth(eval, told, &wanted)) return false;
    staging->fuse_fp_told = true;
    staging->kernel->rounds_products |= !wanted;
    return true;
}

static bool take_block_syncs(Eval *eval, const Object *instance, Staging *staging)
{
    Object *told = instance_attribute(eval, instance, "__block_syncs__");
    return told == NULL || told->kind == OBJECT_NONE ||
           object_truth(eval, told, &staging->block_syncs);
}

static bool stage_kernel(Eval *eval, const Signature *signature, Specialisation *specialisation,
                         Kernel *kernel)
{
    const Function *function = &signature->function->as.function;
    Staging staging = {.kernel = kernel,
                       .at = specialisation->at,
                       .signature = signature,
                       .specialisation = specialisation,
                       .ahead = extents_ahead(eval, signature, specialisation),
                       .is_function = signature->is_function};
    const Object *class = specialisation->instance->as.instance->class;
    if (class_says(class, "__typed_numbers__")) staging.numbers = NUMBERS_TYPED;
    staging.plain_types = class_says(class, "__plain_types__");
    staging.four_extents = class_says(class, "__four_extents__");
    if (!take_fast_math(eval, specialisation->instance, &staging) ||
        !take_fuse_fp(eval, specialisation->instance, &staging) ||
        !take_block_syncs(eval, specialisation->instance, &staging))
        return false;
    Scope *scope = scope_new(eval, SCOPE_FUNCTION, function->closure, function->unit);
    if (!staging.is_function) staging.launch = make_launch(kernel, function->node->span);
    const Aside aside = step_aside(eval);
    const uint64_t steps_left = eval->steps_left;
    begin_kernel(eval, &staging);
    staging.attributes = new_attributes(eval);
    if (!staging.is_function) bind_self(eval, function, scope, specialisation->instance);
    bool good =
        stage_parameters(eval, scope) && stage_results(eval, scope) && run_kernel(eval, scope);
    if (good) fragments_settle(eval);
    step_back(eval, &aside);
    eval->steps_left = steps_left;
    specialisation->parameter_arguments = staging.parameter_arguments.data;
    specialisation->tensor_arguments = staging.tensor_arguments.data;
    return good;
}

bool specialisation_stage(Eval *eval, Specialisation *specialisation, Name export_name, Name symbol)
{
    if (specialisation->kernel != NULL) return true;
    Signature signature;
    if (!signature_read(eval, specialisation->instance, specialisation->at, &signature))
        return false;
    if (specialisation->configurations.count > 0)
        return tuning_stage(eval, &signature, specialisation, export_name, symbol);
    const Object *text = signature.body != NULL ? signature.body : signature.function;
    Kernel *kernel = kernel_new(eval->session, symbol, text->as.function.node->span);
    kernel->export_name = export_name;
    kernel->is_differentiated = eval->differentiates;
    kernel->source_name = intern_text(eval->session->names, kernel_name(specialisation->instance));
    const char *title = specialisation_title(eval, &signature, specialisation, export_name);
    CallStep step = {specialisation->at, arena_printf(eval->arena, "while specialising %s", title)};
    vec_push(eval->arena, &eval->steps, step);
    size_t errors = diag_error_count(eval->session->diags);
    bool good = stage_kernel(eval, &signature, specialisation, kernel);
    eval->steps.count--;
    good = good && diag_error_count(eval->session->diags) == errors;
    if (good) {
        workspaces_settle(kernel);
        group_tiles_settle(kernel, eval->arena);
    }
    good = good && kernel_verify(kernel);
    /* The program may hold its values, good or not. */
    vec_push(eval->arena, &eval->kernels, kernel);
    if (good) specialisation->kernel = kernel;
    return good;
}
