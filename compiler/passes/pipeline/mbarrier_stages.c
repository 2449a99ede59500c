/* mbarrier_stages.c: a pipelined loop whose copies the author's own mbarriers order has as many of
 * its tiles, and of the mbarriers, as it asks stages of:
 *
 *     for k {stages = n} {
 *         group 0 { wait(done, (k + 1) % 2); copy a[k], t; arrive(full) }
 *         group 1 { wait(full, k % 2); use t; arrive(done) }
 *     }
 *     ->  the same of t[k % n], done[k % n] and full[k % n], with k / n in the parities
 *
 * Each mbarrier completes one phase an iteration, and is waited for by the parity of this iteration
 * or of the one before; so does each of the n every n iterations. What one group did n iterations
 * ago instead of one is done before another goes on, which nothing but the tiles can tell where
 * the loop writes no other memory. Needs a TYPED kernel as simplify leaves it; before regroup, as
 * what the groups do in an iteration stands in one loop. */
#include "passes/pipeline/multi_buffer.h"

typedef struct Row { /* of one mbarrier */
    Op *alloc, *init;
    int64_t arrivals; /* in an iteration */
    int behind;       /* iterations that waits are: 0 or 1; -1: none waits */
} Row;

typedef struct Tile {
    Op *alloc, *copy;
    ThreadGroup writer;
    bool is_read;
} Tile;

typedef struct Stages {
    Kernel *kernel;
    Arena *arena;
    Op *loop;
    int64_t count;
    VEC(Row) rows;
    VEC(Tile) tiles;
    OpVec uses;        /* ops of the loop that have one of them as an operand */
    const char *fault; /* why there are none; NULL */
} Stages;

/* ---- what is in the loop ---- */

static void require(Stages *stages, bool fits, const char *fault)
{
    if (!fits && !stages->fault) stages->fault = fault;
}

static Row *row_of(Stages *stages, Op *alloc)
{
    vec_each (row, &stages->rows)
        if (row->alloc == alloc) return row;
    vec_push(stages->arena, &stages->rows, ((Row){.alloc = alloc, .behind = -1}));
    return &vec_last(&stages->rows);
}

static Tile *tile_of(Stages *stages, Op *alloc)
{
    vec_each (tile, &stages->tiles)
        if (tile->alloc == alloc) return tile;
    vec_push(stages->arena, &stages->tiles, ((Tile){.alloc = alloc}));
    return &vec_last(&stages->tiles);
}

/* By how many iterations the parity is behind the loop's index; -1: by none that is known. */
static int iterations_behind(const Stages *stages, const Value *parity)
{
    const Value *index = stages->loop->regions[0]->arguments[0], *counted;
    const Op *op = parity->op;
    int64_t number;
    if (!op || op->code != OP_floormod || !value_constant(operand(op, b), &number) || number != 2)
        return -1;
    counted = operand(op, a);
    if (counted == index) return 0;
    op = counted->op;
    return op && op->code == OP_add && operand(op, a) == index &&
                   value_is_constant(operand(op, b), 1)
               ? 1
               : -1;
}

static void note_mbarrier(Stages *stages, Op *op)
{
    Row *row = row_of(stages, operand(op, barriers)->op);
    if (op->code == OP_mbarrier_arrive) row->arrivals += op_threads(op).count;
    if (op->code != OP_mbarrier_wait) return;
    const int behind = iterations_behind(stages, operand(op, parity));
    require(stages, behind >= 0 && (row->behind < 0 || row->behind == behind),
            "an mbarrier is not waited for by the parity of this iteration or the one before");
    row->behind = behind;
}

/* One group copies the tile, others read it. */
static void note_tile(Stages *stages, Op *op)
{
    Tile *tile = tile_of(stages, operand(op, tile)->op);
    if (op->code == OP_copy_async) {
        require(stages, !tile->copy && !tile->is_read,
                "a tile is not copied once, before it is read");
        tile->copy = op;
        tile->writer = op_threads(op);
        return;
    }
    require(stages, !tile->copy || group_is_apart(tile->writer, op_threads(op)),
            "who copies a tile reads it, too");
    tile->is_read = true;
}

static void note_op(Stages *stages, Op *op)
{
    if ((op_has(op, PURE) && !op_has(op, ALIAS)) || op_has(op, TERM) || op->code == OP_var ||
        op_row_names(op->code, OPERAND_variable) || op->code == OP_load || op->code == OP_sync ||
        op->code == OP_barrier)
        return;
    vec_push(stages->arena, &stages->uses, op);
    const bool is_known = op->code == OP_mbarrier_arrive || op->code == OP_mbarrier_wait ||
                          op->code == OP_mbarrier_arrive_on_copies ||
                          op->code == OP_mbarrier_expect_tx;
    if (is_known && !operand_given(op, rank))
        note_mbarrier(stages, op);
    else if (op->code == OP_copy_async || op->code == OP_shared_load)
        note_tile(stages, op);
    else
        require(stages, false, "it does more than copy, signal, wait and read");
}

/* Each iteration does all of it once: what stands in the loop, and in its groups. */
static void note_region(Stages *stages, Region *region, bool may_group)
{
    for (Op *op = region->first; op && !stages->fault; op = op->next) {
        if (op->region_count == 0) {
            note_op(stages, op);
            continue;
        }
        require(stages,
                may_group && is_group(op) && op->result_count == 0 &&
                    op->regions[1]->first == op->regions[1]->last,
                "it has other branches than groups of threads");
        if (!stages->fault) note_region(stages, op->regions[0], false);
    }
}

/* ---- whether ---- */

/* Beside `others` uses nothing but the loop has to do with it. */
static bool is_own(const Stages *stages, const Value *value, int others)
{
    return region_count_uses(stages->loop->regions[0], value) + others == value->use_count;
}

static bool fits_row(const Stages *stages, Row *row)
{
    const Value *value = &row->alloc->results[0];
    for (const OpUse *use = value->uses; use; use = use->next)
        if (use->op->code == OP_mbarrier_init) row->init = use->op;
    return row->alloc->code == OP_shared_alloc && row->init && is_own(stages, value, 1) &&
           row->behind >= 0 && value->type->shape[0] == 1 &&
           op_attr(row->init, ATTR_counts)->integers[0] == row->arrivals;
}

static bool fits_tile(const Stages *stages, const Tile *tile)
{
    const Value *value = &tile->alloc->results[0];
    return tile->alloc->code == OP_shared_alloc && tile->copy && tile->is_read &&
           is_own(stages, value, 0) && value->type->rank < TYPE_RANK;
}

static bool has_room(const Stages *stages, const Target *target)
{
    int64_t bytes = COST_SHARED_MARGIN_SPLIT + region_shared_bytes(stages->loop->parent);
    vec_each (tile, &stages->tiles)
        bytes += (stages->count - 1) * type_bytes(tile->alloc->results[0].type);
    return bytes <= target->shared_bytes;
}

static void find_stages(Stages *stages, const Target *target)
{
    const Op *loop = stages->loop;
    note_region(stages, loop->regions[0], true);
    require(stages,
            value_is_constant(operand(loop, begin), 0) &&
                value_is_constant(operand(loop, step), 1) && !loop->result_count,
            "it does not count from 0 by 1");
    require(stages, stages->tiles.count > 0, "it copies nothing");
    vec_each (row, &stages->rows)
        require(stages, stages->fault || fits_row(stages, row),
                "an mbarrier does not complete one phase in each iteration, or is used elsewhere");
    vec_each (tile, &stages->tiles)
        require(stages, stages->fault || fits_tile(stages, tile),
                "a tile is not both copied and read in it alone");
    require(stages, stages->fault || has_room(stages, target),
            "shared memory has no room for them");
}

/* ---- the stages ---- */

static void replace_row(const Stages *stages, const Row *row, Value *stage, Value *lap)
{
    Builder before = builder_before(row->alloc);
    before.span = row->alloc->span;
    const Type *type = type_shared(stages->kernel->types, DTYPE_i64, 1, &stages->count, NULL);
    Value *made = build_op(&before, OP_shared_alloc, 0, NULL, 1, &type)->results;
    made->name = row->alloc->results[0].name;
    int64_t *counts = arena_new_array(stages->arena, int64_t, (size_t)stages->count);
    for (int64_t i = 0; i < stages->count; i++) counts[i] = row->arrivals;
    op_set_ints(row->init, ATTR_counts, (int)stages->count, counts);
    value_replace(&row->alloc->results[0], made);
    vec_each (use, &stages->uses) {
        Op *op = *use;
        if (operand_given(op, barriers) != made) continue;
        op_set_operand(op, operand_index(op, index), stage);
        if (op->code != OP_mbarrier_wait) continue;
        Builder at = builder_before(op);
        Value *two = build_const(&at, DTYPE_i32, 2),
              *behind = build_const(&at, DTYPE_i32, row->behind);
        op_set_operand(op, operand_index(op, parity),
                       build2(&at, OP_floormod, build2(&at, OP_add, lap, behind), two));
    }
    op_erase(row->alloc);
}

static void replace_tile(const Stages *stages, const Tile *tile, Builder *at, Value *stage)
{
    Builder before = builder_before(tile->alloc);
    const Type *type = tile->alloc->results[0].type;
    Value *made = multi_buffer_alloc(&before, tile->alloc, stages->count);
    value_replace(&tile->alloc->results[0], multi_buffer_view(at, made, stage, type));
    op_erase(tile->alloc);
}

static void build_stages(const Stages *stages)
{
    Region *body = stages->loop->regions[0];
    Builder at = builder_before(body->first);
    Value *index = body->arguments[0], *count = build_const(&at, DTYPE_i32, stages->count);
    Value *stage = build2(&at, OP_floormod, index, count),
          *lap = build2(&at, OP_floordiv, index, count);
    vec_each (row, &stages->rows) replace_row(stages, row, stage, lap);
    vec_each (tile, &stages->tiles) replace_tile(stages, tile, &at, stage);
    kernel_remark(stages->kernel, stages->loop->span,
                  "%d stages of the tiles that the author's mbarriers order, and of these",
                  (int)stages->count);
}

static void consider(Op *loop, void *context)
{
    const PassContext *pass = context;
    const int64_t count = op_int(loop, ATTR_stages, 0);
    if (loop->code != OP_for || count < 2 || !has_group(loop)) return;
    Stages stages = {.kernel = pass->kernel, .arena = pass->arena, .loop = loop, .count = count};
    find_stages(&stages, pass->target);
    if (!stages.fault)
        build_stages(&stages);
    else if (stages.rows.count)
        kernel_remark(pass->kernel, loop->span, "no stages of the author's tiles and mbarriers: %s",
                      stages.fault);
}

bool pass_mbarrier_stages(Kernel *kernel, PassContext *context)
{
    if (kernel_had(kernel, OP_mbarrier_wait)) kernel_visit_those(kernel, OP_for, consider, context);
    return true;
}
