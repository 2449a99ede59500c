/* memory.c: where the adjoints of memory stand: of what a parameter points to in memory of the
 * caller's, of shared tiles and local arrays in others of that shape. */
#include "passes/analysis/access.h"
#include "ir/rebuild.h"
#include "passes/grad/grad.h"

/* ---- global memory ---- */

Value *view_of(const Op *op)
{
    Value *memory = op_memory(op);
    return memory && memory->type->kind == TYPE_VIEW ? memory : NULL;
}

const Value *view_pointer(const Op *op)
{
    const Value *pointer = operand(view_of(op)->op, pointer);
    while (pointer->op && op_aliased(pointer->op)) pointer = op_aliased(pointer->op);
    return pointer;
}

static const Value *memory_at(Grad *grad, const Value *pointer);

/* Where it was read; addresses that are computed are of one memory. */
static Field field_of(Grad *grad, const Value *address)
{
    const Op *op = address->op;
    Field field = {NULL, -1, address};
    if (!op) return (Field){address, -1, address};
    if (op->code != OP_element_load || !view_of(op)) return field;
    field.memory = memory_at(grad, operand(view_of(op)->op, pointer));
    if (!value_constant(op->operands[op->operand_count - 1], &field.place)) field.place = -1;
    return field;
}

static const Value *memory_at(Grad *grad, const Value *pointer)
{
    const Value *root = pointer_root(pointer);
    if (!root->op || root->op->code != OP_bitcast) return root->op ? NULL : root;
    const Field field = field_of(grad, operand(root->op, a));
    for (size_t i = 0; i < grad->fields.count; i++) {
        const Field *known = &grad->fields.data[i];
        if (known->memory == field.memory && known->place == field.place) return known->known;
    }
    vec_push(grad->arena, &grad->fields, field);
    return field.known;
}

const Value *memory_touched(Grad *grad, const Op *op)
{
    const Value *view = view_of(op);
    return view && view->op->code == OP_view ? memory_at(grad, operand(view->op, pointer)) : NULL;
}

Value *pointer_adjoint(Grad *grad, Value *pointer)
{
    const Op *op = pointer->op;
    if (!op) return map_get(&grad->gradients, pointer);
    if (op->code == OP_with_adjoint) {
        Value *address = replayed(grad, operand(op, address));
        return build_op(&grad->builder, OP_bitcast, 1, &address, 1, &pointer->type)->results;
    }
    if (op->code != OP_ptr_add && op->code != OP_ptr_cast) return NULL;
    Value *base = pointer_adjoint(grad, operand(op, pointer));
    if (!base) return NULL;
    if (op->code == OP_ptr_add)
        return build2(&grad->builder, OP_ptr_add, base, replayed(grad, operand(op, index)));
    if (base->type == pointer->type) return base;
    if (dtype_is_float(base->type->dtype)) return NULL; /* what is seen there has no gradient */
    return build_op(&grad->builder, OP_ptr_cast, 1, &base, 1, &pointer->type)->results;
}

/* The address of an adjoint that is known at run time alone; NULL: it is a parameter's. */
static const Value *address_of_adjoint(const Value *pointer)
{
    while (pointer->op && op_aliased(pointer->op)) {
        if (pointer->op->code == OP_with_adjoint) return operand(pointer->op, address);
        pointer = op_aliased(pointer->op);
    }
    return NULL;
}

/* Without an adjoint nothing is inside of it. */
static void limit_extents(Grad *grad, const Value *view, Value **extents)
{
    const Value *address = address_of_adjoint(operand(view->op, pointer));
    if (!address) return;
    Value *is_there = build_cmp(&grad->builder, "ne", replayed(grad, address),
                                build_const(&grad->builder, DTYPE_i64, 0));
    extents[0] = build3(&grad->builder, OP_select, is_there, extents[0],
                        build_const(&grad->builder, extents[0]->type->dtype, 0));
}

static Value *view_adjoint(Grad *grad, const Value *view)
{
    const Op *op = view->op;
    Value *pointer = pointer_adjoint(grad, operand(op, pointer));
    if (!pointer || pointer->type->dtype != view->type->dtype || !dtype_is_float(view->type->dtype))
        return NULL;
    const int rank = view->type->rank;
    Value *extents[2 * TYPE_RANK];
    for (int i = 0; i < 2 * rank; i++) extents[i] = replayed(grad, operand_list(op, extents)[i]);
    limit_extents(grad, view, extents);
    return build_view(&grad->builder, pointer, rank, extents, extents + rank);
}

static const Value *parameter_of(Grad *grad, const Value *view)
{
    const Parameter *parameter = pointer_parameter(grad->kernel, operand(view->op, pointer));
    return parameter ? parameter->value : NULL;
}

/* Of all that the parameter is: not a part, nor what was cut out of it. */
static bool is_whole(const Grad *grad, const Value *view, const Value *parameter)
{
    const Value *pointer = operand(view->op, pointer);
    while (pointer->op && pointer->op->code == OP_ptr_cast) pointer = operand(pointer->op, pointer);
    if (pointer != parameter) return false;
    const Kernel *kernel = grad->kernel;
    const Tensor *tensor = kernel_tensor_of(kernel, parameter->index);
    const int bytes_of = tensor->dtype != view->type->dtype; /* the last dimension is another */
    for (int d = 0; d < tensor->rank - bytes_of && d < view->type->rank; d++) {
        const Extent *extent = &tensor->shape[d];
        const Value *is = operand_list(view->op, extents)[d];
        while (is->op && is->op->code == OP_cast) is = operand(is->op, value);
        if (extent->kind == EXTENT_PARAMETER && is != kernel->parameters[extent->parameter].value)
            return false;
    }
    return view->type->rank == tensor->rank;
}

bool memory_is_consumed(Grad *grad, const Value *memory)
{
    if (memory->type->kind != TYPE_VIEW) return true;
    const Value *parameter = parameter_of(grad, memory);
    if (grad->consumes)
        return !parameter || !map_has(&grad->retained, parameter) ||
               !is_whole(grad, memory, parameter);
    return !parameter || map_get(&grad->rewritten, parameter) != grad;
}

static bool is_in_loop(const Op *op)
{
    for (const Op *at = op->parent->parent; at; at = at->parent->parent)
        if (op_has(at, LOOP)) return true;
    return false;
}

/* That it was written once is noted as `grad`, that there is more as itself. */
static void note_access(Op *op, void *context)
{
    Grad *grad = context;
    const Value *view = view_of(op);
    if (!view) return;
    const Value *parameter = parameter_of(grad, view);
    if (!parameter) return;
    const bool is_first = op_has(op, STORES) && !op_has(op, ATOMIC) && !is_in_loop(op) &&
                          !map_has(&grad->rewritten, parameter);
    map_set(grad->arena, &grad->rewritten, parameter,
            is_first ? (void *)grad : (void *)(uintptr_t)parameter);
}

void find_rewritten(Grad *grad, Region *host)
{
    region_visit(host, note_access, grad);
}

/* ---- the block's and the thread's own ---- */

static const Type *with_sums(Grad *grad, const Type *type)
{
    Type wide = *type;
    wide.dtype = adjoint_dtype(type->dtype);
    wide.layout = NULL;
    return type_intern(grad->kernel->types, &wide);
}

static Value *part_adjoint(Grad *grad, const Value *part)
{
    const Op *op = part->op;
    Value *whole = memory_adjoint(grad, operand(op, tile));
    const Type *type = with_sums(grad, part->type);
    ValueVec operands = {0};
    if (!whole || (op->code != OP_shared_view && op->code != OP_shared_reshape) ||
        operand(op, tile)->type->dtype != part->type->dtype)
        return NULL;
    vec_push(grad->arena, &operands, whole);
    for (int i = 1; i < op->operand_count; i++)
        vec_push(grad->arena, &operands, replayed(grad, op->operands[i]));
    Op *copy = build_op(&grad->builder, op->code, (int)operands.count, operands.data, 1, &type);
    op_keep_attr(copy, op, ATTR_dims);
    return copy->results;
}

Value *memory_adjoint(Grad *grad, Value *memory)
{
    if (memory->type->kind == TYPE_VIEW) return view_adjoint(grad, memory);
    Value *own = map_get(&grad->memories, memory);
    if (own || !memory->op || !op_aliased(memory->op)) return own;
    return part_adjoint(grad, memory);
}

/* ---- made, and zero ---- */

static void clear_elements(Grad *grad, Value *memory, int dim, ValueVec *operands)
{
    Builder *builder = &grad->builder;
    if (dim == memory->type->rank) {
        build_op(builder, OP_element_store, (int)operands->count, operands->data, 0, NULL);
        return;
    }
    Value *bounds[] = {build_const(builder, DTYPE_i32, 0),
                       build_const(builder, DTYPE_i32, memory->type->shape[dim]),
                       build_const(builder, DTYPE_i32, 1)};
    Op *loop = loop_build(builder, 3, bounds);
    const Builder outside = *builder;
    *builder = builder_at_end(loop->regions[0], outside.span);
    vec_push(grad->arena, operands, loop->regions[0]->arguments[0]);
    clear_elements(grad, memory, dim + 1, operands);
    build_op(builder, OP_yield, 0, NULL, 0, NULL);
    *builder = outside;
}

static void clear(Grad *grad, Value *memory)
{
    const Type *type = memory->type;
    const Type *scalar = type_scalar(grad->kernel->types, type->dtype);
    ValueVec operands = {0};
    if (type->kind == TYPE_SHARED) {
        const Type *tile =
            type_tile(grad->kernel->types, type->dtype, type->rank, type->shape, NULL);
        build2(&grad->builder, OP_shared_store, memory, number_of(grad, tile, 0));
        return;
    }
    vec_push(grad->arena, &operands, memory);
    vec_push(grad->arena, &operands, number_of(grad, scalar, 0));
    clear_elements(grad, memory, 0, &operands);
}

void memory_open(Grad *grad, const Region *region)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        if (op->code != OP_shared_alloc && op->code != OP_local_alloc) continue;
        if (!dtype_is_float(op->results->type->dtype)) continue;
        grad->builder.span = op->span;
        const Type *type = with_sums(grad, op->results->type);
        Value *memory = build_op(&grad->builder, op->code, 0, NULL, 1, &type)->results;
        clear(grad, memory);
        map_set(grad->arena, &grad->memories, op->results, memory);
    }
}
