/* tensor_store.c: a store by the tensor unit: parts of its tile, some columns each, go to buffers
 * in shared memory, and from there on their own. As many at a time as there are buffers:
 *
 *     wait until the buffers have been read; parts to the buffers; begin to store from there
 *
 * The end of the threads' work waits for what is still under way; the next block's work does not.
 */
#include "passes/layouts.h"

#include "passes/group.h"
#include "passes/rebuild.h"

enum { ROWS, COLUMNS };

typedef struct Staged {
    Inference *inference;
    Op *store;
    Access access;
    const Layout *part; /* of the registers */
    int32_t columns;    /* a part */
    int count;          /* of buffers */
    Value **buffers;
} Staged;

/* A tile of its own, so that nothing orders what is done with others. */
static Value *make_buffer(const Staged *staged)
{
    enum { ALIGN = 1024 };
    Kernel *kernel = staged->inference->kernel;
    const Type *tile = staged->access.tile;
    const int64_t shape[2] = {tile->shape[ROWS], staged->columns};
    const int32_t extents[2] = {(int32_t)shape[ROWS], staged->columns};
    const Layout *layout = layout_panels(kernel->layouts, 2, extents, dtype_bits(tile->dtype));
    CHECK(layout);
    Builder builder = builder_before(staged->inference->region->first);
    const Type *type = type_shared(kernel->types, tile->dtype, 2, shape, layout);
    Op *alloc = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &type);
    op_set_int(alloc, ATTR_bytes, layout_size(layout) * dtype_bits(tile->dtype) / 8);
    op_set_int(alloc, ATTR_align, ALIGN);
    return &alloc->results[0];
}

static Value *part_at(const Staged *staged, Builder *builder, int32_t column)
{
    const Type *tile = staged->access.tile;
    const int64_t shape[2] = {tile->shape[ROWS], staged->columns}, begins[2] = {0, column};
    const Type *type =
        type_tile(staged->inference->kernel->types, tile->dtype, 2, shape, staged->part);
    Op *part = build_op(builder, OP_part, 1, &staged->store->operands[1], 1, &type);
    op_set_ints(part, ATTR_begins, 2, begins);
    return &part->results[0];
}

static void wait_for(Builder *builder, int count)
{
    op_set_int(build_op(builder, OP_tensor_wait, 0, NULL, 0, NULL), ATTR_count, count);
}

static void store_part(const Staged *staged, Builder *builder, Value *buffer, int32_t column)
{
    const Op *store = staged->store;
    const int contiguous = access_contiguous(&staged->access);
    Value *operands[2 + TYPE_RANK] = {store->operands[0], buffer};
    for (int d = 0; d < staged->access.rank; d++) {
        Value *offset = staged->access.offsets[d];
        if (d == contiguous && column)
            offset =
                build2(builder, OP_add, offset, build_const(builder, offset->type->dtype, column));
        operands[2 + d] = offset;
    }
    Op *moved = build_op(builder, OP_tensor_store, store->operand_count, operands, 0, NULL);
    const Attr *dims = op_attr(store, ATTR_dims);
    if (dims) op_set_ints(moved, ATTR_dims, dims->count, dims->integers);
}

/* As many parts as there are buffers, from a column on. */
static void store_parts(const Staged *staged, Builder *builder, int32_t first)
{
    const int64_t left = (staged->access.tile->shape[COLUMNS] - first) / staged->columns;
    const int count = left < staged->count ? (int)left : staged->count;
    wait_for(builder, 0);
    for (int i = 0; i < count; i++)
        build2(builder, OP_shared_store, staged->buffers[i],
               part_at(staged, builder, first + i * staged->columns));
    for (int i = 0; i < count; i++)
        store_part(staged, builder, staged->buffers[i], first + i * staged->columns);
    build_op(builder, OP_tensor_commit, 0, NULL, 0, NULL);
}

/* What the threads at hand do last in the launch. */
static Builder end_of_work(const Op *store)
{
    Region *region = store->parent;
    while (region->parent->code != OP_launch && !is_group(region->parent))
        region = region->parent->parent;
    Op *last = region_terminator(region);
    return last ? builder_before(last) : builder_at_end(region, store->span);
}

bool store_by_tensor(Inference *inference, Op *store)
{
    Staged staged = {.inference = inference, .store = store, .access = access_of(store)};
    const Type *tile = staged.access.tile;
    staged.columns = tensor_store_columns(tile);
    const int32_t shape[2] = {(int32_t)tile->shape[ROWS], staged.columns};
    staged.part = layout_part(inference->kernel->layouts, tile->layout, shape);
    if (!staged.part) return false;
    staged.count = (int)op_int(store, ATTR_tensor, 1);
    staged.buffers = arena_new_array(inference->arena, Value *, staged.count);
    for (int i = 0; i < staged.count; i++) staged.buffers[i] = make_buffer(&staged);
    Builder builder = builder_before(store), end = end_of_work(store);
    for (int32_t column = 0; column < tile->shape[COLUMNS]; column += staged.columns * staged.count)
        store_parts(&staged, &builder, column);
    wait_for(&end, 0);
    op_erase(store);
    return true;
}
