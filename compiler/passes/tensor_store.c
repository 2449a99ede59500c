/* tensor_store.c: a store by the tensor unit: parts of its tile go to buffers in shared memory, and
 * from there on their own. A part has some columns, or some rows where warps share the columns. As
 * many at a time as there are buffers:
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
    int32_t shape[2];   /* of a part */
    int count;          /* of buffers */
    Value **buffers;
} Staged;

/* A tile of its own, so that nothing orders what is done with others. */
static Value *make_buffer(const Staged *staged)
{
    enum { ALIGN = 1024 };
    Kernel *kernel = staged->inference->kernel;
    const Type *tile = staged->access.tile;
    const int64_t shape[2] = {staged->shape[ROWS], staged->shape[COLUMNS]};
    const Layout *layout =
        layout_panels(kernel->layouts, 2, staged->shape, dtype_bits(tile->dtype));
    CHECK(layout);
    Builder builder = builder_before(staged->inference->region->first);
    const Type *type = type_shared(kernel->types, tile->dtype, 2, shape, layout);
    Op *alloc = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &type);
    op_set_int(alloc, ATTR_bytes, layout_size(layout) * dtype_bits(tile->dtype) / 8);
    op_set_int(alloc, ATTR_align, ALIGN);
    return &alloc->results[0];
}

/* Where a part begins: they follow each other along one dimension. */
static void find_begin(const Staged *staged, int index, int64_t begins[2])
{
    const bool by_rows = staged->shape[COLUMNS] == staged->access.tile->shape[COLUMNS];
    begins[ROWS] = by_rows ? (int64_t)index * staged->shape[ROWS] : 0;
    begins[COLUMNS] = by_rows ? 0 : (int64_t)index * staged->shape[COLUMNS];
}

static Value *part_at(const Staged *staged, Builder *builder, int index)
{
    const Type *tile = staged->access.tile;
    const int64_t shape[2] = {staged->shape[ROWS], staged->shape[COLUMNS]};
    int64_t begins[2];
    find_begin(staged, index, begins);
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

static void store_part(const Staged *staged, Builder *builder, Value *buffer, int index)
{
    const Op *store = staged->store;
    Value *operands[2 + TYPE_RANK] = {store->operands[0], buffer};
    int64_t begins[2];
    find_begin(staged, index, begins);
    for (int d = 0; d < staged->access.rank; d++) {
        Value *offset = staged->access.offsets[d];
        const int tile_dim = staged->access.tile_dim[d];
        const int64_t begin = tile_dim < 0 ? 0 : begins[tile_dim];
        if (begin)
            offset =
                build2(builder, OP_add, offset, build_const(builder, offset->type->dtype, begin));
        operands[2 + d] = offset;
    }
    Op *moved = build_op(builder, OP_tensor_store, store->operand_count, operands, 0, NULL);
    const Attr *dims = op_attr(store, ATTR_dims);
    if (dims) op_set_ints(moved, ATTR_dims, dims->count, dims->integers);
}

/* As many parts as there are buffers, from one on. */
static void store_parts(const Staged *staged, Builder *builder, int first, int all)
{
    const int count = all - first < staged->count ? all - first : staged->count;
    wait_for(builder, 0);
    for (int i = 0; i < count; i++)
        build2(builder, OP_shared_store, staged->buffers[i], part_at(staged, builder, first + i));
    for (int i = 0; i < count; i++) store_part(staged, builder, staged->buffers[i], first + i);
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

static bool cut(Staged *staged, int64_t rows, int64_t columns)
{
    LayoutTable *layouts = staged->inference->kernel->layouts;
    const Type *tile = staged->access.tile;
    staged->shape[ROWS] = (int32_t)rows;
    staged->shape[COLUMNS] = (int32_t)columns;
    staged->part = layout_part(layouts, tile->layout, staged->shape);
    return staged->part && layout_panels(layouts, 2, staged->shape, dtype_bits(tile->dtype));
}

bool store_by_tensor(Inference *inference, Op *store)
{
    Staged staged = {.inference = inference, .store = store, .access = access_of(store)};
    const int64_t *shape = staged.access.tile->shape;
    const int32_t columns = tensor_store_columns(staged.access.tile);
    const int parts = (int)(shape[COLUMNS] / columns);
    if (!cut(&staged, shape[ROWS], columns) &&
        (shape[ROWS] % parts != 0 || !cut(&staged, shape[ROWS] / parts, shape[COLUMNS])))
        return false;
    staged.count = (int)op_int(store, ATTR_tensor, 1);
    staged.buffers = arena_new_array(inference->arena, Value *, staged.count);
    for (int i = 0; i < staged.count; i++) staged.buffers[i] = make_buffer(&staged);
    Builder builder = builder_before(store), end = end_of_work(store);
    for (int first = 0; first < parts; first += staged.count)
        store_parts(&staged, &builder, first, parts);
    wait_for(&end, 0);
    op_erase(store);
    return true;
}
