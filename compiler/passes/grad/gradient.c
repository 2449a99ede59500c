/* gradient.c: from a kernel to the one that computes its gradient: parameters, tensors, launches.
 *
 * The launches go in the other order. Each finds memory as the kernel left it: what it needs of
 * what was overwritten is refused. */
#include "passes/grad/gradient.h"

#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/grad/grad.h"

#include <string.h>

/* ---- parameters ---- */

/* A pointer to floating-point numbers, or to bytes that are taken for such. */
static bool reaches_floats(const Value *pointer)
{
    bool found = dtype_is_float(pointer->type->dtype);
    for (const OpUse *use = pointer->uses; use && !found; use = use->next)
        found = op_aliased(use->op) == pointer && reaches_floats(use->op->results);
    return found;
}

static bool has_gradient(const Parameter *parameter)
{
    const Type *type = parameter->value->type;
    return type->kind == TYPE_POINTER && type->space == SPACE_GLOBAL &&
           reaches_floats(parameter->value) && !dtype_is_packed(type->dtype) &&
           !parameter->is_workspace && !parameter->is_key;
}

static void add_gradient(Grad *grad, int index)
{
    Kernel *kernel = grad->kernel;
    const Parameter of = kernel->parameters[index];
    const Name name = intern_printf(kernel->session->names, "%s_grad", of.name);
    Value *value = kernel_add_parameter(kernel, name, of.value->type, of.span);
    value->name = name;
    kernel->parameters[value->index].multiple = of.multiple;
    map_set(grad->arena, &grad->gradients, of.value, value);
    const Tensor *tensor = kernel_tensor_of(kernel, index);
    if (!tensor) return;
    const Tensor like = *tensor;
    Tensor *added = kernel_add_tensor(kernel, value->index, like.rank, of.span);
    *added = like;
    added->name = name;
    added->pointer = value->index;
}

/* ---- results: what the caller got he now gives the gradient of ---- */

/* An extent of a result as a tensor has it: a parameter, which the tensor then tells, too. */
static Extent extent_of(Kernel *kernel, const Value *value, Name tensor, int dim)
{
    int64_t constant;
    if (value_constant(value, &constant)) return (Extent){EXTENT_LITERAL, constant, 0};
    const Parameter *known = kernel_parameter_of(kernel, value);
    if (known) return (Extent){EXTENT_PARAMETER, 0, (int)(known - kernel->parameters)};
    const Name name = intern_printf(kernel->session->names, "%s_shape_%d", tensor, dim);
    const Value *added = kernel_add_parameter(
        kernel, name, type_scalar(kernel->types, value->type->dtype), kernel->span);
    return (Extent){EXTENT_PARAMETER, 0, added->index};
}

static Op *shape_of_result(Kernel *kernel, int64_t index)
{
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_result_shape && op_int(op, ATTR_index, 0) == index) return op;
    return NULL;
}

/* The parameter goes behind the others; what tensors say of parameters follows. */
static int moved(int index, int from, int last)
{
    return index == from ? last : index - (index > from && index <= last);
}

static void move_extents(Extent *extents, int rank, int from, int last)
{
    for (int d = 0; d < rank; d++) extents[d].parameter = moved(extents[d].parameter, from, last);
}

static void move_behind(Kernel *kernel, int from)
{
    const int last = kernel_argument_count(kernel) - 1;
    const Parameter parameter = kernel->parameters[from];
    for (int i = from; i < last; i++) kernel->parameters[i] = kernel->parameters[i + 1];
    kernel->parameters[last] = parameter;
    for (int i = from; i <= last; i++) kernel->parameters[i].value->index = i;
    for (int i = 0; i < kernel->tensor_count; i++) {
        Tensor *tensor = &kernel->tensors[i];
        tensor->pointer = moved(tensor->pointer, from, last);
        if (tensor->dtype_key >= 0) tensor->dtype_key = moved(tensor->dtype_key, from, last);
        move_extents(tensor->shape, tensor->rank, from, last);
        move_extents(tensor->strides, tensor->rank, from, last);
    }
}

/* Its memory is that of its gradient, since nothing of it is read. */
static void result_to_gradient(Grad *grad, Name name)
{
    Kernel *kernel = grad->kernel;
    for (int i = 0; i < kernel->tensor_count; i++) {
        Tensor tensor = kernel->tensors[i];
        if (tensor.name != name) continue;
        Value *value = kernel->parameters[tensor.pointer].value;
        if (!has_gradient(&kernel->parameters[tensor.pointer])) return;
        tensor.name = intern_printf(kernel->session->names, "%s_grad", name);
        kernel->parameters[tensor.pointer].name = value->name = tensor.name;
        map_set(grad->arena, &grad->gradients, value, value);
        for (int j = i; j + 1 < kernel->tensor_count; j++)
            kernel->tensors[j] = kernel->tensors[j + 1];
        kernel->tensors[kernel->tensor_count - 1] = tensor;
        move_behind(kernel, tensor.pointer);
        return;
    }
}

static void settle_results(Kernel *kernel, ValueVec *pointers)
{
    int64_t index = 0;
    for (int i = 0; i < kernel->tensor_count; i++) {
        Tensor *tensor = &kernel->tensors[i];
        if (!tensor->is_result) continue;
        Op *shape = shape_of_result(kernel, index++);
        for (int d = 0; shape && d < tensor->rank; d++)
            tensor->shape[d] = extent_of(kernel, shape->operands[d], tensor->name, d);
        tensor->is_result = false;
        vec_push(kernel->arena, pointers, kernel->parameters[tensor->pointer].value);
        if (shape) op_erase(shape);
    }
}

static bool is_among(const ValueVec *values, const Value *value)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->data[i] == value) return true;
    return false;
}

static void add_gradients(Grad *grad)
{
    Kernel *kernel = grad->kernel;
    ValueVec results = {0};
    const int count = kernel_argument_count(kernel);
    settle_results(kernel, &results);
    for (int i = 0; i < count; i++)
        if (has_gradient(&kernel->parameters[i]) &&
            !is_among(&results, kernel->parameters[i].value))
            add_gradient(grad, i);
    for (size_t i = 0; i < results.count; i++) result_to_gradient(grad, results.data[i]->name);
}

/* ---- what the launches may need ---- */

typedef struct Written {
    Grad *grad;
    Kernel *kernel;
    Map memories; /* by what they are known by */
} Written;

/* Whose memory is not there any more. */
static bool is_of_result(const Grad *grad, const Value *memory)
{
    return map_get(&grad->gradients, memory) == memory;
}

static void check_result(Op *op, void *context)
{
    Grad *grad = context;
    if (!op_has(op, READS) || op->region_count || op_has(op, ATOMIC)) return;
    const Value *memory = memory_touched(grad, op);
    if (memory && is_of_result(grad, memory))
        grad_refuse(grad, op, "a result is read again, which is not kept for the gradient");
}

static void note_written(Op *op, void *context)
{
    Written *written = context;
    if (!op_has(op, WRITES) || op->region_count || op->code == OP_copy) return;
    const Value *memory = memory_touched(written->grad, op);
    if (memory && !is_of_result(written->grad, memory))
        map_set(written->kernel->arena, &written->memories, memory, op);
}

typedef struct Reads {
    Grad *grad;
    const Written *written;
} Reads;

/* What the kernel did for others is not done again, so that its results are not there. */
static bool is_done_again(const Grad *grad, const Op *op)
{
    const bool for_others = op_has(op, ATOMIC) || view_of(op);
    return op_has(op, WRITES) && for_others && op->code != OP_copy && op->result_count &&
           op->results->use_count && !map_has(&grad->effects, op);
}

static void check_read(Op *op, void *context)
{
    const Reads *reads = context;
    Grad *grad = reads->grad;
    if (is_done_again(grad, op))
        grad_refuse(grad, op, "the gradient needs what was there before, which is not kept");
    if (!op_has(op, READS) || op->region_count || map_has(&grad->effects, op) ||
        map_has(&grad->settled, op))
        return;
    const Value *memory = memory_touched(grad, op);
    if (memory && map_has(&reads->written->memories, memory))
        grad_refuse(grad, op, "the gradient needs what it reads, which the kernel overwrites");
}

/* ---- launches ---- */

static bool differentiate_launch(Grad *grad, Op *launch, Written *written)
{
    region_visit(launch_region(launch), check_result, grad);
    find_lasting(grad, &written->memories, launch);
    region_visit(launch_region(launch), note_written, written);
    Op *fresh = grad->failed ? NULL : differentiate(grad, launch);
    Reads reads = {grad, written};
    if (!fresh) return false;
    region_visit(launch_region(fresh), check_read, &reads);
    op_erase(launch);
    return !grad->failed;
}

/* From the last to the first; what a launch or one behind it writes is not there as it was. */
static bool differentiate_launches(Grad *grad)
{
    Kernel *kernel = grad->kernel;
    Written written = {.grad = grad, .kernel = kernel};
    VEC(Op *) launches = {0};
    for (Op *op = kernel->host->last; op; op = op->previous)
        if (op->code == OP_launch) vec_push(kernel->arena, &launches, op);
    for (size_t i = 0; i < launches.count; i++)
        if (!differentiate_launch(grad, launches.data[i], &written)) return false;
    return true;
}

static bool to_values(Kernel *kernel, const Target *target)
{
    PassContext context = {.kernel = kernel, .target = target, .arena = kernel->arena};
    shared_to_values(kernel);
    const bool fine = pass_once(kernel, &context) && pass_simplify(kernel, &context) &&
                      pass_regroup(kernel, &context) && pass_promote(kernel, &context) &&
                      pass_from_end(kernel, &context) && pass_simplify(kernel, &context) &&
                      pass_parted_tiles(kernel, &context);
    analysis_invalidate(&context);
    return fine;
}

static bool has_workspaces(Kernel *kernel)
{
    if (!kernel_workspace_count(kernel)) return false;
    diag_report(kernel->session->diags, DIAG_not_differentiable, kernel->span, "workspace",
                "what a kernel keeps in global memory of its own has no gradient yet");
    return true;
}

static void find_retained(Grad *grad, const char *names)
{
    const Kernel *kernel = grad->kernel;
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        for (int i = 0; i < kernel->tensor_count; i++) {
            const Tensor *tensor = &kernel->tensors[i];
            if (strlen(tensor->name) == length && strncmp(tensor->name, at, length) == 0)
                map_set(grad->arena, &grad->retained, kernel->parameters[tensor->pointer].value,
                        (void *)(uintptr_t)tensor);
        }
        at += length;
    }
}

Kernel *kernel_gradient(const Kernel *typed, const Target *target, bool consumes,
                        const char *retained)
{
    Kernel *kernel = kernel_clone(typed);
    Grad grad = {.kernel = kernel, .target = target, .arena = kernel->arena, .consumes = consumes};
    PassContext context = {.kernel = kernel, .target = target, .arena = kernel->arena};
    kernel->is_differentiated = true;
    bool fine = !has_workspaces(kernel) && to_values(kernel, target);
    find_retained(&grad, retained);
    if (fine) add_gradients(&grad);
    find_rewritten(&grad, kernel->host);
    fine = fine && differentiate_launches(&grad);
    if (fine) arrange_sums(&grad);
    kernel->is_differentiated = false;
    fine = fine && pass_simplify(kernel, &context) && kernel_verify(kernel);
    kernel->properties = 0;
    if (fine) return kernel;
    kernel_free(kernel);
    return NULL;
}
