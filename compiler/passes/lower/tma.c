/* tma.c: copies by TMA: a tensor map, which becomes a parameter of the kernel
 * that the runtime makes as the host region says, and one thread's instructions, a box each. */
#include "passes/lower/lower.h"

#include <string.h>

/* ---- maps ---- */

static Value *wide_on_host(Builder *builder, Value *value, Map *copied)
{
    return build_cast(builder, DTYPE_i64, value_on_host(builder, value, copied));
}

/* One that describes the same view for boxes of the same shape. */
static Value *known_map(const Lower *lower, const TensorCopy *copy)
{
    for (size_t i = 0; i < lower->maps.count; i++) {
        const TensorCopy *known = &lower->maps.data[i].copy;
        if (operand(known->access.op, view) == operand(copy->access.op, view) &&
            known->swizzle == copy->swizzle &&
            !op_attr(known->access.op, ATTR_mode) == !op_attr(copy->access.op, ATTR_mode) &&
            memcmp(known->box, copy->box, sizeof copy->box) == 0)
            return lower->maps.data[i].map;
    }
    return NULL;
}

/* A number of elements as one of what the map counts. */
static Value *in_units(Builder *builder, Value *elements, DType dtype)
{
    const int unit = tensor_unit(dtype);
    if (unit == 1) return elements;
    return build2(builder, OP_div, elements, build_const(builder, elements->type->dtype, unit));
}

static Value *map_pointer(Builder *builder, const Access *access, Map *copied)
{
    Value *pointer = value_on_host(builder, access->pointer, copied);
    if (tensor_unit(access->view->dtype) == 1) return pointer;
    const Type *byte = type_pointer(builder->kernel->types, DTYPE_u8, pointer->type->space);
    return &build_op(builder, OP_ptr_cast, 1, &pointer, 1, &byte)->results[0];
}

static Value *make_map(Lower *lower, const TensorCopy *copy)
{
    Kernel *kernel = lower->kernel;
    Value *known = known_map(lower, copy);
    if (known) return known;
    const Access *access = &copy->access;
    Builder builder = builder_at_end(kernel->host, access->op->span);
    Map copied = {0};
    Value *operands[2 * TENSOR_RANK];
    int count = 0;
    const DType dtype = access->view->dtype;
    operands[count++] = map_pointer(&builder, access, &copied);
    for (int i = 0; i < access->rank; i++) {
        Value *extent = wide_on_host(&builder, access->extents[copy->dim[i]], &copied);
        operands[count++] = i ? extent : in_units(&builder, extent, dtype);
    }
    for (int i = 1; i < access->rank; i++)
        operands[count++] = in_units(
            &builder, wide_on_host(&builder, access->strides[copy->dim[i]], &copied), dtype);
    const int index = kernel_map_count(kernel);
    Value *map = kernel_add_map(
        kernel, intern_printf(kernel->session->names, "tensor_map_%d", index), access->op->span);
    Op *op = build_op(&builder, OP_tensor_map, count, operands, 0, NULL);
    op_set_int(op, ATTR_index, index);
    op_set_ints(op, ATTR_dims, access->rank, copy->box);
    op_set_int(op, ATTR_swizzle, copy->swizzle);
    op_keep_attr(op, access->op, ATTR_mode);
    const MadeMap made = {*copy, map};
    vec_push(lower->arena, &lower->maps, made);
    return map;
}

/* ---- boxes ---- */

typedef struct Boxes {
    TensorCopy copy;
    Value *map, *barrier; /* no barrier: they are written */
    Value *cast;          /* to which blocks; NULL: the own one */
    Value *active, *row;  /* the first row of the thread's part; NULL: there are no parts */
} Boxes;

/* The box that begins at this place of the tile. */
static void move_box(Lower *lower, const Boxes *boxes, const int32_t corner[LAYOUT_RANK])
{
    const TensorCopy *copy = &boxes->copy;
    const Access *access = &copy->access;
    const int row_dim = access->tile->rank - 2;
    Value *operands[5 + TENSOR_RANK], *start[LAYOUT_RANK] = {NULL};
    for (int d = 0; d < access->tile->rank; d++)
        start[d] = address_add_number(lower, d == row_dim ? boxes->row : NULL, corner[d]);
    int count = 0;
    operands[count++] = boxes->map;
    operands[count++] = shared_element(lower, operand(access->op, tile), start);
    if (boxes->barrier) operands[count++] = boxes->barrier;
    operands[count++] = boxes->active;
    for (int i = 0; i < access->rank; i++) {
        const int d = copy->dim[i], tile_dim = access->tile_dim[d];
        Value *at = address_cast(lower, DTYPE_i32, lower_scalar(lower, access->offsets[d]));
        if (tile_dim == row_dim && boxes->row) at = address_op(lower, OP_add, at, boxes->row);
        if (tile_dim >= 0) at = address_add_number(lower, at, corner[tile_dim]);
        if (!i) at = in_units(&lower->at, at, access->view->dtype);
        operands[count++] = at;
    }
    if (boxes->cast) operands[count++] = boxes->cast;
    Op *op = build_op(&lower->at, boxes->barrier ? OP_cp_bulk_tensor : OP_st_bulk_tensor, count,
                      operands, 0, NULL);
    if (boxes->cast) op_set_int(op, ATTR_multicast, 1);
    op_keep_attr(op, access->op, ATTR_evict);
    op_keep_attr(op, access->op, ATTR_mode);
    const int64_t bits = (int64_t)copy->rows * copy->columns * dtype_bits(access->view->dtype);
    if (boxes->barrier) op_set_int(op, ATTR_bytes, bits / 8);
}

/* From a dimension on: box by box along the last two, element by element along those before. */
static void move_along(Lower *lower, const Boxes *boxes, int dim, int32_t corner[LAYOUT_RANK])
{
    const TensorCopy *copy = &boxes->copy;
    const Type *tile = copy->access.tile;
    if (dim == tile->rank) {
        move_box(lower, boxes, corner);
        return;
    }
    const bool row = dim == tile->rank - 2;
    const int32_t step = dim == tile->rank - 1 ? copy->columns : row ? copy->rows : 1;
    const int64_t parts = row ? op_int(copy->access.op, ATTR_slices, 1) : 1;
    for (corner[dim] = 0; corner[dim] < tile->shape[dim] / parts; corner[dim] += step)
        move_along(lower, boxes, dim + 1, corner);
}

static void move_boxes(Lower *lower, Op *op, Value *barrier)
{
    const int parts = (int)op_int(op, ATTR_slices, 1);
    Boxes boxes = {.barrier = barrier, .active = address_first_of_part(lower, parts)};
    CHECK(tma_load_of(op, operand(op, tile)->type->layout, &boxes.copy));
    const Type *tile = boxes.copy.access.tile;
    if (tile->rank > 1)
        boxes.row = address_part(lower, parts, (int32_t)tile->shape[tile->rank - 2] / parts);
    if (op_attr(op, ATTR_multicast))
        boxes.cast = lower_scalar(lower, op->operands[op->operand_count - 1]);
    boxes.map = make_map(lower, &boxes.copy);
    move_along(lower, &boxes, 0, (int32_t[LAYOUT_RANK]){0});
}

void lower_tma_load(Lower *lower, Op *op)
{
    if (op_attr(op, ATTR_by_threads))
        copy_by_threads(lower, op);
    else
        move_boxes(lower, op, stage_filled(lower, operand(op, barriers), operand(op, stage)));
}

void lower_tma_store(Lower *lower, Op *op)
{
    if (op_attr(op, ATTR_by_threads))
        copy_by_threads(lower, op);
    else
        move_boxes(lower, op, NULL);
}

void lower_tma_store_commit(Lower *lower, Op *op)
{
    (void)op;
    if (target_has(lower->target, HAS_TMA))
        build_op(&lower->at, OP_tma_store_commit, 0, NULL, 0, NULL);
}

void lower_tma_store_wait(Lower *lower, Op *op)
{
    if (!target_has(lower->target, HAS_TMA)) return;
    Op *wait = build_op(&lower->at, OP_tma_store_wait, 0, NULL, 0, NULL);
    op_set_int(wait, ATTR_count, op_int(op, ATTR_count, 0));
    if (op_attr(op, ATTR_written)) op_set_int(wait, ATTR_written, 1);
}

void lower_barrier(Lower *lower, Op *op)
{
    Value *part = address_part(lower, (int)op_int(op, ATTR_slices, 1), 1);
    Op *barrier = build_op(&lower->at, OP_barrier, part ? 1 : 0, &part, 0, NULL);
    op_keep_attrs(barrier, op);
}
