/* vectorize.c: serial loops that write one row of a register tile after the other do all rows at
 * once; needs and leaves a TYPED kernel in SSA.
 *
 *     for i in range(4):                x[i, j] = f(y[i, j]) for all i and j
 *         for j in parallel(4096):
 *             x[i, j] = f(y[i, j])
 *
 * Which row it is that an iteration writes is known once the loop runs, and a thread's registers
 * have no addresses: each iteration would choose between the new row and the old tile for each
 * element, and a row read from another tile would take the way through shared memory. Where each
 * iteration reads of what the loop changes no more than its own row, and does nothing else, the
 * order of iterations is nobody's: the loop's variable is a dimension of what its body computes,
 * the first one. All of that is made before the loop; where some of it has no such form, the loop
 * stays.
 *
 * What is carried is a chain of choices by the row: select(iota == i, row, before). Its rows come
 * from the choices, and elements at indices that a parallel loop has from a copy in shared memory,
 * which is another name for the tile.
 *
 * So it is with slices of shared tiles, as pages of a cache have them:
 *
 *     for i in range(4):                x[r, j] = view[table[r // 16], r % 16, j] for all r and j
 *         x[16 * i : 16 * i + 16] = view[table[i]]
 *
 * Iterations that load and copy a slice each have nothing to do with each other either, and what
 * plans copies ahead knows whole tiles alone. */
#include "ir/op_vec.h"
#include "passes/analysis/access.h"
#include "passes/pass.h"
#include "ir/group.h"
#include "target/cost.h"

#include <string.h>

enum { DEEPEST = 256 /* expression that is followed */ };

typedef struct Vectorize {
    Kernel *kernel;
    Arena *arena;
    Op *loop;
    int64_t trips;
    int depth;
    Builder at;             /* before the loop */
    Map same;               /* scalar of the body -> the same before the loop */
    Map scalars[TYPE_RANK]; /* by rank - 1: scalar of the body -> one a trip, along dimension 0 */
    Map wide;               /* tile -> the tiles of all trips, along a new dimension 0 */
    Map rows[TYPE_RANK];    /* by dim: tile -> of each trip the row of its own */
    Map copies;             /* shared_alloc of the body -> one before the loop */
} Vectorize;

static Value *scalars_of(Vectorize *pass, Value *value, int rank);
static Value *wide_of(Vectorize *pass, Value *value);
static Value *row_of(Vectorize *pass, Value *value, int dim);

/* ---- types and ops ---- */

static const Type *tile_type(const Vectorize *pass, DType dtype, int rank, const int64_t *shape)
{
    return type_tile(pass->kernel->types, dtype, rank, shape, NULL);
}

static const Type *wide_type(const Vectorize *pass, const Type *type)
{
    int64_t shape[TYPE_RANK] = {pass->trips};
    for (int d = 0; d < type->rank; d++) shape[1 + d] = type->shape[d];
    return tile_type(pass, type->dtype, type->rank + 1, shape);
}

static const Type *row_type(const Vectorize *pass, const Type *type, int dim)
{
    int64_t shape[TYPE_RANK] = {pass->trips};
    for (int d = 0; d < type->rank; d++) shape[1 + d] = d == dim ? 1 : type->shape[d];
    return tile_type(pass, type->dtype, type->rank + 1, shape);
}

/* One a trip. */
static const Type *scalars_type(const Vectorize *pass, DType dtype, int rank)
{
    int64_t shape[TYPE_RANK] = {pass->trips};
    for (int d = 1; d < rank; d++) shape[d] = 1;
    return tile_type(pass, dtype, rank, shape);
}

static Value *build_to(Vectorize *pass, OpCode code, Value *value, const Type *type)
{
    return value->type == type ? value : build_op(&pass->at, code, 1, &value, 1, &type)->results;
}

/* A shape of a shape is the last one. */
static Value *build_reshape(Vectorize *pass, Value *value, const Type *type)
{
    while (value->op && value->op->code == OP_reshape) value = operand(value->op, a);
    return build_to(pass, OP_reshape, value, type);
}

static Value *build_iota(Vectorize *pass, const Type *type, int dim)
{
    Op *iota = build_op(&pass->at, OP_iota, 0, NULL, 1, &type);
    op_set_int(iota, ATTR_dim, dim);
    return iota->results;
}

static Value *build_like(Vectorize *pass, const Op *op, Value *const *operands, const Type *type)
{
    Op *made = build_op(&pass->at, op->code, op->operand_count, operands, 1, &type);
    op_keep_attrs(made, op);
    return made->results;
}

/* ---- what is the same in all iterations ---- */

static bool is_inside(const Vectorize *pass, const Value *value)
{
    return region_holds(pass->loop->regions[0], value_home(value));
}

static bool is_pure(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP) && op->region_count == 0;
}

/* A scalar before the loop; NULL: it is none, or another one each iteration. */
static Value *same_of(Vectorize *pass, Value *value)
{
    Value *operands[TYPE_RANK];
    const Op *op = value->op;
    if (value->type->kind != TYPE_SCALAR) return NULL;
    if (!is_inside(pass, value)) return value;
    Value *known = map_get(&pass->same, value);
    if (known || !op || (!is_pure(op) && op->code != OP_check_index) ||
        op->operand_count > TYPE_RANK || op->result_count != 1 || pass->depth >= DEEPEST)
        return known;
    pass->depth++;
    bool is_same = true;
    for (int i = 0; i < op->operand_count && is_same; i++)
        is_same = (operands[i] = same_of(pass, op->operands[i])) != NULL;
    pass->depth--;
    if (!is_same) return NULL;
    Value *made = build_like(pass, op, operands, value->type);
    map_set(pass->arena, &pass->same, value, made);
    return made;
}

/* ---- one a trip ---- */

static bool is_index(const Vectorize *pass, const Value *value)
{
    while (value->op && value->op->code == OP_check_index) value = operand(value->op, index);
    return value == pass->loop->regions[0]->arguments[0];
}

static bool is_loaded(const Vectorize *pass, const Op *op)
{
    if (op->code != OP_element_load) return false;
    const Value *memory = operand(op, memory);
    return (memory->type->kind == TYPE_VIEW || memory->type->kind == TYPE_SHARED) &&
           memory->type->rank > 0 && !is_inside(pass, memory);
}

static Value *make_scalars(Vectorize *pass, Value *value, int rank)
{
    Value *operands[1 + TYPE_RANK];
    const Type *type = scalars_type(pass, value->type->dtype, rank);
    const Op *op = value->op;
    Value *same = same_of(pass, value);
    if (same) return build_to(pass, OP_splat, same, type);
    if (is_index(pass, value)) return build_iota(pass, type, 0);
    if (!op || op->result_count != 1) return NULL;
    if (op->code == OP_item) {
        Value *tile = wide_of(pass, operand(op, a));
        return tile ? build_reshape(pass, tile, type) : NULL;
    }
    const int first = is_loaded(pass, op) ? 1 : 0;
    if ((!first && !op_has(op, ELEM)) || op->operand_count > TYPE_RANK) return NULL;
    for (int i = 0; i < op->operand_count; i++) {
        operands[i] = i < first ? op->operands[i] : scalars_of(pass, op->operands[i], rank);
        if (!operands[i]) return NULL;
    }
    if (!first) return build_like(pass, op, operands, type);
    return build_op(&pass->at, OP_gather, op->operand_count, operands, 1, &type)->results;
}

/* Each finds what was made of a value before, and gives up where it is too deep. */
static Value *remember(Vectorize *pass, Map *made, Value *value, Value *of)
{
    pass->depth--;
    if (of) map_set(pass->arena, made, value, of);
    return of;
}

static Value *scalars_of(Vectorize *pass, Value *value, int rank)
{
    Map *made = &pass->scalars[rank - 1];
    Value *known = map_get(made, value);
    if (known || value->type->kind != TYPE_SCALAR || pass->depth >= DEEPEST) return known;
    pass->depth++;
    return remember(pass, made, value, make_scalars(pass, value, rank));
}

/* ---- rows of tiles ---- */

/* iota == i along the dimension. */
static bool is_choice(const Vectorize *pass, const Value *condition, int *dim)
{
    const Value *index = value_chosen_index(condition, dim);
    return index && is_index(pass, index) && condition->type->shape[*dim] == pass->trips;
}

/* The same, or that and something else. */
static bool implies_choice(const Vectorize *pass, const Value *condition, int *dim)
{
    const Op *op = condition->op;
    return is_choice(pass, condition, dim) ||
           (op && op->code == OP_and &&
            (is_choice(pass, operand(op, a), dim) || is_choice(pass, operand(op, b), dim)));
}

/* Which of the carried values it is; -1: none. */
static int carried_index(const Vectorize *pass, const Value *value)
{
    return value->region == pass->loop->regions[0] ? (int)value->index - 1 : -1;
}

static Value *initial_of(const Vectorize *pass, int carried)
{
    return pass->loop->operands[operand_index(pass->loop, init) + carried];
}

/* What an iteration finds along the dimension, or leaves, beside its own row, is what was there
 * before the loop. */
static bool is_untouched(const Vectorize *pass, const Value *value, int dim)
{
    int chosen;
    for (; value->op && is_inside(pass, value); value = operand(value->op, b))
        if (value->op->code != OP_select ||
            !implies_choice(pass, operand(value->op, condition), &chosen) || chosen != dim)
            return false;
    return carried_index(pass, value) >= 0;
}

/* The dimension along which the iterations choose; -1: there is none. */
static int chosen_dim(const Vectorize *pass, const Value *value)
{
    int dim = -1;
    if (!value->op || value->op->code != OP_select ||
        !implies_choice(pass, operand(value->op, condition), &dim))
        return -1;
    return is_untouched(pass, value, dim) ? dim : -1;
}

/* That carried value of the loop is only changed along the dimension. */
static bool is_changed_along(const Vectorize *pass, int carried, int dim)
{
    const Value *next = pass->loop->regions[0]->last->operands[carried];
    const Value *from = next;
    while (from->op && is_inside(pass, from)) {
        if (from->op->code != OP_select) return false;
        from = operand(from->op, b);
    }
    return carried_index(pass, from) == carried && chosen_dim(pass, next) == dim;
}

/* Dimension `dim` comes first, and what it was is one element. */
static Value *rows_first(Vectorize *pass, Value *tile, int dim)
{
    const Type *type = row_type(pass, tile->type, dim);
    int64_t dims[TYPE_RANK], shape[TYPE_RANK];
    int count = 0;
    dims[count++] = dim;
    for (int d = 0; d < tile->type->rank; d++)
        if (d != dim) dims[count++] = d;
    for (int d = 0; d < count; d++) shape[d] = tile->type->shape[dims[d]];
    if (dim > 0) {
        tile = build_to(pass, OP_transpose, tile, tile_type(pass, type->dtype, count, shape));
        op_set_ints(tile->op, ATTR_dims, count, dims);
    }
    return build_reshape(pass, tile, type);
}

/* The other way round. */
static Value *rows_back(Vectorize *pass, Value *rows, const Type *type, int dim)
{
    int64_t dims[TYPE_RANK], shape[TYPE_RANK];
    int count = 0;
    shape[count++] = type->shape[dim];
    for (int d = 0; d < type->rank; d++)
        if (d != dim) shape[count++] = type->shape[d];
    rows = build_reshape(pass, rows, tile_type(pass, type->dtype, count, shape));
    if (dim == 0) return rows;
    for (int d = 0; d < count; d++) dims[d] = d == dim ? 0 : d < dim ? d + 1 : d;
    Op *made = build_op(&pass->at, OP_transpose, 1, &rows, 1, &type);
    op_set_ints(made, ATTR_dims, count, dims);
    return made->results;
}

static Value *make_row_of_operands(Vectorize *pass, const Op *op, int dim, const Type *type)
{
    Value *operands[TYPE_RANK];
    if (op->operand_count > TYPE_RANK || op->result_count != 1) return NULL;
    for (int i = 0; i < op->operand_count; i++)
        if (!(operands[i] = row_of(pass, op->operands[i], dim))) return NULL;
    return build_like(pass, op, operands, type);
}

static Value *make_splat(Vectorize *pass, Value *scalar, const Type *type)
{
    Value *same = same_of(pass, scalar);
    if (same) return build_to(pass, OP_splat, same, type);
    Value *each = scalars_of(pass, scalar, type->rank);
    return each ? build_to(pass, OP_broadcast, each, type) : NULL;
}

static Value *make_row(Vectorize *pass, Value *value, int dim)
{
    const Type *type = row_type(pass, value->type, dim);
    const Op *op = value->op;
    int chosen;
    const int carried = carried_index(pass, value);
    if (carried >= 0)
        return is_changed_along(pass, carried, dim)
                   ? rows_first(pass, initial_of(pass, carried), dim)
                   : NULL;
    if (op && op->code == OP_splat) return make_splat(pass, operand(op, a), type);
    if (op && op->code == OP_iota) {
        const int of = (int)op_int(op, ATTR_dim, 0);
        return build_iota(pass, type, of == dim ? 0 : of + 1);
    }
    if (!is_inside(pass, value)) return rows_first(pass, value, dim);
    if (!op) return NULL;
    if (op->code == OP_broadcast) {
        Value *tile = operand(op, a);
        Value *rows = tile->type->shape[dim] == 1 ? wide_of(pass, tile) : row_of(pass, tile, dim);
        return rows ? build_to(pass, OP_broadcast, rows, type) : NULL;
    }
    if (op->code == OP_select && is_choice(pass, operand(op, condition), &chosen) && chosen == dim)
        return row_of(pass, operand(op, a), dim);
    return op_has(op, ELEMENTWISE) ? make_row_of_operands(pass, op, dim, type) : NULL;
}

static Value *row_of(Vectorize *pass, Value *value, int dim)
{
    Value *known = map_get(&pass->rows[dim], value);
    if (known || value->type->kind != TYPE_TILE || value->type->shape[dim] != pass->trips ||
        value->type->rank >= TYPE_RANK || pass->depth >= DEEPEST)
        return known;
    pass->depth++;
    return remember(pass, &pass->rows[dim], value, make_row(pass, value, dim));
}

/* ---- tiles of all iterations ---- */

static Value *make_wide_of_operands(Vectorize *pass, const Op *op, const Type *type)
{
    Value *operands[TYPE_RANK];
    if (op->operand_count > TYPE_RANK || op->result_count != 1) return NULL;
    for (int i = 0; i < op->operand_count; i++)
        if (!(operands[i] = wide_of(pass, op->operands[i]))) return NULL;
    return build_like(pass, op, operands, type);
}

/* Dimensions that an op names are further on. */
static Value *make_moved(Vectorize *pass, const Op *op, const Type *type, bool keeps_first)
{
    int64_t dims[TYPE_RANK];
    int count = 0;
    Value *made = make_wide_of_operands(pass, op, type);
    if (!made) return NULL;
    const Attr *attr = op_attr(op, ATTR_dims);
    if (keeps_first) dims[count++] = 0;
    for (int i = 0; i < attr->count; i++) dims[count++] = attr->integers[i] + 1;
    op_set_ints(made->op, ATTR_dims, count, dims);
    return made;
}

/* A row's number of a tile with one for each: all others are zero, and the bits of all are
 * joined. NULL: it is something else. */
static Value *make_element(Vectorize *pass, const Op *reduce, const Type *type)
{
    int64_t zero;
    int dim;
    const Op *op = operand(reduce, a)->op;
    if (!op || op->code != OP_select || reduce->results[0].type->rank != 1 ||
        strcmp(op_attr(reduce, ATTR_mode)->text, "or") != 0 ||
        !is_choice(pass, operand(op, condition), &dim))
        return NULL;
    const Op *none = operand(op, b)->op;
    if (!none || none->code != OP_splat || !value_constant(operand(none, a), &zero) || zero != 0)
        return NULL;
    Value *rows = row_of(pass, operand(op, a), 0);
    return rows ? build_reshape(pass, rows, type) : NULL;
}

static bool is_private(const Vectorize *pass, const Value *memory)
{
    return memory->op && memory->op->code == OP_shared_alloc && is_inside(pass, memory);
}

/* The tile that a copy is of. */
static Value *copied(const Value *copy)
{
    for (const OpUse *use = copy->uses; use; use = use->next)
        if (use->op->code == OP_shared_store) return operand(use->op, value);
    return NULL;
}

/* The dimension along which the gather reads the iteration's own row, all of it as it lies; -1: it
 * reads something else. */
static int own_row(const Vectorize *pass, const Op *gather)
{
    const Type *memory = operand(gather, memory)->type, *result = gather->results[0].type;
    int found = -1, at = 0;
    if (result->rank != memory->rank - 1) return -1;
    for (int d = 0; d < memory->rank; d++) {
        const Value *index = operand_list(gather, indices)[d];
        const Op *op = index->op;
        if (op && op->code == OP_splat) index = operand(op, a);
        if (is_index(pass, index)) {
            if (found >= 0 || memory->shape[d] != pass->trips) return -1;
            found = d;
            continue;
        }
        if (at == result->rank || !op || op->code != OP_iota || op_int(op, ATTR_dim, 0) != at ||
            result->shape[at] != memory->shape[d])
            return -1;
        at++;
    }
    return found;
}

/* Of a tile that is the same in all iterations. */
static Value *copy_before(Vectorize *pass, Value *copy)
{
    Value *known = map_get(&pass->copies, copy), *tile = copied(copy);
    if (known || is_inside(pass, tile)) return known;
    Op *alloc = build_op(&pass->at, OP_shared_alloc, 0, NULL, 1, &copy->type);
    build_op(&pass->at, OP_shared_store, 2, (Value *[]){alloc->results, tile}, 0, NULL);
    map_set(pass->arena, &pass->copies, copy, alloc->results);
    return alloc->results;
}

/* Nothing where a mask is false. */
static Value *masked(Vectorize *pass, const Op *gather, Value *value)
{
    if (!value || !op_attr(gather, ATTR_masked)) return value;
    Value *mask = wide_of(pass, scattered_mask(gather));
    if (!mask) return NULL;
    const DType dtype = value->type->dtype;
    Value *zero = dtype_is_float(dtype) ? build_number(&pass->at, dtype, 0)
                                        : build_const(&pass->at, dtype, 0);
    zero = build_op(&pass->at, OP_splat, 1, &zero, 1, &value->type)->results;
    return build3(&pass->at, OP_select, mask, value, zero);
}

static Value *make_gather(Vectorize *pass, const Op *op, const Type *type)
{
    Value *operands[2 + TYPE_RANK], *memory = operand(op, memory);
    if (op_attr(op, ATTR_dims) || op->operand_count > 2 + TYPE_RANK) return NULL;
    if (is_private(pass, memory)) {
        const int dim = own_row(pass, op);
        Value *rows = dim < 0            ? NULL
                      : pass->trips == 1 ? wide_of(pass, copied(memory))
                                         : row_of(pass, copied(memory), dim);
        if (rows) return masked(pass, op, build_reshape(pass, rows, type));
        if (!(memory = copy_before(pass, memory))) return NULL;
    }
    operands[0] = memory;
    for (int i = 1; i < op->operand_count; i++) {
        Value *index = op->operands[i];
        const DType dtype = index->type->dtype;
        Value *same = same_of(pass, index);
        operands[i] =
            same ? same
            : index->type->kind == TYPE_TILE
                ? wide_of(pass, index)
                : make_splat(pass, index, tile_type(pass, dtype, type->rank, type->shape));
        if (!operands[i]) return NULL;
    }
    return build_like(pass, op, operands, type);
}

/* What is before the loop is the same for each of its iterations. */
static Value *make_stretched(Vectorize *pass, Value *tile, const Type *type)
{
    int64_t shape[TYPE_RANK] = {1};
    for (int d = 0; d < tile->type->rank; d++) shape[1 + d] = tile->type->shape[d];
    tile = build_reshape(pass, tile, tile_type(pass, type->dtype, tile->type->rank + 1, shape));
    return build_to(pass, OP_broadcast, tile, type);
}

static Value *make_wide(Vectorize *pass, Value *value)
{
    const Type *type = wide_type(pass, value->type);
    const Op *op = value->op;
    if (op && op->code == OP_splat) return make_splat(pass, operand(op, a), type);
    if (op && op->code == OP_iota) return build_iota(pass, type, (int)op_int(op, ATTR_dim, 0) + 1);
    if (!is_inside(pass, value)) return make_stretched(pass, value, type);
    if (!op) /* of a single iteration what is carried is what was there before */
        return pass->trips == 1 && carried_index(pass, value) >= 0
                   ? make_stretched(pass, initial_of(pass, carried_index(pass, value)), type)
                   : NULL;
    switch (op->code) {
    case OP_reshape:
    case OP_broadcast: return make_wide_of_operands(pass, op, type);
    case OP_transpose: return make_moved(pass, op, type, true);
    case OP_gather: return make_gather(pass, op, type);
    case OP_reduce: {
        Value *element = make_element(pass, op, type);
        return element ? element : make_moved(pass, op, type, false);
    }
    default: return op_has(op, ELEMENTWISE) ? make_wide_of_operands(pass, op, type) : NULL;
    }
}

static Value *wide_of(Vectorize *pass, Value *value)
{
    Value *known = map_get(&pass->wide, value);
    if (known || value->type->kind != TYPE_TILE || value->type->rank >= TYPE_RANK ||
        pass->depth >= DEEPEST)
        return known;
    pass->depth++;
    return remember(pass, &pass->wide, value, make_wide(pass, value));
}

/* ---- slices ---- */

/* Of all iterations, one behind the other along dimension 0. */
static const Type *joined_type(const Vectorize *pass, DType dtype, const Type *slice)
{
    int64_t shape[TYPE_RANK];
    for (int d = 0; d < slice->rank; d++) shape[d] = slice->shape[d];
    shape[0] *= pass->trips;
    return tile_type(pass, dtype, slice->rank, shape);
}

static Value *joined_splat(Vectorize *pass, Value *scalar, DType dtype, const Type *slice)
{
    const Type *type = joined_type(pass, dtype, slice);
    Value *same = same_of(pass, scalar);
    if (same) return build_to(pass, OP_splat, same, type);
    if (slice->rank >= TYPE_RANK) return NULL;
    Value *each = scalars_of(pass, scalar, slice->rank + 1);
    if (!each) return NULL;
    const Type *wide = wide_type(pass, slice);
    each = build_to(pass, OP_broadcast, each, tile_type(pass, dtype, wide->rank, wide->shape));
    return build_reshape(pass, each, type);
}

/* Where the access is along dimension `d` of its view: a scalar, or a tile. */
static Value *joined_index(Vectorize *pass, const Access *access, int d)
{
    Value *start = access->offsets[d], *same = same_of(pass, start);
    const int dim = access->tile_dim[d];
    if (dim < 0 && same) return same;
    Value *index = joined_splat(pass, start, start->type->dtype, access->tile);
    if (dim < 0 || !index) return index;
    Value *along = build_iota(pass, index->type, dim);
    if (dim == 0) {
        Value *rows = build_const(&pass->at, index->type->dtype, access->tile->shape[0]);
        along = build2(&pass->at, OP_floormod, along, build_to(pass, OP_splat, rows, index->type));
    }
    return same && value_is_constant(same, 0) ? along : build2(&pass->at, OP_add, index, along);
}

/* What all iterations' loads, or copies, of that access find. */
static Value *joined_load(Vectorize *pass, Op *op)
{
    Value *operands[1 + TYPE_RANK] = {operand(op, view)};
    const Access access = access_of(op);
    if (is_inside(pass, operands[0])) return NULL;
    for (int d = 0; d < access.rank; d++)
        if (!(operands[1 + d] = joined_index(pass, &access, d))) return NULL;
    const Type *type = joined_type(pass, access.tile->dtype, access.tile);
    return build_op(&pass->at, OP_gather, 1 + access.rank, operands, 1, &type)->results;
}

static Value *joined_of(Vectorize *pass, Value *value)
{
    Value *operands[TYPE_RANK];
    Op *op = value->op;
    if (value->type->kind != TYPE_TILE || !op || op->operand_count > TYPE_RANK ||
        pass->depth >= DEEPEST)
        return NULL;
    if (op->code == OP_splat)
        return joined_splat(pass, operand(op, a), value->type->dtype, value->type);
    if (op->code == OP_load && is_inside(pass, value)) return joined_load(pass, op);
    if (!op_has(op, ELEMENTWISE) || op->result_count != 1 || !is_inside(pass, value)) return NULL;
    pass->depth++;
    bool known = true;
    for (int i = 0; i < op->operand_count && known; i++)
        known = (operands[i] = joined_of(pass, op->operands[i])) != NULL;
    pass->depth--;
    return known
               ? build_like(pass, op, operands, joined_type(pass, value->type->dtype, value->type))
               : NULL;
}

/* The iteration's own rows of a tile, as many of each, from the first one on. */
static bool is_slice(const Vectorize *pass, const Value *part)
{
    const Op *view = part->op;
    if (!view || view->code != OP_shared_view || op_attr(view, ATTR_watched)) return false;
    const Value *whole = operand(view, tile);
    const Attr *dims = op_attr(view, ATTR_dims);
    Value *const *offsets = operand_list(view, offsets);
    if (whole->op->code != OP_shared_alloc || is_inside(pass, whole) ||
        part->type->rank != whole->type->rank ||
        part->type->shape[0] * pass->trips > whole->type->shape[0])
        return false;
    for (int d = 0; d < whole->type->rank; d++)
        if (dims->integers[d] != d || (d > 0 && !value_is_constant(offsets[d], 0))) return false;
    const Op *start = offsets[0]->op;
    if (part->type->shape[0] == 1) return is_index(pass, offsets[0]);
    return start && start->code == OP_mul &&
           ((is_index(pass, operand(start, a)) &&
             value_is_constant(operand(start, b), part->type->shape[0])) ||
            (is_index(pass, operand(start, b)) &&
             value_is_constant(operand(start, a), part->type->shape[0])));
}

/* Nobody in the loop reads the tile, or writes it a second time. */
static bool is_written_once(const Vectorize *pass, const Value *whole)
{
    int views = 0;
    for (const OpUse *use = whole->uses; use; use = use->next)
        views += region_holds(pass->loop->regions[0], use->op->parent);
    return views == 1;
}

/* Where it goes through registers, those that a thread has are enough. */
static bool fits_registers(const Vectorize *pass, const Type *slice)
{
    const int64_t bits = type_elements(slice) * pass->trips * dtype_memory_bits(slice->dtype);
    return bits <= (int64_t)COST_KEPT_REGISTERS * REGISTER_BITS * op_threads(pass->loop).count;
}

static bool stores_slice(const Vectorize *pass, const Op *op)
{
    const bool copies = op->code == OP_copy && !op_attr(op, ATTR_evict);
    if (!copies && (op->code != OP_shared_store || operand_given(op, condition) ||
                    op_attr(op, ATTR_tma) || op_attr(op, ATTR_async)))
        return false;
    const Value *part = operand(op, tile);
    return is_slice(pass, part) && !part->uses->next && fits_registers(pass, part->type) &&
           is_written_once(pass, operand(part->op, tile));
}

static bool store_slices(Vectorize *pass, Op *op)
{
    const Op *view = operand(op, tile)->op;
    Value *whole = operand(view, tile);
    Value *value =
        op->code == OP_copy ? joined_load(pass, op) : joined_of(pass, operand(op, value));
    if (!value) return false;
    if (value->type->shape[0] < whole->type->shape[0]) {
        Value *operands[1 + TYPE_RANK] = {whole};
        for (int d = 0; d < whole->type->rank; d++)
            operands[1 + d] = build_const(&pass->at, DTYPE_i32, 0);
        const Type *part = type_shared(pass->kernel->types, whole->type->dtype, whole->type->rank,
                                       value->type->shape, NULL);
        Op *first = build_op(&pass->at, OP_shared_view, 1 + whole->type->rank, operands, 1, &part);
        op_keep_attrs(first, view);
        whole = first->results;
    }
    build_op(&pass->at, OP_shared_store, 2, (Value *[]){whole, value}, 0, NULL);
    return true;
}

/* *any: whether there are any. */
static bool makes_slices(Vectorize *pass, bool *any)
{
    for (Op *op = pass->loop->regions[0]->first; op; op = op_next(op)) {
        if (!stores_slice(pass, op)) continue;
        if (!store_slices(pass, op)) return false;
        *any = true;
    }
    return true;
}

/* ---- loops ---- */

/* Written once, as a whole, and then read. */
static bool is_copy(const Op *alloc)
{
    const Op *store = NULL;
    for (const OpUse *use = alloc->results[0].uses; use; use = use->next) {
        if (use->op->parent != alloc->parent) return false;
        if (use->op->code == OP_gather) continue;
        if (use->op->code != OP_shared_store || store) return false;
        store = use->op;
    }
    if (!store) return false;
    for (const Op *op = alloc; op != store; op = op->next)
        if (op->code == OP_gather && operand(op, memory) == alloc->results) return false;
    return true;
}

/* Nothing in it is seen by others, or later, but what it carries. */
static bool may_be(const Vectorize *pass, const Op *op)
{
    int64_t extent;
    switch (op->code) {
    case OP_yield:
    case OP_element_load: return true;
    case OP_gather: return !op_attr(op, ATTR_watched);
    case OP_shared_alloc: return is_copy(op);
    case OP_load: return !op_attr(op, ATTR_evict);
    case OP_copy: return stores_slice(pass, op);
    case OP_shared_store: return is_private(pass, operand(op, tile)) || stores_slice(pass, op);
    case OP_check_index:
        return is_index(pass, operand(op, index)) && value_constant(operand(op, extent), &extent) &&
               extent >= pass->trips;
    default: return op_has(op, PURE) && op->region_count == 0;
    }
}

/* What the last iteration has. */
static Value *last_of(Vectorize *pass, Value *scalar)
{
    if (!is_index(pass, scalar)) return same_of(pass, scalar);
    return build_const(&pass->at, scalar->type->dtype, pass->trips - 1);
}

/* What the loop's result is; NULL: that is not known without it. */
static Value *result_of(Vectorize *pass, int carried)
{
    Region *body = pass->loop->regions[0];
    Value *next = body->last->operands[carried], *before = body->arguments[1 + carried];
    if (next == before) return initial_of(pass, carried);
    if (!is_inside(pass, next)) return before->uses ? NULL : next;
    if (next->type->kind == TYPE_SCALAR && !before->uses) return last_of(pass, next);
    if (pass->trips == 1) {
        Value *tile = wide_of(pass, next);
        return tile ? build_reshape(pass, tile, next->type) : NULL;
    }
    const int dim = next->type->kind == TYPE_TILE ? chosen_dim(pass, next) : -1;
    if (dim < 0 || !is_changed_along(pass, carried, dim)) return NULL;
    Value *rows = row_of(pass, next, dim);
    return rows ? rows_back(pass, rows, next->type, dim) : NULL;
}

/* *any: whether one of them is another tile than before. */
static bool makes_results(Vectorize *pass, Value **results, bool *any)
{
    const Region *body = pass->loop->regions[0];
    for (int i = 0; i < pass->loop->result_count; i++) {
        results[i] = NULL;
        if (!pass->loop->results[i].uses && !body->arguments[1 + i]->uses) continue;
        if (!(results[i] = result_of(pass, i))) return false;
        *any |= results[i]->type->kind == TYPE_TILE && results[i] != initial_of(pass, i);
    }
    return true;
}

/* Its iterations count from 0. */
static bool counts_rows(const Op *loop, int64_t *trips)
{
    return value_is_constant(operand(loop, begin), 0) &&
           value_is_constant(operand(loop, step), 1) && value_constant(operand(loop, end), trips) &&
           *trips > 0 && *trips <= TILE_LIMIT && op_int(loop, ATTR_stages, 0) == 0;
}

static void vectorize(Kernel *kernel, Op *loop)
{
    Vectorize pass = {
        .kernel = kernel, .arena = arena_new(), .loop = loop, .at = builder_before(loop)};
    const Op *before = loop->previous;
    bool can = counts_rows(loop, &pass.trips), any = false;
    for (const Op *op = loop->regions[0]->first; op && can; op = op_next(op))
        can = may_be(&pass, op);
    Value **results = arena_new_array(pass.arena, Value *, (size_t)loop->result_count + 1);
    if (can && makes_results(&pass, results, &any) && makes_slices(&pass, &any) && any) {
        for (int i = 0; i < loop->result_count; i++)
            if (results[i]) value_replace(&loop->results[i], results[i]);
        kernel_remark(kernel, loop->span,
                      "a serial loop over a tile's rows is no loop: its iterations have nothing to "
                      "do with each other, and are done together");
        op_erase(loop);
    } else {
        while (loop->previous != before) op_erase(loop->previous);
    }
    arena_free(pass.arena);
}

/* The inner ones first: without them the outer ones may be of rows, too. */
bool pass_vectorize(Kernel *kernel, PassContext *context)
{
    (void)context;
    if (kernel->is_strict) return true;
    const OpVec loops = region_list_those(kernel->arena, kernel->host, OP_for);
    for (size_t i = loops.count; i > 0; i--) vectorize(kernel, loops.data[i - 1]);
    return true;
}
