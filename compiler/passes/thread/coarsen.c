/* coarsen.c: threads that each have one element become threads with several, side by side; needs
 * and leaves a TYPED kernel in SSA.
 *
 * Where the code of a thread is short and straight, and it reads and writes elements of memory
 * whose neighbours the next thread has, nobody sees which thread does what. Such a launch becomes
 * code of tiles: elements are read and written 16 bytes at a time, and more of them are in flight
 * at once than a multiprocessor has threads. The pass looks for
 *
 *     index = block * threads + thread; if index < size: loads, arithmetic, then stores
 *
 * in a launch, and leaves gathers and puts, from which affine makes loads and stores of blocks. */
#include "ir/group.h"
#include "passes/analysis/access.h"

#include <string.h>

enum {
    MOST_OPERANDS = 3,
    DEPTH = 8 /* of index expressions that are followed */
};

typedef struct Pass {
    Kernel *kernel;
    Arena *arena;
    Op *launch, *guard; /* the `if` */
    Value *index, *thread, *block, *size;
    int64_t threads;
    Map varying; /* what is not the same in all threads */
    Map tiles;   /* scalar -> tile */
    int count;   /* of the ops that work on elements */
    int bits;    /* of the smallest element that is read or written; 0: none is */
    bool stores;
    Builder at;
} Pass;

/* ---- what a launch is made of ---- */

/* The block's index, which `value` is `threads` times; NULL: it is something else. */
static Value *block_of(const Pass *pass, const Value *value)
{
    const Op *op = value->op;
    for (int i = 0; op && op->code == OP_mul && i < 2; i++) {
        const Op *block = op->operands[i]->op;
        if (block && block->code == OP_block_idx && op_int(block, ATTR_dim, 0) == 0 &&
            value_is_constant(op->operands[1 - i], pass->threads))
            return op->operands[i];
    }
    return NULL;
}

static bool is_used_once(const Value *value)
{
    return value->use_count == 1;
}

/* block * threads + thread, of which nothing else knows. */
static bool read_index(Pass *pass, Op *op)
{
    for (int i = 0; op->code == OP_add && i < 2; i++) {
        Value *thread = op->operands[i], *first = op->operands[1 - i];
        Value *block = block_of(pass, first);
        if (!block || !thread->op || thread->op->code != OP_thread_id) continue;
        pass->index = op->results;
        pass->thread = thread;
        pass->block = block;
        return is_used_once(thread) && is_used_once(first) && is_used_once(block);
    }
    return false;
}

static bool is_varying(const Pass *pass, const Value *value)
{
    return map_has(&pass->varying, value);
}

/* The index, and perhaps something more that is the same in all threads. */
static bool counts_up(const Pass *pass, Value *value, int depth)
{
    value = value_uncast(value);
    if (value == pass->index) return true;
    const Op *op = value->op;
    if (!op || depth == 0 || (op->code != OP_add && op->code != OP_sub)) return false;
    Value *a = operand(op, a), *b = operand(op, b);
    if (!is_varying(pass, b)) return counts_up(pass, a, depth - 1);
    return op->code == OP_add && !is_varying(pass, a) && counts_up(pass, b, depth - 1);
}

/* Neighbours in memory for neighbours among the threads, or, of a load, the same for all. */
static bool is_side_by_side(Pass *pass, const Op *op)
{
    const Value *memory = operand(op, memory);
    const bool is_store = op_has(op, STORES);
    const int rank = memory->type->rank;
    int followed = 0;
    if (memory->type->kind != TYPE_VIEW || is_varying(pass, memory)) return false;
    for (int d = 0; d < rank; d++) {
        Value *index = operand_list(op, indices)[d];
        if (!is_varying(pass, index)) continue;
        if (!counts_up(pass, index, DEPTH) ||
            !value_is_constant(operand_list(memory->op, extents)[rank + d], 1))
            return false;
        followed++;
    }
    const int bits = dtype_bits(memory->type->dtype);
    if (followed && (!pass->bits || bits < pass->bits)) pass->bits = bits;
    return followed == 1 || (followed == 0 && !is_store);
}

static void note(Pass *pass, const Op *op)
{
    bool varies = false;
    for (int i = 0; i < op->operand_count; i++) varies |= is_varying(pass, op->operands[i]);
    for (int i = 0; varies && i < op->result_count; i++)
        map_set(pass->arena, &pass->varying, &op->results[i], pass);
}

/* Computes, and does not depend on how many blocks and threads there are. */
static bool is_scalar_code(const Pass *pass, const Op *op)
{
    if (!op_has(op, PURE) || op_has(op, COOP) || op->region_count || op->result_count != 1)
        return false;
    return !op_has(op, INDEX) || op->results == pass->thread || op->results == pass->block ||
           op_int(op, ATTR_dim, 0) != 0;
}

/* An op of the guarded code. */
static bool takes_part(Pass *pass, Op *op)
{
    if (op_has(op, ELEMENT) && !op_has(op, ATOMIC)) {
        if (!is_side_by_side(pass, op) || (!op_has(op, STORES) && pass->stores)) return false;
        pass->stores |= op_has(op, STORES);
    } else if (!is_scalar_code(pass, op)) {
        return false;
    }
    note(pass, op);
    const bool varies = op->result_count == 1 && is_varying(pass, op->results);
    if (!varies || op_has(op, ELEMENT)) return true;
    return op->operand_count <= MOST_OPERANDS && op_has(op, ELEMENTWISE) &&
           type_is_scalar(op->results[0].type) && ++pass->count <= COST_COARSEN_OPS;
}

static bool find_index(Pass *pass)
{
    Op *op = launch_region(pass->launch)->first;
    while (op && !read_index(pass, op)) op = op->next;
    if (op) map_set(pass->arena, &pass->varying, pass->index, pass);
    return op && pass->index->type->dtype == DTYPE_i32;
}

/* index < size, of numbers without a sign. */
static bool read_guard(Pass *pass)
{
    const Op *cmp = operand(pass->guard, condition)->op;
    if (pass->guard->result_count || !cmp || cmp->code != OP_cmp ||
        strcmp(op_attr(cmp, ATTR_predicate)->text, "lt") != 0 ||
        dtype_is_signed(operand(cmp, a)->type->dtype) ||
        value_uncast(operand(cmp, a)) != pass->index)
        return false;
    pass->size = value_uncast(operand(cmp, b));
    const Op *otherwise = pass->guard->regions[1]->first;
    return pass->size->type->dtype == DTYPE_i32 && !is_varying(pass, pass->size) &&
           (!otherwise || otherwise->code == OP_yield);
}

/* The whole launch is the pattern. */
static bool matches(Pass *pass)
{
    pass->threads = WARP_SIZE * op_int(pass->launch, ATTR_warps, 0);
    /* a power of two divides 2^31: no index of the last block is too large for an i32 */
    if (pass->threads == 0 || (pass->threads & (pass->threads - 1))) return false;
    if (!launch_is_plain(pass->launch) || operand(pass->launch, x)->type->dtype != DTYPE_i32 ||
        !find_index(pass))
        return false;
    for (Op *op = launch_region(pass->launch)->first; op; op = op_next(op)) {
        if (op->code == OP_if && !pass->guard) {
            pass->guard = op;
        } else if (op->results == pass->index) {
            continue;
        } else if (pass->guard || !is_scalar_code(pass, op)) {
            return false;
        } else {
            note(pass, op);
            if (is_varying(pass, op->results) && !type_is_scalar(op->results[0].type)) return false;
        }
    }
    if (!pass->guard || !read_guard(pass)) return false;
    for (Op *op = pass->guard->regions[0]->first; op; op = op_next(op))
        if (op->code != OP_yield && !takes_part(pass, op)) return false;
    return pass->stores;
}

/* ---- tiles ---- */

static const Type *tile_type(const Pass *pass, DType dtype, int64_t each)
{
    return type_tile(pass->kernel->types, dtype, 1, (int64_t[]){each * pass->threads}, NULL);
}

static Value *tile_of(Pass *pass, Value *value, int64_t each);

static Value *made_again(Pass *pass, const Op *op, int64_t each)
{
    Value *operands[MOST_OPERANDS];
    CHECK(op->operand_count <= MOST_OPERANDS);
    for (int i = 0; i < op->operand_count; i++) operands[i] = tile_of(pass, op->operands[i], each);
    const Type *type = tile_type(pass, op->results[0].type->dtype, each);
    pass->at.span = op->span;
    Op *fresh = build_op(&pass->at, op->code, op->operand_count, operands, 1, &type);
    op_keep_attrs(fresh, op);
    if (op->code == OP_mul && dtype_is_float(type->dtype)) op_set_int(fresh, ATTR_single, 1);
    return fresh->results;
}

static Value *tile_of(Pass *pass, Value *value, int64_t each)
{
    Value *tile = map_get(&pass->tiles, value);
    if (tile) return tile;
    if (value_uncast(value) == pass->index) {
        tile = build_op(&pass->at, OP_cast, 1, (Value *[]){map_get(&pass->tiles, pass->index)}, 1,
                        (const Type *[]){tile_type(pass, value->type->dtype, each)})
                   ->results;
    } else if (is_varying(pass, value)) {
        tile = made_again(pass, value->op, each);
    } else {
        tile = build_op(&pass->at, OP_splat, 1, &value, 1,
                        (const Type *[]){tile_type(pass, value->type->dtype, each)})
                   ->results;
    }
    map_set(pass->arena, &pass->tiles, value, tile);
    return tile;
}

static Value *index_of(Pass *pass, Value *value, int64_t each)
{
    if (!is_varying(pass, value)) return value;
    return tile_of(pass, value_uncast(value) == pass->index ? pass->index : value, each);
}

static void move_access(Pass *pass, Op *op, Value *mask, int64_t each)
{
    const bool is_store = op_has(op, STORES);
    const int rank = operand(op, memory)->type->rank;
    Value *operands[3 + TYPE_RANK] = {operand(op, memory)};
    int count = operand_index(op, indices);
    pass->at.span = op->span;
    if (is_store) operands[1] = tile_of(pass, operand(op, value), each);
    for (int d = 0; d < rank; d++)
        operands[count++] = index_of(pass, operand_list(op, indices)[d], each);
    operands[count++] = mask;
    const Type *type = tile_type(pass, operand(op, memory)->type->dtype, each);
    Op *fresh = is_store ? build_op(&pass->at, OP_put, count, operands, 0, NULL)
                         : build_op(&pass->at, OP_gather, count, operands, 1, &type);
    op_set_int(fresh, ATTR_masked, 1);
    if (!is_store) map_set(pass->arena, &pass->tiles, op->results, fresh->results);
}

/* The index of each element, and whether it is one of the launch's. */
static Value *make_index(Pass *pass, int64_t each)
{
    Value *base = build2(&pass->at, OP_mul, pass->block,
                         build_const(&pass->at, DTYPE_i32, pass->threads * each));
    const Type *type = tile_type(pass, DTYPE_i32, each);
    Op *iota = build_op(&pass->at, OP_iota, 0, NULL, 1, &type);
    op_set_int(iota, ATTR_dim, 0);
    Value *bases = build_op(&pass->at, OP_splat, 1, &base, 1, &type)->results;
    Value *index = build2(&pass->at, OP_add, bases, iota->results);
    map_set(pass->arena, &pass->tiles, pass->index, index);
    Value *number = build_cast(&pass->at, DTYPE_u32, pass->size);
    Value *limit = build_cast(&pass->at, DTYPE_i64, number);
    Value *wide = build_op(&pass->at, OP_cast, 1, &index, 1,
                           (const Type *[]){tile_type(pass, DTYPE_i64, each)})
                      ->results;
    return build_cmp(&pass->at, "lt", wide, tile_of(pass, limit, each));
}

static void give_each(Pass *pass, int64_t each)
{
    Builder host = builder_before(pass->launch);
    kernel_remark(pass->kernel, pass->launch->span, "%lld elements a thread, side by side",
                  (long long)each);
    Value *one = build_const(&host, DTYPE_i32, 1);
    Value *last = build2(&host, OP_sub, operand(pass->launch, x), one);
    Value *blocks = build2(&host, OP_floordiv, last, build_const(&host, DTYPE_i32, each));
    op_set_operand(pass->launch, operand_index(pass->launch, x),
                   build2(&host, OP_add, blocks, one));
    pass->at = builder_before(pass->guard);
    Value *mask = make_index(pass, each);
    for (Op *next, *op = pass->guard->regions[0]->first; op; op = next) {
        next = op_next(op);
        if (op_has(op, STORES) || (op_has(op, ELEMENT) && is_varying(pass, op->results)))
            move_access(pass, op, mask, each);
        else if (op->code != OP_yield && !is_varying(pass, op->results))
            op_move_before(op, pass->guard);
    }
    op_erase(pass->guard);
}

static void visit(Op *op, void *context)
{
    enum { BYTE = 8 };
    if (op->code != OP_launch) return;
    Pass pass = {.kernel = context, .arena = arena_new(), .launch = op};
    if (matches(&pass) && pass.bits >= BYTE) {
        const int each = ACCESS_BYTES * BYTE / pass.bits;
        if (each > 1) give_each(&pass, each < COST_COARSEN_ELEMENTS ? each : COST_COARSEN_ELEMENTS);
    }
    arena_free(pass.arena);
}

bool pass_coarsen(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_visit(kernel, visit, kernel);
    return true;
}
