/* allocate_shared.c: places shared tiles in the block's shared memory; needs a PIPELINED kernel,
 * leaves `offset` on each shared_alloc and `bytes` on each launch, PLACED.
 *
 * A tile lives from its first to its last use in the order of the text; a tile made outside a loop
 * and used in it lives as long as the loop, since the next iteration may read it. Tiles are placed
 * in the order in which their lives begin, each at the lowest place that no tile alive at the same
 * time has, or where that takes too much, the largest first. Where there is room, a tile of
 * which threads read many elements lives until what they compute of these, one by one, is stored:
 * if the store's tile had its place, all would be read before a barrier, and be in registers until
 * then. Groups of threads that follow each other may run at the same time: a tile that is made in
 * one of them never shares a place with one that is made in another, and one from before them lives
 * as long as they all do. One that is copied to asynchronously lives until that is waited for, and
 * so does what a product in flight reads; where the author says when, to the end; one that other
 * blocks of the cluster use always. A multi-buffer's stages, whose own barriers order the groups
 * that use them, live as in a straight text.
 *
 * Mbarriers stand side by side, each on a multiple of its own bytes; other tiles on one of what TMA
 * asks for.
 *
 * Tiles that are small together share no places: what does has to wait at a barrier. */
#include <limits.h>
#include <stdlib.h>

#include "base/vec.h"
#include "passes/analysis/access.h"
#include "target/cost.h"

typedef struct Life {
    Op *alloc;
    int first, last; /* -1: never used */
    bool is_filled;  /* it is in Lives.filled */
    bool is_staged;  /* by copies of a pipelined loop, which waits for each */
    int64_t offset, bytes, align;
    const Op *run,
        *group; /* the first of the groups that follow each other; the one it is made in */
} Life;

typedef struct Lives {
    Arena *arena;
    VEC(Life) items;
    VEC(size_t) filled;      /* of which by copies that nobody has waited for yet */
    VEC(const Op *) flights; /* products that nobody has waited for yet */
    Map by_value;            /* Value -> index */
    int clock;
    int behind_loops;  /* ops behind a loop for which its tiles still live: 1, or 0 */
    bool until_stored; /* large tiles live until what is computed of their elements is used */
} Lives;

static Life *life_of(const Lives *lives, const Value *value)
{
    const intptr_t index = map_number(&lives->by_value, value, -1);
    return index < 0 ? NULL : &lives->items.data[index];
}

static void extend(Life *life, int first, int last)
{
    if (life->first < 0 || first < life->first) life->first = first;
    if (last > life->last) life->last = last;
}

static const Value *tile_used(const Op *op, int operand)
{
    const Value *value = op->operands[operand];
    return value->type->kind == TYPE_SHARED ? &shared_root(value)->results[0] : value;
}

/* Other blocks of the cluster use its tiles, when these may not: whose those are stays so. */
static bool is_between_blocks(const Op *op)
{
    return operand_given(op, rank) || op_attr(op, ATTR_multicast);
}

/* Mbarriers have their bytes for themselves from the first op of the block to the last: plain
 * stores to a valid one are undefined without mbarrier.inval (the GPU keeps mbarriers in a cache
 * that such stores pass by, and writes it back when another process takes its turn), a thread may
 * arrive at one that nobody waits for any more, and waits are not what sync sees as uses of memory.
 */
static void note_uses(Lives *lives, const Op *op, int now)
{
    /* a copy that the author waits for, somewhere, or a store by TMA, which the end of the block
     * waits for, if nobody does before */
    const bool is_left_open =
        (op_begins_copy(op) && !op_attr(op, ATTR_stages)) || op->code == OP_tma_store;
    for (int i = 0; i < op->operand_count; i++) {
        Life *life = life_of(lives, tile_used(op, i));
        if (!life) continue;
        if (op_has(op, INITS)) life->align = dtype_bytes(life->alloc->results[0].type->dtype);
        if (is_between_blocks(op) || op_has(op, INITS))
            extend(life, 0, INT_MAX);
        else
            extend(life, now, is_left_open ? INT_MAX : now);
        if (!op_begins_copy(op) || life->is_filled) continue;
        life->is_filled = true;
        life->is_staged = op_attr(op, ATTR_stages) != NULL;
        vec_push(lives->arena, &lives->filled, (size_t)(life - lives->items.data));
    }
    if ((op->code == OP_dot_shared && op_attr(op, ATTR_async)) || op->code == OP_dot_commit)
        vec_push(lives->arena, &lives->flights, op);
}

/* It ends a group of products, whatever way threads came to the wait. */
static bool ends_group(const Op *op, const Op *wait)
{
    if (op->code != OP_dot_commit && op_attr(op, ATTR_joined)) return false;
    for (const Region *at = op->parent; at && !region_holds(at, wait->parent);
         at = at->parent->parent)
        if (at->parent->code == OP_if && !is_group(at->parent)) return false;
    return true;
}

/* How many of those in flight a wait for all but `left` groups is for: what begins behind the last
 * group that is certainly one too many may be in flight still. */
static size_t count_done(const Lives *lives, const Op *wait, size_t left)
{
    size_t count = lives->flights.count;
    for (size_t ends = 0; left > 0 && count > 0; count--)
        if (ends_group(lives->flights.data[count - 1], wait) && ++ends > left) break;
    return count;
}

/* All but the last ones are done. */
static void note_products(Lives *lives, const Op *wait, int now)
{
    const size_t done = count_done(lives, wait, (size_t)op_int(wait, ATTR_count, 0)),
                 left = lives->flights.count - done;
    for (size_t i = 0; i < done; i++) {
        const Op *dot = lives->flights.data[i];
        for (int o = 0; o < dot->operand_count; o++) {
            Life *life = life_of(lives, tile_used(dot, o));
            if (life) extend(life, now, now);
        }
    }
    for (size_t i = 0; i < left; i++) lives->flights.data[i] = lives->flights.data[done + i];
    lives->flights.count = left;
}

/* What copies fill lives until they are waited for, whether it is read or not. */
static void note_wait(Lives *lives, const Op *wait, int now)
{
    if (wait->code == OP_dot_wait) note_products(lives, wait, now);
    if (wait->code != OP_copy_wait) return;
    const bool waits_for_some = op_int(wait, ATTR_count, 0) > 0;
    for (size_t i = 0; i < lives->filled.count; i++) {
        Life *life = &lives->items.data[lives->filled.data[i]];
        extend(life, now, now);
        life->is_filled = waits_for_some;
    }
    if (!waits_for_some) lives->filled.count = 0;
}

/* Copies of a pipelined loop are for one of its iterations each, which waits for them. */
static void note_staged(Lives *lives, const Op *loop, int now)
{
    size_t kept = 0;
    if (!op_attr(loop, ATTR_stages)) return;
    for (size_t i = 0; i < lives->filled.count; i++) {
        Life *life = &lives->items.data[lives->filled.data[i]];
        if (life->is_staged) {
            extend(life, now, now);
            life->is_filled = false;
        } else {
            lives->filled.data[kept++] = lives->filled.data[i];
        }
    }
    lives->filled.count = kept;
}

/* Uses inside a loop, or groups, of tiles that were made before: they last for all of it. */
static void note_inside(const Lives *lives, const Region *region, int first, int last, int known,
                        bool buffers)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        for (int i = 0; i < op->operand_count; i++) {
            Life *life = life_of(lives, tile_used(op, i));
            if (life && life < lives->items.data + known &&
                (buffers || !op_attr(life->alloc, ATTR_multi_buffer)))
                extend(life, first, last);
        }
        for (int r = 0; r < op->region_count; r++)
            note_inside(lives, op->regions[r], first, last, known, buffers);
    }
}

/* Groups that follow each other. */
typedef struct Run {
    const Op *first; /* NULL: there is none */
    int start, known;
} Run;

static void note_run(Lives *lives, const Run *run, const Op *end)
{
    for (const Op *op = run->first; op && op != end; op = op_next(op))
        if (is_group(op))
            note_inside(lives, op->regions[0], run->start, lives->clock, run->known, false);
}

/* When an op runs, and when the last of what is computed of its results, one by one, is used. */
typedef struct Moment {
    int now, used;
} Moment;

static int moment_used(const OpUse *use, const Region *region)
{
    const Op *op = use->op;
    while (op->parent != region) op = op->parent->parent;
    const Moment *moment = op->scratch;
    return op == use->op && op_has(op, ELEM) ? moment->used : moment->now;
}

/* Of a thread, in registers. */
static int words_of(const Value *tile)
{
    const Type *type = tile->type;
    return layout_registers(type->layout) * dtype_bits(type->dtype) / REGISTER_BITS;
}

/* From the last op to the first, so that the uses of each are known before it. */
static void note_stored(Lives *lives, Region *region)
{
    for (Op *op = region->last; op; op = op->previous) {
        Moment *moment = op->scratch;
        for (int i = 0; i < op->result_count; i++)
            for (const OpUse *use = op->results[i].uses; use; use = use->next) {
                const int used = moment_used(use, region);
                if (used > moment->used) moment->used = used;
            }
        if (op->code != OP_shared_load || words_of(op->results) < COST_READ_LATE) continue;
        Life *life = life_of(lives, tile_used(op, 0));
        if (life) extend(life, moment->now, moment->used);
    }
    for (Op *op = region->first; op; op = op_next(op)) op->scratch = NULL;
}

static void walk_lives(Lives *lives, Region *region);

static void walk_group(Lives *lives, Run *run, Op *op, int start)
{
    const size_t known = lives->items.count;
    if (!run->first) *run = (Run){op, start, (int)known};
    walk_lives(lives, op->regions[0]);
    for (size_t i = known; i < lives->items.count; i++) {
        lives->items.data[i].run = run->first;
        lives->items.data[i].group = op;
    }
}

static void walk_lives(Lives *lives, Region *region)
{
    Run run = {0};
    for (Op *op = region->first; op; op = op_next(op)) {
        const int start = lives->clock++, known = (int)lives->items.count;
        if (lives->until_stored) {
            op->scratch = arena_new_of(lives->arena, Moment);
            *(Moment *)op->scratch = (Moment){start, start};
        }
        if (is_group(op)) {
            walk_group(lives, &run, op, start);
            continue;
        }
        if (run.first && !op_has(op, PURE)) {
            note_run(lives, &run, op);
            run = (Run){0};
        }
        note_uses(lives, op, start);
        note_wait(lives, op, start);
        for (int r = 0; r < op->region_count; r++) walk_lives(lives, op->regions[r]);
        note_staged(lives, op, lives->clock - 1);
        if (op_has(op, LOOP))
            for (int r = 0; r < op->region_count; r++)
                note_inside(lives, op->regions[r], start, lives->clock - 1 + lives->behind_loops,
                            known, true);
        if (op->code != OP_shared_alloc) continue;
        const Life life = {.alloc = op,
                           .first = -1,
                           .last = -1,
                           .bytes = op_int(op, ATTR_bytes, 0),
                           .align = op_int(op, ATTR_align, TMA_ALIGN)};
        map_set_number(lives->arena, &lives->by_value, &op->results[0],
                       (intptr_t)lives->items.count);
        vec_push(lives->arena, &lives->items, life);
    }
    note_run(lives, &run, NULL);
    if (lives->until_stored) note_stored(lives, region);
}

static int64_t align_up(int64_t offset, int64_t align)
{
    return (offset + align - 1) / align * align;
}

static bool share_bytes(const Life *a, const Life *b)
{
    return a->first >= 0 && b->first >= 0 && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

static bool overlap(const Life *a, const Life *b)
{
    const bool apart = a->run && a->run == b->run && a->group != b->group;
    return (apart || (a->first <= b->last && b->first <= a->last)) && share_bytes(a, b);
}

/* Moves the tile up past each placed one that it meets, until it meets none. */
static void place(Life *const *placed, size_t count, Life *life)
{
    life->offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < count; i++)
            if (overlap(placed[i], life)) {
                life->offset = align_up(placed[i]->offset + placed[i]->bytes, life->align);
                moved = true;
            }
    }
}

static int by_birth(const void *a, const void *b)
{
    const Life *x = *(Life *const *)a, *y = *(Life *const *)b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x < y ? -1 : x > y; /* of one array */
}

static Life **in_order(const Lives *lives, int (*compare)(const void *, const void *))
{
    Life **order = arena_new_array(lives->arena, Life *, lives->items.count + 1);
    for (size_t i = 0; i < lives->items.count; i++) order[i] = &lives->items.data[i];
    qsort(order, lives->items.count, sizeof(Life *), compare);
    return order;
}

/* Those that no tile which is born now, or later, can meet. */
static size_t drop_over(Life **alive, size_t count, int now)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (alive[i]->first >= 0 && (alive[i]->run || alive[i]->last >= now))
            alive[kept++] = alive[i];
    return kept;
}

/* All of them, side by side. */
static int64_t bytes_of_all(const Lives *lives)
{
    int64_t total = 0;
    vec_each (life, &lives->items)
        if (life->first >= 0) total = align_up(total, life->align) + life->bytes;
    return total;
}

static int64_t end_of(const Life *life)
{
    return life->first < 0 ? 0 : life->offset + life->bytes;
}

static int64_t place_by_birth(const Lives *lives)
{
    const bool apart = bytes_of_all(lives) <= COST_APART_BYTES;
    Life **order = in_order(lives, by_birth);
    Life **alive = arena_new_array(lives->arena, Life *, lives->items.count + 1);
    size_t count = 0;
    int64_t total = 0;
    for (size_t i = 0; i < lives->items.count; i++) {
        if (apart && order[i]->first >= 0) extend(order[i], 0, INT_MAX);
        count = drop_over(alive, count, order[i]->first);
        place(alive, count, order[i]);
        alive[count++] = order[i];
        total = end_of(order[i]) > total ? end_of(order[i]) : total;
    }
    return total;
}

static int by_size(const void *a, const void *b)
{
    const Life *x = *(Life *const *)a, *y = *(Life *const *)b;
    if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
    return by_birth(a, b);
}

/* Small tiles fill what large ones leave, whichever lives first. */
static int64_t place_by_size(const Lives *lives)
{
    Life **order = in_order(lives, by_size);
    int64_t total = 0;
    for (size_t i = 0; i < lives->items.count; i++) {
        place(order, i, order[i]);
        total = end_of(order[i]) > total ? end_of(order[i]) : total;
    }
    return total;
}

/* Lives as long as `like` says, and places for them. Returns the bytes in all. */
static int64_t place_like(Lives *lives, Op *launch, Lives like)
{
    like.arena = lives->arena;
    *lives = like;
    walk_lives(lives, launch_region(launch));
    return place_by_birth(lives);
}

static int blocks_with(const Target *target, const Op *launch, int64_t bytes)
{
    const int blocks = cost_blocks_per_sm(target, launch_warps(launch), 1, bytes);
    return blocks < COST_BLOCKS_PER_SM ? blocks : COST_BLOCKS_PER_SM;
}

/* What is stored right behind a loop has the place of what the loop uses, for a barrier between
 * them, and what is stored that of what it is computed of, only where memory is short, or another
 * block has room on a multiprocessor then. */
static int64_t place_all(Lives *lives, Op *launch, const Target *target)
{
    static const Lives LONG[] = {{.behind_loops = 1, .until_stored = true}, {.behind_loops = 1}};
    const int64_t least = place_like(lives, launch, (Lives){0}), limit = target->shared_bytes;
    const int blocks = blocks_with(target, launch, least);
    const Lives shortest = *lives;
    int64_t total = least;
    bool fits = false;
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG && !fits; i++) {
        total = place_like(lives, launch, LONG[i]);
        fits = total <= limit && blocks_with(target, launch, total) >= blocks;
    }
    if (!fits) {
        *lives = shortest;
        total = least;
    }
    if (total > limit) total = place_by_size(lives);
    for (size_t i = 0; i < lives->items.count; i++)
        op_set_int(lives->items.data[i].alloc, ATTR_offset, lives->items.data[i].offset);
    return total;
}

static bool any_share_bytes(const Lives *lives)
{
    vec_each (life, &lives->items)
        for (const Life *other = lives->items.data; other < life; other++)
            if (share_bytes(life, other)) return true;
    return false;
}

/* Where one tile has another's place the emulator tells what was written of each. */
static void number_tiles(const Lives *lives)
{
    const bool shared = any_share_bytes(lives);
    for (size_t i = 0; shared && i < lives->items.count; i++)
        op_set_int(lives->items.data[i].alloc, ATTR_tile, (int64_t)i + 1);
}

static void report_excess(const Kernel *kernel, const Op *launch, const Lives *lives, int64_t total,
                          const Target *target)
{
    Diags *diags = kernel->session->diags;
    diag_report(diags, DIAG_shared_memory, launch->span, (long long)total, target->name,
                target->shared_bytes);
    for (size_t i = 0; i < lives->items.count; i++) {
        const Op *alloc = lives->items.data[i].alloc;
        const Type *type = type_with_layout(kernel->types, alloc->results[0].type, NULL);
        diag_note(diags, alloc->span, "%lld bytes for %s", (long long)lives->items.data[i].bytes,
                  type_text(kernel->arena, type));
    }
}

static bool is_of_cluster(const Op *op, const void *context)
{
    (void)context;
    return is_between_blocks(op) || op->code == OP_cluster_arrive ||
           op->code == OP_mbarrier_expect_tx;
}

/* What only some machines have. */
static bool has_clusters(const Kernel *kernel, Op *launch, const Target *target)
{
    const Op *found = launch_cluster(launch) > 1
                          ? launch
                          : region_find(launch_region(launch), is_of_cluster, NULL);
    if (!found || target_has(target, HAS_CLUSTER)) return true;
    diag_report(kernel->session->diags, DIAG_no_clusters, found->span,
                found->code == OP_mbarrier_expect_tx ? "an mbarrier waits for bytes here"
                                                     : "blocks work together in clusters here",
                target->name);
    return false;
}

static bool place_launch(Kernel *kernel, PassContext *context, Op *launch)
{
    const Target *target = context->target;
    Lives lives = {.arena = context->arena};
    if (!has_clusters(kernel, launch, target)) return false;
    const int64_t total = place_all(&lives, launch, target);
    number_tiles(&lives);
    op_set_int(launch, ATTR_bytes, total);
    const bool fits = total <= target->shared_bytes;
    if (!fits) report_excess(kernel, launch, &lives, total, target);
    return fits;
}

bool pass_shared(Kernel *kernel, PassContext *context)
{
    bool fine = true;
    kernel_each_launch (op, kernel) fine &= place_launch(kernel, context, op);
    kernel->stage = STAGE_PLACED;
    return fine;
}
