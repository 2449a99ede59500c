/* mbarrier_copy.c: the author's own copies and stores by TMA, where it can do them. Of
 * copies that mbarriers wait for
 *
 *     copy_async view, tile, offsets; mbarrier_arrive_on_copies barriers, index
 *
 * becomes the first thread's expect of the bytes and its tma_load. Tiles that are copied to so
 * get a layout for that, unless they have one. */
#include "passes/layout/layouts.h"

static bool is_mark(const Op *op)
{
    return op->code == OP_mbarrier_arrive_on_copies && !op_int(op, ATTR_arrives, 0);
}

/* The copy that stands before its mark, but for scalar code; NULL: another one, too. */
static Op *copy_before(const Op *mark)
{
    Op *op = mark->previous;
    while (op && op_has(op, PURE)) op = op->previous;
    return op && op->code == OP_copy_async && !op_attr(op, ATTR_masked) ? op : NULL;
}

/* The tile that a copy goes to, whole or by its last dimensions, two or more. */
static Op *alloc_of(const Op *copy)
{
    const Value *tile = operand(copy, tile);
    if (tile->op->code == OP_shared_view) {
        const Attr *dims = op_attr(tile->op, ATTR_dims);
        const Type *whole = operand(tile->op, tile)->type;
        for (int i = 0; i < dims->count; i++)
            if (dims->integers[i] != whole->rank - dims->count + i) return NULL;
        tile = operand(tile->op, tile);
    }
    return tile->op->code == OP_shared_alloc ? tile->op : NULL;
}

/* A layout of a tile that TMA knows. */
typedef const Layout *Candidate(LayoutTable *layouts, const Type *tile);

typedef struct Writer {
    Kernel *kernel;
    const Parameter *parameter;
} Writer;

static bool is_writer(const Op *op, const void *context)
{
    const Writer *writer = context;
    const bool reads = !op_has(op, WRITES) || op_has(op, COPY);
    const Value *memory = op_memory(op);
    if (!memory || memory->type->kind != TYPE_VIEW || reads) return false;
    const Parameter *written = pointer_parameter(writer->kernel, operand(memory->op, pointer));
    return !written || written == writer->parameter;
}

/* What threads write in this launch TMA need not see. */
static bool is_only_read(const Inference *inference, const Op *copy)
{
    Writer writer = {.kernel = inference->kernel};
    writer.parameter =
        pointer_parameter(inference->kernel, operand(operand(copy, view)->op, pointer));
    return writer.parameter && !region_find(inference->region, is_writer, &writer);
}

static bool is_store(const Op *op)
{
    return op->code == OP_tma_store && op_int(op, ATTR_async, 0);
}

static bool is_possible(const Inference *inference, Op *copy, const Layout *layout)
{
    TensorCopy tensor;
    return (is_store(copy) || is_only_read(inference, copy)) &&
           target_has(inference->target, HAS_TMA) && layout && tma_load_of(copy, layout, &tensor) &&
           tma_load_fits(inference->facts, &tensor);
}

static bool lay_out_as(const Inference *inference, Candidate *candidate, Op *copy, Op *alloc,
                       int align)
{
    Value *tile = &alloc->results[0];
    LayoutTable *layouts = inference->kernel->layouts;
    const Layout *layout = candidate(layouts, tile->type);
    if (!layout || !is_possible(inference, copy, candidate(layouts, operand(copy, tile)->type)))
        return false;
    tile->type = type_with_layout(inference->kernel->types, tile->type, layout);
    op_set_int(alloc, ATTR_bytes, type_bytes(tile->type));
    op_set_int(alloc, ATTR_align, align);
    return true;
}

void lay_out_for_copies(Op *op, void *context)
{
    Inference *inference = context;
    Op *copy = is_mark(op)    ? copy_before(op)
               : is_store(op) ? op
                              : NULL,
       *alloc = copy ? alloc_of(copy) : NULL;
    const Type *part = copy ? operand(copy, tile)->type : NULL;
    if (!alloc || alloc->results[0].type->layout || part->rank < 2 || dtype_bits(part->dtype) < 8)
        return;
    if (!lay_out_as(inference, tma_panels, copy, alloc, SWIZZLE_ATOM_BYTES))
        lay_out_as(inference, tma_rows, copy, alloc, TMA_ALIGN);
}

static void build_expect(Builder *builder, const Op *mark, const Type *tile)
{
    const int64_t bytes = type_elements(tile) * dtype_bits(tile->dtype) / 8;
    Value *operands[3] = {operand(mark, barriers), operand(mark, index),
                          build_const(builder, DTYPE_i32, bytes)};
    op_set_int(build_op(builder, OP_mbarrier_expect_tx, 3, operands, 0, NULL), ATTR_once, 1);
}

static Op *build_copy(Builder *builder, const Op *copy, const Op *mark)
{
    Value *operands[5 + TYPE_RANK] = {operand(copy, view), operand(copy, tile),
                                      operand(mark, barriers), operand(mark, index)};
    Value *cast = operand_given(mark, mask);
    int count = 4;
    for (int i = operand_index(copy, offsets); i < copy->operand_count; i++)
        operands[count++] = copy->operands[i];
    if (cast) operands[count++] = cast;
    Op *moved = build_op(builder, OP_tma_load, count, operands, 0, NULL);
    op_keep_attr(moved, copy, ATTR_dims);
    op_keep_attr(moved, copy, ATTR_evict);
    if (cast) op_set_int(moved, ATTR_multicast, 1);
    return moved;
}

/* Counted copies that TMA cannot do. */
static void by_threads(Op *moved, const Op *copy)
{
    const Attr *bounds = op_attr(copy, ATTR_bounds);
    op_set_int(moved, ATTR_by_threads, 1);
    if (bounds) op_set_ints(moved, ATTR_bounds, bounds->count, bounds->integers);
}

/* TMA swizzles by the bits of the address: a tile whose layout was chosen for something else begins
 * where its pattern does, too. */
static void align_swizzled(const Value *tile)
{
    Op *alloc = tile->op;
    while (op_has(alloc, ALIAS)) alloc = op_aliased(alloc)->op;
    const LayoutBoxes boxes = layout_boxes(tile->type->layout, dtype_bits(tile->type->dtype));
    const int pattern = SWIZZLE_ROWS * boxes.swizzle;
    if (op_int(alloc, ATTR_align, TMA_ALIGN) < pattern) op_set_int(alloc, ATTR_align, pattern);
}

/* Boxes begin at multiples of 128 bytes; so do tiles. */
static bool can_move(const Inference *inference, Op *copy)
{
    const Value *tile = operand(copy, tile);
    const bool begins =
        tile->op->code == OP_shared_alloc ||
        (op_int(tile->op, ATTR_aligned, 0) && type_bytes(tile->type) % TMA_ALIGN == 0);
    return begins && is_possible(inference, copy, tile->type->layout);
}

static void refuse_cast(Inference *inference, const Op *op)
{
    diag_report(inference->kernel->session->diags, DIAG_no_cast, op->span);
    inference->failed = true;
}

static bool is_move(const Op *op)
{
    return op_has(op, TMA);
}

/* What was chosen for multi-buffers TMA can do; what a text says it may not. */
static void move_as_can_be(Inference *inference, Op *op)
{
    TensorCopy tensor;
    const bool possible = is_store(op)
                              ? can_move(inference, op)
                              : tma_load_of(op, operand(op, tile)->type->layout, &tensor) &&
                                    tma_load_fits(inference->facts, &tensor);
    if (possible)
        align_swizzled(operand(op, tile));
    else if (op_attr(op, ATTR_multicast))
        refuse_cast(inference, op);
    else
        op_set_int(op, ATTR_by_threads, 1);
}

void copy_for_mbarriers(Op *op, void *context)
{
    Inference *inference = context;
    Op *copy = is_mark(op) ? copy_before(op) : NULL;
    if (is_move(op)) move_as_can_be(inference, op);
    if (!copy) return;
    const bool cast = operand_given(op, mask) != NULL, counted = op_int(op, ATTR_counted, 0) != 0,
               possible = can_move(inference, copy);
    if (!possible && cast) refuse_cast(inference, op);
    if (!possible && (cast || !counted)) return;
    Builder builder = builder_before(op);
    if (!cast && !counted) build_expect(&builder, op, operand(copy, tile)->type);
    Op *moved = build_copy(&builder, copy, op);
    if (possible)
        align_swizzled(operand(copy, tile));
    else
        by_threads(moved, copy);
    op_erase(copy);
    op_erase(op);
}
