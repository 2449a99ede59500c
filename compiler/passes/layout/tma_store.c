/* tma_store.c: a store by TMA: parts of its tile, some rows and columns each, go to
 * buffers in shared memory, one after the other, and from there on their own:
 *
 *     for each part: wait until its buffer has been read; the part to the buffer; begin to store it
 *
 * Where each warpgroup holds rows of its own it also stores them itself, and none waits for
 * another: one may do the next block's work while another still stores. The end of the threads'
 * work waits for what is still in flight; the next block's work does not. */
#include "passes/layout/layouts.h"

#include "ir/rebuild.h"

enum { ROWS, COLUMNS };

typedef struct Staged {
    Inference *inference;
    Op *store;
    Access access;
    const Layout *part; /* of the registers */
    int32_t shape[2];   /* of a part */
    int groups;         /* warpgroups that each hold rows of their own of a part; else 1 */
    int count;          /* of buffers */
    Value **buffers;
} Staged;

/* In front of the launch's loops, if the store is in one: who runs ahead in these must not write to
 * it. What is stored behind them may have the place of what they use. */
static Builder place_of_buffer(const Staged *staged)
{
    const bool in_loop = op_is_in_loop(staged->store);
    return builder_before(in_loop ? staged->inference->region->first : staged->store);
}

/* A tile of its own, so that nothing orders what is done with others. */
static Value *make_buffer(const Staged *staged)
{
    Kernel *kernel = staged->inference->kernel;
    const Type *tile = staged->access.tile;
    const int64_t shape[2] = {staged->shape[ROWS], staged->shape[COLUMNS]};
    const Layout *layout =
        layout_panels(kernel->layouts, 2, staged->shape, dtype_bits(tile->dtype));
    CHECK(layout);
    Builder builder = place_of_buffer(staged);
    const Type *type = type_shared(kernel->types, tile->dtype, 2, shape, layout);
    Op *alloc = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &type);
    op_set_int(alloc, ATTR_bytes, layout_size(layout) * dtype_bits(tile->dtype) / 8);
    op_set_int(alloc, ATTR_align, SWIZZLE_ATOM_BYTES);
    return &alloc->results[0];
}

/* How many warpgroups there are, if each holds the rows of a part that are its turn, and no others.
 */
static int groups_of(const Layout *part, int threads)
{
    const int groups = threads >> WARPGROUP_BITS;
    return groups >= 2 && part->shape[ROWS] / groups % 8 == 0 &&
                   layout_has_row_parts(part, threads, groups)
               ? groups
               : 1;
}

static Value *part_at(const Staged *staged, Builder *builder, const int64_t begins[2])
{
    const Type *tile = staged->access.tile;
    const int64_t shape[2] = {staged->shape[ROWS], staged->shape[COLUMNS]};
    const Type *type =
        type_tile(staged->inference->kernel->types, tile->dtype, 2, shape, staged->part);
    Value *value = operand(staged->store, value);
    Op *part = build_op(builder, OP_part, 1, &value, 1, &type);
    op_set_ints(part, ATTR_begins, 2, begins);
    return &part->results[0];
}

/* Of the threads that this is for, if it is for parts of them. */
static void set_groups(const Staged *staged, Op *op)
{
    if (staged->groups > 1) op_set_int(op, ATTR_slices, staged->groups);
}

static void begin_store(const Staged *staged, Builder *builder, Value *buffer,
                        const int64_t begins[2])
{
    const Op *store = staged->store;
    Value *operands[2 + TYPE_RANK] = {operand(store, view), buffer};
    for (int d = 0; d < staged->access.rank; d++) {
        Value *offset = staged->access.offsets[d];
        const int dim = staged->access.tile_dim[d];
        if (dim >= 0 && begins[dim])
            offset = build2(builder, OP_add, offset,
                            build_const(builder, offset->type->dtype, begins[dim]));
        operands[2 + d] = offset;
    }
    Op *moved = build_op(builder, OP_tma_store, store->operand_count, operands, 0, NULL);
    op_keep_attr(moved, store, ATTR_dims);
    op_keep_attr(moved, store, ATTR_mode);
    set_groups(staged, moved);
    build_op(builder, OP_tma_store_commit, 0, NULL, 0, NULL);
}

/* How many stores begin between one from this part's buffer and the next: before that was there a
 * part of this tile, or of the one before. */
static int stores_between(const Staged *staged, int part, int parts)
{
    if (part >= staged->count) return staged->count - 1;
    const int before = part + (parts - 1 - part) / staged->count * staged->count;
    return parts - 1 - before + part;
}

static void store_part(const Staged *staged, Builder *builder, int part, int parts)
{
    const int64_t across = staged->access.tile->shape[COLUMNS] / staged->shape[COLUMNS],
                  begins[2] = {part / across * staged->shape[ROWS],
                               part % across * staged->shape[COLUMNS]};
    Value *buffer = staged->buffers[part % staged->count];
    Op *wait = build_op(builder, OP_tma_store_wait, 1, &buffer, 0, NULL);
    op_set_int(wait, ATTR_count, stores_between(staged, part, parts));
    set_groups(staged, wait);
    Value *operands[2] = {buffer, part_at(staged, builder, begins)};
    Op *filled = build_op(builder, OP_shared_store, 2, operands, 0, NULL);
    op_set_int(filled, ATTR_tma, 1);
    set_groups(staged, filled);
    begin_store(staged, builder, buffer, begins);
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

/* A part has some columns, or some rows where warps share the columns. */
static bool find_part(Staged *staged, int threads)
{
    const Type *tile = staged->access.tile;
    int32_t part[2];
    if (!tma_store_part(staged->store, threads, part)) return false;
    const int64_t parts = tile->shape[ROWS] / part[ROWS] * tile->shape[COLUMNS] / part[COLUMNS];
    return cut(staged, part[ROWS], part[COLUMNS]) ||
           (tile->shape[ROWS] % parts == 0 &&
            cut(staged, tile->shape[ROWS] / parts, tile->shape[COLUMNS]));
}

/* As the verifier asks it of a tma_store. */
static bool is_along_rows(const Access *access)
{
    const int contiguous = access_contiguous(access);
    return access->rank <= TENSOR_RANK && contiguous >= 0 &&
           access->tile_dim[contiguous] == COLUMNS && op_is_on_host(operand(access->op, view)->op);
}

bool store_by_tma(Inference *inference, Op *store)
{
    Staged staged = {.inference = inference, .store = store, .access = access_of(store)};
    const Type *tile = staged.access.tile;
    const int threads = op_threads(store).count;
    if (!is_along_rows(&staged.access) || !find_part(&staged, threads)) return false;
    staged.groups = groups_of(staged.part, threads);
    const int parts = (int)(tile->shape[ROWS] / staged.shape[ROWS] * tile->shape[COLUMNS] /
                            staged.shape[COLUMNS]);
    staged.count = (int)op_int(store, ATTR_tma, 1);
    staged.buffers = arena_new_array(inference->arena, Value *, staged.count);
    for (int i = 0; i < staged.count; i++) staged.buffers[i] = make_buffer(&staged);
    Builder builder = builder_before(store), end = end_of_work(store);
    for (int part = 0; part < parts; part++) store_part(&staged, &builder, part, parts);
    op_set_int(build_op(&end, OP_tma_store_wait, 0, NULL, 0, NULL), ATTR_count, 0);
    op_erase(store);
    return true;
}
