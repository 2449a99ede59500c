/* owners.c: elements of a register tile that a loop reads a fixed way off and puts somewhere are
 * put by the threads that hold them; needs and leaves a TYPED kernel in SSA.
 *
 *     for i in parallel: if i < 16: out[i] = acc[i + 16]
 *     for i in parallel: if 0 <= i - 16 and i - 16 < 16: out[i - 16] = acc[i]
 *
 * are the same, and the second takes no copy of the tile in shared memory, which the first is read
 * from, and no barriers. */
#include "passes/analysis/access.h"
#include "passes/pass.h"

#include "ir/op_vec.h"

typedef struct Owners {
    Arena *arena;
} Owners;

typedef struct Shift {
    Value *by[TYPE_RANK]; /* a scalar; NULL: not at all */
    Map seen, moved;
    int ops;
    Builder at;
} Shift;

enum { MOST_OPS = 256 }; /* that indices and masks are computed by */

/* The store that makes the whole copy, which nothing but it and the gather uses; NULL: none. */
static Op *copying_store(const Op *gather)
{
    const Value *copy = operand(gather, memory);
    Op *store = NULL;
    if (copy->name || !copy->op || copy->op->code != OP_shared_alloc || copy->use_count != 2)
        return NULL;
    for (const OpUse *use = copy->uses; use; use = use->next)
        if (use->op->code == OP_shared_store) store = use->op;
    return store && operand(store, value)->type == gather->results[0].type ? store : NULL;
}

static bool is_coordinate(const Value *value, int dim)
{
    return value->op && value->op->code == OP_iota && op_int(value->op, ATTR_dim, 0) == dim;
}

static Value *splatted(const Value *value)
{
    const Op *op = value->op;
    return op && op->code == OP_splat ? operand(op, a) : NULL;
}

/* How far off the index is of the element's own coordinate. */
static bool find_shift(const Value *index, int dim, Value **by)
{
    *by = NULL;
    if (is_coordinate(index, dim)) return true;
    const Op *sum = index->op;
    if (!sum || sum->code != OP_add) return false;
    const bool is_first = is_coordinate(operand(sum, a), dim);
    const Value *own = is_first ? operand(sum, a) : operand(sum, b);
    *by = splatted(is_first ? operand(sum, b) : operand(sum, a));
    return is_coordinate(own, dim) && *by;
}

static bool find_shifts(const Op *gather, Shift *shift)
{
    const Type *type = gather->results[0].type;
    const int first = scattered_first(gather);
    bool any = false;
    for (int d = 0; d < type->rank; d++) {
        if (!find_shift(gather->operands[first + d], d, &shift->by[d])) return false;
        any |= shift->by[d] != NULL;
    }
    return any;
}

/* The one put of what is read, under the same mask. */
static Op *only_put(const Op *gather)
{
    Op *put = gather->results[0].use_count == 1 ? gather->results[0].uses->op : NULL;
    if (!put || put->code != OP_put || put->parent != gather->parent) return NULL;
    if (op_attr(put, ATTR_dims) || op_attr(put, ATTR_watched) || op_attr(put, ATTR_lenient))
        return NULL;
    const Value *mask = scattered_mask(gather);
    return operand(put, value) == gather->results && mask && mask == scattered_mask(put) ? put
                                                                                         : NULL;
}

static Value *splat(Builder *at, Value *scalar, const Type *like)
{
    const Type *type =
        type_tile(at->kernel->types, scalar->type->dtype, like->rank, like->shape, NULL);
    return build_op(at, OP_splat, 1, &scalar, 1, &type)->results;
}

/* Whether the tile is made of coordinates alone, by few ops. */
static bool is_movable(Owners *owners, Shift *shift, Value *value)
{
    Op *op = value->op;
    if (!type_is_tile(value->type) || map_get(&shift->seen, value)) return true;
    if (!op || !op_has(op, PURE) || op->region_count || ++shift->ops > MOST_OPS) return false;
    map_set(owners->arena, &shift->seen, value, value);
    if (op->code == OP_splat || op->code == OP_iota) return true;
    if (!op_has(op, ELEM)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_movable(owners, shift, op->operands[i])) return false;
    return true;
}

/* Computes it for the elements that lie where others did. */
static void move(Owners *owners, Shift *shift, Value *value)
{
    Op *op = value->op;
    if (!type_is_tile(value->type) || map_get(&shift->moved, value) || op->code == OP_splat) return;
    if (op->code == OP_iota) {
        Value *by = shift->by[op_int(op, ATTR_dim, 0)];
        if (by)
            map_set(owners->arena, &shift->moved, value,
                    build2(&shift->at, OP_sub, value, splat(&shift->at, by, value->type)));
        return;
    }
    for (int i = 0; i < op->operand_count; i++) move(owners, shift, op->operands[i]);
    op_clone(&shift->at, op, &shift->moved);
}

static Value *moved(const Shift *shift, Value *value)
{
    Value *found = map_get(&shift->moved, value);
    return found ? found : value;
}

/* Those alone that lie in the tile a way off. */
static Value *in_reach(Shift *shift, Value *mask, const Type *type)
{
    Builder *at = &shift->at;
    for (int d = 0; d < type->rank; d++) {
        if (!shift->by[d]) continue;
        const Type *whole = type_tile(at->kernel->types, DTYPE_i32, type->rank, type->shape, NULL);
        Op *iota = build_op(at, OP_iota, 0, NULL, 1, &whole);
        op_set_int(iota, ATTR_dim, d);
        Value *there = build2(at, OP_sub, iota->results, splat(at, shift->by[d], type));
        Value *zero = splat(at, build_const(at, DTYPE_i32, 0), type);
        Value *end = splat(at, build_const(at, DTYPE_i32, type->shape[d]), type);
        mask = build2(at, OP_and, mask, build_cmp(at, "ge", there, zero));
        mask = build2(at, OP_and, mask, build_cmp(at, "lt", there, end));
    }
    return mask;
}

static void put_where_held(Owners *owners, Op *gather)
{
    Shift shift = {0};
    Op *store, *put;
    if (op_attr(gather, ATTR_dims) || op_attr(gather, ATTR_watched) ||
        op_attr(gather, ATTR_lenient) || !(store = copying_store(gather)) ||
        !(put = only_put(gather)) || !find_shifts(gather, &shift))
        return;
    Value *mask = scattered_mask(put), *held = operand(store, value);
    shift.at = builder_before(put);
    for (int i = scattered_first(put); i < put->operand_count; i++)
        if (!is_movable(owners, &shift, put->operands[i])) return;
    for (int i = scattered_first(put); i < put->operand_count; i++)
        move(owners, &shift, put->operands[i]);
    for (int i = scattered_first(put); i < put->operand_count; i++)
        op_set_operand(put, i,
                       put->operands[i] == mask ? in_reach(&shift, moved(&shift, mask), held->type)
                                                : moved(&shift, put->operands[i]));
    op_set_operand(put, operand_index(put, value), held);
    Op *copy = operand(gather, memory)->op;
    op_erase(gather);
    op_erase(store);
    op_erase(copy);
}

bool pass_owners(Kernel *kernel, PassContext *context)
{
    (void)context;
    Owners owners = {.arena = arena_new()};
    const OpVec gathers = region_list_those(owners.arena, kernel->host, OP_gather);
    for (size_t i = 0; i < gathers.count; i++) put_where_held(&owners, gathers.data[i]);
    arena_free(owners.arena);
    return true;
}
