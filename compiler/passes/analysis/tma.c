/* tma.c: which copies TMA can do (PTX ISA manual, "Tensors"; CUDA Driver API,
 * cuTensorMapEncodeTiled), and how. */
#include "passes/analysis/access.h"

#include "ir/mma.h"

int tensor_unit(DType dtype)
{
    enum { BYTE = 8 };
    const int bits = dtype_memory_bits(dtype);
    return bits < BYTE ? BYTE / bits : 1;
}

const Layout *tma_panels(LayoutTable *layouts, const Type *tile)
{
    int32_t shape[LAYOUT_RANK];
    for (int d = 0; d < tile->rank; d++) shape[d] = (int32_t)tile->shape[d];
    return layout_panels(layouts, tile->rank, shape, dtype_bits(tile->dtype));
}

const Layout *tma_rows(LayoutTable *layouts, const Type *tile)
{
    int32_t shape[LAYOUT_RANK];
    int order[LAYOUT_RANK];
    for (int d = 0; d < tile->rank; d++) {
        shape[d] = (int32_t)tile->shape[d];
        order[d] = tile->rank - 1 - d;
    }
    return layout_row_major(layouts, tile->rank, shape, order);
}

/* Why the host cannot describe the memory: NULL, or what is wrong. */
static const char *fault_of_pointer(FactTable *facts, const Access *access)
{
    const Parameter *parameter = pointer_parameter(access->op->parent->kernel, access->pointer);
    return !parameter                ? "its pointer is no parameter"
           : parameter->is_workspace ? "its memory is a workspace, whose place is found later"
           : facts_of(facts, access->pointer).multiple % TMA_UNIT_BYTES != 0
               ? "the address is not known to be a multiple of 16 bytes"
           : !value_is_on_host(access->pointer) ? "the address is not known before the launch"
                                                : NULL;
}

static const char *fault_of_strides(FactTable *facts, const Access *access, int contiguous)
{
    const int64_t bits = dtype_memory_bits(access->view->dtype);
    for (int d = 0; d < access->rank; d++) {
        if (!value_is_on_host(access->extents[d]) || !value_is_on_host(access->strides[d]))
            return "an extent or stride is not known before the launch";
        if (d != contiguous &&
            facts_of(facts, access->strides[d]).multiple % (TMA_UNIT_BYTES * 8 / bits))
            return "rows are not known to begin at multiples of 16 bytes";
    }
    return NULL;
}

/* Rows are whole units of the map, and boxes begin at one; coordinates are i32. */
static const char *fault_of_offsets(FactTable *facts, const Access *access, int contiguous)
{
    const int each = tensor_unit(access->view->dtype);
    if (facts_of(facts, access->extents[contiguous]).multiple % each != 0 ||
        facts_of(facts, access->offsets[contiguous]).multiple % each != 0)
        return "a row of packed numbers is not known to begin and end with a whole byte";
    for (int d = 0; d < access->rank; d++) {
        const Facts offset = facts_of(facts, access->offsets[d]);
        if (offset.low < INT32_MIN || offset.high > INT32_MAX)
            return "an offset is not known to fit 32 bits";
    }
    return NULL;
}

/* A view that the host knows before the launch, whose rows begin at multiples of 16 bytes. */
static const char *fault_of_memory(FactTable *facts, const Access *access, int contiguous)
{
    const char *fault = fault_of_pointer(facts, access);
    if (!fault) fault = fault_of_strides(facts, access, contiguous);
    return fault ? fault : fault_of_offsets(facts, access, contiguous);
}

/* A box that is stored may not begin before the tensor: that is an illegal instruction. */
static bool begins_inside(const Access *access)
{
    for (int d = 0; d < access->rank; d++)
        if (access->bounds[d] & BOUND_LOW) return false;
    return true;
}

/* The contiguous dimension comes first, then the others, the last one first. */
static void order_dims(TensorCopy *copy, int contiguous)
{
    int count = 0;
    copy->dim[count++] = contiguous;
    for (int d = copy->access.rank - 1; d >= 0; d--)
        if (d != contiguous) copy->dim[count++] = d;
    for (int i = 0; i < count; i++) {
        const int tile_dim = copy->access.tile_dim[copy->dim[i]];
        const int before_last = copy->access.tile->rank - 1 - tile_dim;
        copy->box[i] = tile_dim < 0 || before_last > 1 ? 1
                       : before_last                   ? copy->rows
                                                       : copy->columns;
    }
    copy->box[0] /= tensor_unit(copy->access.view->dtype);
}

bool tma_load_of(Op *copy, const Layout *layout, TensorCopy *out)
{
    *out = (TensorCopy){.access = access_of(copy)};
    const Access *access = &out->access;
    const int contiguous = access_contiguous(access), bits = dtype_bits(access->view->dtype),
              rank = access->tile->rank;
    if (access->rank > TENSOR_RANK || rank < 1 || contiguous < 0 ||
        access->tile_dim[contiguous] != rank - 1)
        return false;
    const LayoutBoxes boxes = layout_boxes(layout, bits);
    out->swizzle = boxes.swizzle;
    out->columns = boxes.columns;
    out->rows = type_box_rows(access->tile, op_int(copy, ATTR_slices, 1));
    order_dims(out, contiguous);
    return boxes.possible && out->rows > 0;
}

const char *tma_load_fault(FactTable *facts, Op *copy, const Layout *layout)
{
    TensorCopy how;
    if (!layout) return "its shared tile has not two dimensions, with rows of 32 bytes or more";
    if (!tma_load_of(copy, layout, &how))
        return "its tile does not go along the memory's contiguous dimension, or has no boxes";
    return fault_of_memory(facts, &how.access, how.dim[0]);
}

bool tma_load_fits(FactTable *facts, const TensorCopy *copy)
{
    return !fault_of_memory(facts, &copy->access, copy->dim[0]);
}

bool access_splits_lines(FactTable *facts, const Access *access)
{
    const int contiguous = access_contiguous(access);
    const int64_t elements = CACHE_LINE_BYTES * 8 / dtype_bits(access->view->dtype);
    for (int d = 0; d < access->rank; d++)
        if (d != contiguous && facts_of(facts, access->strides[d]).multiple % elements) return true;
    return false;
}

/* ---- stores ---- */

/* What a loop that begins with the value ends with, if nothing else comes of it; else NULL. */
static const Value *carried_on(const Op *loop, const Value *init);

/* What is computed of the value alone, or of it and others; NULL: nothing, or more than one. */
static const Value *made_of(const Value *value)
{
    if (value->use_count != 1) return NULL;
    const Op *op = value->uses->op;
    if (op->code == OP_for) return carried_on(op, value);
    const bool passes = op_has(op, PURE) || op->code == OP_dot_wait;
    return passes && op->result_count == 1 ? op->results : NULL;
}

static const Value *carried_on(const Op *loop, const Value *init)
{
    for (int i = 0; i < loop->result_count; i++) {
        if (operand_list(loop, init)[i] != init) continue;
        const Op *yield = loop->regions[0]->last;
        const Value *end = yield->operands[i], *at = loop->regions[0]->arguments[1 + i];
        while (at && at != end) at = made_of(at);
        return at && end->use_count == 1 ? &loop->results[i] : NULL;
    }
    return NULL;
}

static bool same_elements(const Op *load, const Op *store)
{
    const int first = operand_index(load, offsets), other = operand_index(store, offsets);
    return operand(load, view) == operand(store, view) &&
           op_same_operands(load, first, store, other) && load->parent == store->parent;
}

bool store_replaces(const Op *store, const Op *load)
{
    if (load->code != OP_load || !same_elements(load, store)) return false;
    const Value *value = load->results;
    while (value && value != operand(store, value)) value = made_of(value);
    return value && value->use_count == 1;
}

/* TMA is not ordered with what threads do: nothing else in the launch may touch what it
 * writes, nor another parameter that is the same memory. */
static bool is_alone(const Op *store)
{
    const Parameter *own =
        pointer_parameter(store->parent->kernel, operand(operand(store, view)->op, pointer));
    bool others = false, syncs = false;
    region_each (op, launch_region(op_enclosing(store, OP_launch))) {
        const Value *memory = op_memory(op);
        syncs |= op_has(op, BARRIER);
        if (op == store || !memory || memory->type->kind != TYPE_VIEW || store_replaces(store, op))
            continue;
        const Parameter *parameter =
            pointer_parameter(op->parent->kernel, operand(memory->op, pointer));
        if (!parameter || parameter == own) return false;
        /* a workspace is no other parameter's memory */
        others |= op->code != OP_copy && !(own && parameter->is_workspace);
    }
    return !(others && syncs);
}

/* Of rows of whole 32 bytes; 0: there are none. */
static int32_t store_columns(const Type *tile)
{
    enum { ROW_BITS = SWIZZLE_ROW_BYTES * 8, LEAST_BITS = ROW_BITS / 4 };
    const int bits = dtype_bits(tile->dtype);
    int32_t row = ROW_BITS;
    if (tile->rank != 2 || bits < 8) return 0;
    while (row >= LEAST_BITS && tile->shape[1] % (row / bits) != 0) row /= 2;
    return row >= LEAST_BITS ? row / bits : 0;
}

/* Elements of transposed sums, one by one. */
static bool is_turned(const Value *value)
{
    while (value->op && value->op->code != OP_transpose && op_has(value->op, PURE) &&
           value->op->operand_count == 1)
        value = *value->op->operands;
    return value->op && value->op->code == OP_transpose;
}

bool tma_store_part(const Op *store, int threads, int32_t part[2])
{
    const Type *tile = operand(store, value)->type;
    const int groups = threads / WARPGROUP_SIZE;
    const int32_t columns = store_columns(tile);
    if (!columns) return false;
    const int32_t all = (int32_t)tile->shape[0], rows = groups * WGMMA_ROWS;
    part[0] = rows && all % rows == 0 ? rows : all;
    part[1] = columns;
    if (groups < 2 || tile->shape[1] % rows != 0 || !is_turned(operand(store, value))) return true;
    part[0] = all & -all; /* a block of the panels' layout */
    part[1] = (int32_t)tile->shape[1];
    while (part[0] * part[1] > rows * columns) part[0] /= 2;
    return true;
}

/* Of the tile, which is written panel by panel. */
static const char *fault_of_panels(const Access *access, int contiguous)
{
    Op *store = access->op;
    LayoutTable *layouts = store->parent->kernel->layouts;
    int32_t shape[2];
    if (!tma_store_part(store, op_threads(store).count, shape))
        return "its tile has not two dimensions, with rows of whole 32 bytes";
    if (access->rank > TENSOR_RANK) return "its memory has more dimensions than a tensor map";
    if (contiguous < 0 || access->tile_dim[contiguous] != 1)
        return "its tile does not go along the memory's contiguous dimension";
    return shape[0] <= TENSOR_ROWS &&
                   layout_panels(layouts, 2, shape, dtype_bits(access->tile->dtype))
               ? NULL
               : "its tile has more rows than a box";
}

const char *tma_store_fault(FactTable *facts, Op *store)
{
    const Access access = access_of(store);
    const int contiguous = access_contiguous(&access);
    const char *fault = fault_of_panels(&access, contiguous);
    if (!fault) fault = fault_of_memory(facts, &access, contiguous);
    if (fault) return fault;
    if (!begins_inside(&access)) return "it is not known to begin inside of the memory";
    return is_alone(store) ? NULL
                           : "something else in the launch may use the memory that it writes";
}

bool tma_store_fits(FactTable *facts, Op *store)
{
    return !tma_store_fault(facts, store);
}
