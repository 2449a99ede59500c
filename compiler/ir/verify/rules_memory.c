/* rules_memory.c: the rules of tiles and of memory: views, shared tiles, elements. */
#include "ir/group.h"
#include "ir/verify/rules.h"

/* ---- tiles ---- */

bool rule_same_dtype(const Check *check)
{
    return require(check, result_type(check)->dtype == operand_type_at(check, 0)->dtype,
                   "the element type changes");
}

bool rule_part(const Check *check)
{
    const Type *from = operand_type(check, a), *to = result_type(check);
    const Attr *begins = op_attr(check->op, ATTR_begins);
    bool fine = begins != NULL && begins->count == from->rank && to->rank == from->rank;
    for (int d = 0; fine && d < from->rank; d++)
        fine = begins->integers[d] >= 0 && begins->integers[d] <= from->shape[d] - to->shape[d];
    return require(check, fine, "it is no part of the tile") && rule_same_dtype(check);
}

bool rule_iota(const Check *check)
{
    return rule_i32(check) &&
           require(check, in_range(check->op, ATTR_dim, 0, (int64_t)result_type(check)->rank - 1),
                   "{dim} is a dimension of the tile");
}

bool rule_broadcast(const Check *check)
{
    const Type *from = operand_type(check, a), *to = result_type(check);
    if (from->rank != to->rank) return broken(check, "the rank changes");
    for (int i = 0; i < to->rank; i++)
        if (from->shape[i] != to->shape[i] && from->shape[i] != 1)
            return broken(check, "an extent that is not 1 changes");
    return rule_same_dtype(check);
}

bool rule_reshape(const Check *check)
{
    return rule_same_dtype(check) &&
           require(check,
                   type_elements(operand_type(check, a)) == type_elements(result_type(check)),
                   "the number of elements changes");
}

/* {dims} names `rank` different dimensions of 0 to limit - 1. */
static bool are_dimensions(const Attr *dims, int rank, int limit)
{
    unsigned seen = 0;
    if (dims == NULL || dims->count != rank) return false;
    for (int i = 0; i < rank; i++) {
        if (dims->integers[i] < 0 || dims->integers[i] >= limit || seen & 1u << dims->integers[i])
            return false;
        seen |= 1u << dims->integers[i];
    }
    return true;
}

bool rule_transpose(const Check *check)
{
    const Type *from = operand_type(check, a), *to = result_type(check);
    const Attr *dims = op_attr(check->op, ATTR_dims);
    if (from->rank != to->rank || !are_dimensions(dims, to->rank, to->rank))
        return broken(check, "{dims} is no permutation of the dimensions");
    for (int i = 0; i < to->rank; i++)
        if (to->shape[i] != from->shape[dims->integers[i]])
            return broken(check, "the result's shape is not the transposed one");
    return rule_same_dtype(check);
}

bool rule_convert(const Check *check)
{
    return rule_same_dtype(check) &&
           require(check, type_same_shape(operand_type(check, a), result_type(check)),
                   "the shape changes");
}

#define COMBINATIONS "add mul max min and or xor"

static bool check_combination(const Check *check, const Type *tile)
{
    const bool number = is_one_of(check->op, ATTR_mode, "add mul max min"),
               bits = is_one_of(check->op, ATTR_mode, "and or xor");
    return require(check, number || bits, "{mode} is one of " COMBINATIONS) &&
           require(check, number ? tile->dtype != DTYPE_b1 : !dtype_is_float(tile->dtype),
                   "{mode} does not go with the element type");
}

bool rule_reduce(const Check *check)
{
    const Type *from = operand_type(check, a), *to = result_type(check);
    const Attr *dims = op_attr(check->op, ATTR_dims);
    if (from->rank != to->rank || dims == NULL || !are_dimensions(dims, dims->count, to->rank))
        return broken(check, "{dims} does not name dimensions of the tile");
    bool fine = true;
    for (int d = 0; d < to->rank; d++) {
        bool reduced = false;
        for (int i = 0; i < dims->count; i++) reduced |= dims->integers[i] == d;
        fine &= reduced ? to->shape[d] == 1 || check->kernel->stage >= STAGE_LAID_OUT
                        : to->shape[d] == from->shape[d];
    }
    return require(check, fine, "extents of {dims} become 1 and the others stay") &&
           rule_same_dtype(check) && check_combination(check, from);
}

bool rule_scan(const Check *check)
{
    const Type *tile = operand_type(check, a);
    return require(check, in_range(check->op, ATTR_dim, 0, (int64_t)tile->rank - 1),
                   "{dim} is a dimension of the tile") &&
           require(check, type_same_shape(tile, result_type(check)), "the shape changes") &&
           rule_same_dtype(check) &&
           require(check, agree(check, tile, result_type(check)), "the layout changes") &&
           check_combination(check, tile);
}

bool rule_item(const Check *check)
{
    return require(check, type_elements(operand_type(check, a)) == 1,
                   "the tile has more than one element") &&
           rule_same_dtype(check);
}

/* ---- memory ---- */

bool rule_view(const Check *check)
{
    const Type *view = result_type(check);
    if (check->op->operand_count != 1 + 2 * view->rank)
        return broken(check, "a view has an extent and a stride for each dimension");
    for (int i = 0; i < 2 * view->rank; i++) {
        int64_t said = i < view->rank ? view->shape[i] : view->strides[i - view->rank];
        DType dtype = operand_list(check->op, extents)[i]->type->dtype;
        if (dtype != DTYPE_i32 && dtype != DTYPE_i64)
            return broken(check, "extents and strides are i32 or i64");
        if (said != TYPE_DYNAMIC && !value_is_constant(operand_list(check->op, extents)[i], said))
            return broken(check, "an extent or stride is not what the view's type says");
    }
    const bool filled = op_attr(check->op, ATTR_value) || op_attr(check->op, ATTR_number);
    return require(check, operand_type(check, pointer)->space == SPACE_GLOBAL,
                   "a view is of global memory") &&
           rule_same_dtype(check) && (!filled || rule_const(check));
}

static bool check_access(const Check *check, const Type *tile)
{
    const Op *op = check->op;
    const int first_offset = operand_index(op, offsets);
    const Type *view = operand_type(check, view);
    const Attr *dims = op_attr(op, ATTR_dims), *bounds = op_attr(op, ATTR_bounds);
    const bool masked = op_attr(op, ATTR_masked), cast = op_attr(op, ATTR_multicast);
    const int offsets = op->operand_count - first_offset - masked - cast;
    if (offsets != view->rank)
        return broken(check, "the view has not as many dimensions as there are offsets");
    for (int i = first_offset; i < first_offset + offsets; i++)
        if (!dtype_is_integer(operand_type_at(check, i)->dtype))
            return broken(check, "offsets are integers");
    const DType last = operand_type_at(check, op->operand_count - 1)->dtype;
    if (masked && last != DTYPE_b1)
        return broken(check, "what a {masked} copy depends on is a boolean");
    if (cast && last != DTYPE_i32)
        return broken(check, "the blocks of a {multicast} copy are an i32");
    if (tile->rank > view->rank) return broken(check, "the tile has more dimensions than the view");
    if (dims != NULL && !are_dimensions(dims, tile->rank, view->rank))
        return broken(check, "{dims} does not name a dimension of the view for each of the tile");
    if (bounds != NULL && bounds->count != view->rank)
        return broken(check, "{bounds} has not one entry for each dimension of the view");
    for (int i = 0; bounds != NULL && i < bounds->count; i++)
        if (bounds->integers[i] < 0 || bounds->integers[i] > 3)
            return broken(check, "{bounds} has entries from 0 to 3");
    return evict_is_known(check) &&
           require(check, tile->dtype == view->dtype, "tile and view differ in element type");
}

bool rule_load(const Check *check)
{
    return check_access(check, result_type(check));
}

/* Floats that the machine adds where they are. */
static bool has_sum(DType dtype)
{
    return dtype == DTYPE_f16 || dtype == DTYPE_bf16 || dtype == DTYPE_f32;
}

/* Of what may be added to memory as a whole. */
static bool adds_or_writes(const Check *check)
{
    return require(check,
                   !op_attr(check->op, ATTR_mode) || (is_one_of(check->op, ATTR_mode, "add") &&
                                                      has_sum(operand_type_at(check, 0)->dtype)),
                   "{mode} is add, of f16, bf16 or f32");
}

bool rule_store(const Check *check)
{
    enum { MOST_BUFFERS = 16 };
    return check_access(check, operand_type(check, value)) && adds_or_writes(check) &&
           require(check,
                   !op_attr(check->op, ATTR_tma) || in_range(check->op, ATTR_tma, 1, MOST_BUFFERS),
                   "{tma} is no number of buffers");
}

/* What the machine updates at once; atomics of other element types are loops of it. */
static bool has_atomic(const Check *check, DType dtype)
{
    const int bits = dtype_bits(dtype);
    if (is_one_of(check->op, ATTR_mode, "add") && has_sum(dtype)) return true;
    if (is_one_of(check->op, ATTR_mode, "and or xor") && !dtype_is_integer(dtype)) return false;
    if (check->op->code != OP_atom) return bits >= 16 && dtype != DTYPE_tf32;
    if (is_one_of(check->op, ATTR_mode, "cas ld")) return bits >= 16;
    return bits >= 32 && (dtype_is_integer(dtype) || !is_one_of(check->op, ATTR_mode, "min max"));
}

static bool check_order(const Check *check, const char *orders, const char *otherwise)
{
    return require(check, is_one_of(check->op, ATTR_order, orders), otherwise) &&
           require(check, is_one_of(check->op, ATTR_scope, "cta gpu sys"),
                   "{scope} is cta, gpu or sys");
}

static bool check_atomic_words(const Check *check)
{
    const bool reads = check->op->code == OP_atom && is_one_of(check->op, ATTR_mode, "ld");
    return require(check,
                   reads || is_one_of(check->op, ATTR_mode, "add min max and or xor exch cas"),
                   "{mode} is add, min, max, and, or, xor, exch or cas") &&
           check_order(check, "relaxed acquire release acq_rel seq_cst",
                       "{order} is relaxed, acquire, release, acq_rel or seq_cst") &&
           require(check, has_atomic(check, operand_type(check, value)->dtype),
                   "there is no such atomic of this element type");
}

/* From operand `first` on come one index a dimension of it and, if {masked}, a
 * mask: scalars, or tiles like `value`. */
static bool check_indices(const Check *check, const Type *value, int first)
{
    const Op *op = check->op;
    const Type *memory = operand_type(check, memory);
    const int masked = op_int(op, ATTR_masked, 0) != 0;
    if (memory->kind != TYPE_VIEW && memory->kind != TYPE_SHARED)
        return broken(check, "the memory is a view or a shared tile");
    if (op->operand_count != first + memory->rank + masked)
        return broken(check, "there is not one index for each dimension of the memory");
    for (int i = 1; i < op->operand_count; i++) {
        const Type *tile = operand_type_at(check, i);
        if (!type_is_tile(tile)) continue;
        if (!type_same_shape(tile, value)) return broken(check, "the tiles differ in shape");
        if (check->kernel->stage >= STAGE_LAID_OUT && tile->layout != value->layout)
            return broken(check, "the tiles differ in layout");
    }
    for (int i = first; i < first + memory->rank; i++)
        if (!dtype_is_integer(operand_type_at(check, i)->dtype))
            return broken(check, "the indices are integers");
    const Type *mask = masked ? operand_type_at(check, op->operand_count - 1) : NULL;
    return require(check, mask == NULL || (type_is_tile(mask) && mask->dtype == DTYPE_b1),
                   "the mask is a boolean tile") &&
           require(check, memory->dtype == value->dtype, "memory and value differ in element type");
}

bool rule_gather(const Check *check)
{
    return check_indices(check, result_type(check), operand_index(check->op, indices));
}

bool rule_put(const Check *check)
{
    return check_indices(check, operand_type(check, value), operand_index(check->op, indices));
}

bool rule_atomic(const Check *check)
{
    const Type *value = operand_type(check, value);
    const int compares = is_one_of(check->op, ATTR_mode, "cas");
    return check_indices(check, value, operand_index(check->op, more) + compares) &&
           check_atomic_words(check) &&
           require(check, !compares || agree(check, operand_type(check, more), value),
                   "the comparand has the value's type") &&
           require(check, agree(check, result_type(check), value),
                   "the result has the value's type");
}

bool rule_atom(const Check *check)
{
    const Type *value = operand_type(check, value);
    return require(check, value->dtype == operand_type(check, pointer)->dtype,
                   "the pointer is to another element type") &&
           require(check, value == operand_type(check, compare) && value == result_type(check),
                   "value, comparand and result differ in type") &&
           check_atomic_words(check);
}

bool rule_red(const Check *check)
{
    const Type *value = operand_type(check, value);
    return require(check, value->dtype == operand_type(check, pointer)->dtype,
                   "the pointer is to another element type") &&
           require(check, has_sum(value->dtype), "there is no such sum of this element type") &&
           require(check, type_elements(value) * dtype_bytes(value->dtype) <= 16,
                   "no more than 16 bytes are added to at once") &&
           check_order(check, "relaxed release", "{order} is relaxed or release");
}

/* Not in another block of the cluster. */
static bool is_of_block(const Value *tile)
{
    for (; tile != NULL && tile->op != NULL; tile = operand_given(tile->op, tile))
        if (tile->op->code == OP_shared_peer) return false;
    return true;
}

bool rule_copy(const Check *check)
{
    return check_access(check, operand_type(check, tile)) &&
           require(check, operand_type(check, tile)->kind == TYPE_SHARED,
                   "it goes to a shared tile") &&
           require(check, is_of_block(operand(check->op, tile)),
                   "it goes to the block's own shared memory");
}

/* Which dimension of the tile spans that one of the view; -1: none. */
static int tile_dim(const Op *op, int dim)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    const int rank = operand(op, tile)->type->rank;
    if (!dims) return dim + rank - operand(op, view)->type->rank;
    for (int i = 0; i < rank; i++)
        if (dims->integers[i] == dim) return i;
    return -1;
}

/* The tile's last dimension is one along which the view's elements lie side by side: of several the
 * view's last. */
static bool is_along_rows(const Op *op)
{
    const Op *view = operand(op, view)->op;
    const Type *tile = operand(op, tile)->type;
    const int rank = operand(op, view)->type->rank;
    for (int d = rank - 1; view && view->code == OP_view && d >= 0; d--) {
        const int dim = tile_dim(op, d);
        if (dim >= 0 && tile->shape[dim] > 1 &&
            value_is_constant(operand_list(view, extents)[rank + d], 1))
            return dim == tile->rank - 1;
    }
    return false;
}

/* {slices}: whole warps, each with rows of its own. */
static bool check_row_parts(const Check *check, const Layout *layout)
{
    const Op *op = check->op;
    const int64_t parts = op_int(op, ATTR_slices, 1);
    const int threads = op_threads(op).count;
    if (!op_attr(op, ATTR_slices)) return true;
    return require(check,
                   parts_are_bits(op) && bits_is_power(threads) && threads >= 32 * parts &&
                       !op_attr(op, ATTR_by_threads) && check->kernel->stage >= STAGE_LAID_OUT,
                   "{slices} are 2, 4 or 8 of whole warps each, once tiles are laid out") &&
           require(check, !layout || layout_has_row_parts(layout, threads, (int)parts),
                   "{slices} have no rows of their own each");
}

/* TMA swizzles by the bits of the address. */
static bool begins_with_swizzle(const Check *check, int bytes)
{
    enum { ROWS = 8 };
    const Op *alloc = operand(check->op, tile)->op;
    while (op_has(alloc, ALIAS)) alloc = op_aliased(alloc)->op;
    return op_int(alloc, ATTR_offset, 0) % ((int64_t)ROWS * bytes) == 0;
}

/* What TMA moves lies in boxes. */
static bool check_boxes(const Check *check)
{
    const Op *op = check->op;
    const Type *view = operand_type(check, view), *tile = operand_type(check, tile);
    if (check->kernel->stage < STAGE_LAID_OUT || op_attr(op, ATTR_by_threads)) return true;
    const LayoutBoxes boxes = layout_boxes(tile->layout, dtype_bits(tile->dtype));
    return require(check, view->rank <= TENSOR_RANK && tile->rank >= 1 && is_along_rows(op),
                   "the tile's rows are none of the view's") &&
           require(check, op_is_on_host(operand(op, view)->op), /* it makes the tensor map */
                   "the host does not know where the view is") &&
           require(check, boxes.possible, "the tile does not lie in boxes") &&
           require(check, begins_with_swizzle(check, boxes.swizzle),
                   "the tile does not begin where its swizzle does") &&
           require(check, type_box_rows(tile, op_int(op, ATTR_slices, 1)) > 0,
                   "{slices} do not divide the rows");
}

bool rule_tma_store(const Check *check)
{
    return rule_copy(check) && check_row_parts(check, NULL) && check_boxes(check) &&
           adds_or_writes(check) &&
           require(check, !op_attr(check->op, ATTR_mode) || !op_attr(check->op, ATTR_by_threads),
                   "threads do not add tiles in TMA's place");
}

bool rule_tma_store_wait(const Check *check)
{
    return check_row_parts(check, NULL);
}

bool rule_tma_load(const Check *check)
{
    const Type *barriers = operand_type(check, barriers);
    return check_access(check, operand_type(check, tile)) &&
           require(check,
                   barriers->dtype == DTYPE_i64 && (barriers->rank == 2 || barriers->rank == 1),
                   "the barriers are those of a multi-buffer, or the author's") &&
           require(check,
                   is_of_block(operand(check->op, tile)) &&
                       is_of_block(operand(check->op, barriers)),
                   "tile and barriers are in the block's own shared memory") &&
           require(check, operand_type(check, stage)->dtype == DTYPE_i32, "the stage is an i32") &&
           check_boxes(check);
}

bool rule_cp_async(const Check *check)
{
    const int64_t bytes = op_int(check->op, ATTR_bytes, 0);
    return evict_is_known(check) &&
           require(check, bytes == 4 || bytes == 8 || bytes == 16, "{bytes} is 4, 8 or 16") &&
           require(check,
                   operand_type(check, shared)->space == SPACE_SHARED &&
                       operand_type(check, global)->space == SPACE_GLOBAL,
                   "it goes from global to shared memory");
}

bool rule_shared_alloc(const Check *check)
{
    const Op *op = check->op;
    const Type *tile = result_type(check);
    const int64_t align = op_int(op, ATTR_align, 1);
    const int64_t least = check->kernel->stage < STAGE_LAID_OUT || !tile->layout
                              ? 0
                              : dtype_memory_bytes(tile->dtype, layout_size(tile->layout));
    return require(check, align <= INT32_MAX && bits_is_power(align),
                   "{align} is no power of two") &&
           require(check,
                   (least == 0 && !op_attr(op, ATTR_bytes)) ||
                       in_range(op, ATTR_bytes, least, INT32_MAX),
                   "{bytes} are not those of the tile") &&
           require(check,
                   check->kernel->stage < STAGE_PLACED || in_range(op, ATTR_offset, 0, INT32_MAX),
                   "shared memory is placed, but this has no {offset}");
}

bool rule_shared_reshape(const Check *check)
{
    const Op *alloc = operand(check->op, tile)->op;
    const Type *from = operand_type(check, tile), *to = result_type(check);
    return require(check, alloc && alloc->code == OP_shared_alloc, "the operand is a whole tile") &&
           require(check,
                   type_elements(from) * dtype_memory_bits(from->dtype) ==
                       type_elements(to) * dtype_memory_bits(to->dtype),
                   "the shapes hold different numbers of elements");
}

/* A row of mbarriers, and which. */
bool rule_mbarrier(const Check *check)
{
    const Op *op = check->op;
    const Type *tile = operand_type(check, barriers);
    const Attr *counts = op_attr(op, ATTR_counts);
    bool fits = tile->rank == 1 && tile->dtype == DTYPE_i64;
    for (int i = 1; fits && i < op->operand_count; i++)
        fits = operand_type_at(check, i)->dtype == DTYPE_i32;
    if (op->operand_count > (op->code == OP_mbarrier_expect_tx ? 4 : 3)) fits = false;
    if (op->code == OP_mbarrier_init)
        fits = fits && counts != NULL && counts->count == tile->shape[0];
    for (int i = 0; fits && counts != NULL && i < counts->count; i++)
        fits = counts->integers[i] >= 1 && counts->integers[i] <= UINT16_MAX;
    return require(check, fits,
                   "mbarriers are a row of i64, of 1 to 65535 arrivals, with an i32 each way") &&
           require(check, is_of_block(operand(op, barriers)),
                   "mbarriers are the block's own; another's are named by its rank");
}

/* The barriers of a multi-buffer, a stage, and its parity; or whether it is given, and to which
 * block. */
bool rule_stage(const Check *check)
{
    const Op *op = check->op;
    bool fits = operand_type(check, barriers)->dtype == DTYPE_i64;
    for (int i = 1; fits && i < op->operand_count; i++)
        fits = operand_type_at(check, i)->dtype ==
               (op->code == OP_consumer_release && i == 2 ? DTYPE_b1 : DTYPE_i32);
    return require(check, fits, "barriers are i64, a condition is a boolean, the rest i32");
}

/* Of offsets that are no constants the passes know more than is looked for here. */
static bool check_aligned(const Check *check, const Attr *dims)
{
    const Op *op = check->op, *above = operand(op, tile)->op;
    const Type *whole = operand_type(check, tile), *part = result_type(check);
    int64_t multiples[LAYOUT_RANK] = {0};
    if (!op_int(op, ATTR_aligned, 0)) return true;
    for (int d = 0; d < whole->rank; d++)
        value_constant(operand_list(op, offsets)[d], &multiples[d]);
    return require(check, !above || above->code != OP_shared_view || op_int(above, ATTR_aligned, 0),
                   "{aligned} in a part that is not") &&
           require(check,
                   whole->layout && part->layout &&
                       layout_view(check->kernel->layouts, whole->layout, part->rank,
                                   dims->integers, part->shape, multiples) == part->layout,
                   "{aligned}, and the part does not lie so in the tile");
}

bool rule_shared_view(const Check *check)
{
    const Op *op = check->op;
    const Type *whole = operand_type(check, tile), *part = result_type(check);
    const Attr *dims = op_attr(op, ATTR_dims);
    if (op->operand_count != 1 + whole->rank)
        return broken(check, "the tile has not as many dimensions as there are offsets");
    for (int i = 1; i < op->operand_count; i++)
        if (!dtype_is_integer(operand_type_at(check, i)->dtype))
            return broken(check, "offsets are integers");
    if (!are_dimensions(dims, part->rank, whole->rank))
        return broken(check, "{dims} does not name a dimension of the tile for each of the part");
    for (int d = 0; d < part->rank; d++)
        if (part->shape[d] > whole->shape[dims->integers[d]])
            return broken(check, "the part is larger than the tile");
    return rule_same_dtype(check) && check_aligned(check, dims);
}

static bool same_elements(const Check *check, const Type *tile)
{
    const Type *shared = operand_type(check, tile);
    return require(check, tile->dtype == shared->dtype && type_same_shape(tile, shared),
                   "tile and shared tile differ in shape or element type");
}

bool rule_shared_load(const Check *check)
{
    return same_elements(check, result_type(check));
}

bool rule_shared_store(const Check *check)
{
    const Value *condition = operand_given(check->op, condition);
    return same_elements(check, operand_type(check, value)) &&
           check_row_parts(check, operand_type(check, value)->layout) &&
           require(check, !condition || condition->type->dtype == DTYPE_b1,
                   "the condition is no b1");
}

/* ---- elements ---- */

bool rule_local_alloc(const Check *check)
{
    const Type *type = result_type(check);
    int64_t elements = type_elements(type);
    return require(check, type->rank > 0 && elements > 0 && elements <= 1 << 20,
                   "the array is empty or too large");
}

static bool check_element(const Check *check)
{
    const Op *op = check->op;
    const int first = operand_index(op, indices);
    const Type *memory = operand_type(check, memory);
    const bool tile = memory->kind == TYPE_TILE && op->code == OP_element_load &&
                      check->kernel->stage == STAGE_TYPED;
    if (memory->kind != TYPE_VIEW && memory->kind != TYPE_SHARED && memory->kind != TYPE_LOCAL &&
        !tile)
        return broken(check, "the memory is a view, a shared tile or a local array");
    if (op->operand_count != first + memory->rank)
        return broken(check, "there is not one index for each dimension of the memory");
    for (int i = first; i < op->operand_count; i++)
        if (!dtype_is_integer(operand_type_at(check, i)->dtype))
            return broken(check, "the indices are integers");
    for (int i = 1; i < first; i++)
        if (operand_type_at(check, i)->dtype != memory->dtype)
            return broken(check, "memory and value differ in element type");
    return true;
}

bool rule_element_load(const Check *check)
{
    return check_element(check) && rule_same_dtype(check);
}

bool rule_element_store(const Check *check)
{
    return check_element(check);
}

bool rule_element_atomic(const Check *check)
{
    return check_element(check) && rule_same_dtype(check) && check_atomic_words(check) &&
           require(check, operand_type(check, memory)->kind != TYPE_LOCAL,
                   "no other thread sees a local array");
}

bool rule_vote(const Check *check)
{
    return require(check, operand_type(check, condition)->dtype == DTYPE_b1,
                   "the condition is boolean") &&
           require(check, result_type(check)->dtype == DTYPE_u32, "the result is a u32");
}

bool rule_texture(const Check *check)
{
    const Op *op = check->op;
    const int dims = op->operand_count - 2;
    bool are_floats = dims >= 1 && dims <= 3 && op->result_count == 4;
    for (int i = 1; are_floats && i < op->operand_count; i++)
        are_floats = op->operands[i]->type->dtype == DTYPE_f32;
    for (int i = 0; are_floats && i < op->result_count; i++)
        are_floats = op->results[i].type->dtype == DTYPE_f32;
    return require(check, operand_type(check, texture)->dtype == DTYPE_u64,
                   "the texture's handle is a u64") &&
           require(check, are_floats,
                   "a level and one to three coordinates are f32s, and so are four channels");
}
