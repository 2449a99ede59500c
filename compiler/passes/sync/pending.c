/* pending.c: sets of accesses that something may have to wait for. Each access, as it is pending in
 * one way, has a number; a set is a list of numbers and a bit for each. What is found out about two
 * accesses is kept: a launch is walked many times. */
#include "passes/sync/sync.h"

#include <string.h>

typedef VEC(size_t) Numbers;
typedef enum Verdict { VERDICT_NONE, VERDICT_APART, VERDICT_CONFLICT } Verdict;

struct PendingTable {
    VEC(Pending) items;   /* by number */
    Map numbers;          /* hash -> Numbers of the items that have it */
    Map verdicts;         /* Op -> Verdicts of the items before it */
    Map alike;            /* memory -> Alikes */
    Map alike_when_known; /* pointer -> Alikes */
};
/* Pages of a Verdict each, by number; what was never asked about has none. Those asked about are
 * near each other, or few. */
enum { PAGE = 64, WORD = 64 };
struct Verdicts {
    Map pages; /* (number / PAGE + 1) * 8 -> char[PAGE] */
    size_t last;
    char *page; /* the last one asked for */
};
/* Accesses of which each stands for others: who must wait for one must for all. */
typedef struct Alike {
    Op *op;
    ThreadGroup group;
} Alike;
typedef VEC(Alike) Alikes;

PendingTable *pending_table_new(Arena *arena)
{
    return arena_new_of(arena, PendingTable);
}

static bool same_item(const Pending *a, const Pending *b)
{
    return a->op == b->op && group_is_same(a->group, b->group) &&
           group_is_same(a->fence, b->fence) && group_is_same(a->known, b->known) &&
           a->in_flight == b->in_flight && a->iteration.when == b->iteration.when &&
           a->iteration.loop == b->iteration.loop && a->met == b->met && a->open == b->open;
}

static void *value_of(Arena *arena, Map *map, const void *key, size_t size)
{
    void *known = map_get(map, key);
    if (known) return known;
    known = arena_alloc(arena, size);
    memset(known, 0, size);
    map_set(arena, map, key, known);
    return known;
}

/* Which of the ops with that memory stand for each other. */
typedef bool Likeness(const Op *a, const Op *b);

static Op *first_alike(const Sync *sync, Map *map, const Value *memory, Likeness *are_alike, Op *op)
{
    Alikes *alikes = value_of(sync->arena, map, memory, sizeof *alikes);
    vec_each (other, alikes)
        if (are_alike(other->op, op) && group_is_same(other->group, sync->group)) return other->op;
    vec_push(sync->arena, alikes, ((Alike){op, sync->group}));
    return op;
}

/* What is done once is ordered by the memory that it is of, wherever in it that is. */
static bool is_done_once(const Op *op)
{
    return op_is_element(op) && op_int(op, ATTR_once, 0);
}

static const Type *registers_of(const Op *op)
{
    return op->code == OP_shared_load ? op->results[0].type : operand(op, value)->type;
}

/* Both done once, or both of the whole tile and the same registers. */
static bool are_ordered_alike(const Op *a, const Op *b)
{
    if (a->code != b->code) return false;
    return is_done_once(a) ? is_done_once(b) : registers_of(a) == registers_of(b);
}

static Op *alike(const Sync *sync, Op *op)
{
    if ((op->code == OP_shared_load || op->code == OP_shared_store) && !op->attr_count)
        return first_alike(sync, &sync->table->alike, operand(op, tile), are_ordered_alike, op);
    if (is_done_once(op))
        return first_alike(sync, &sync->table->alike, operand(op, memory), are_ordered_alike, op);
    return op;
}

static bool have_one_code(const Op *a, const Op *b)
{
    return a->code == b->code;
}

/* Where a group's threads know of what they did with global memory, others ask by which pointer it
 * was, and no more (hazards.c). */
static Op *alike_when_known(const Sync *sync, Op *op)
{
    if (!op_is_access(op)) return op;
    const Value *pointer = operand(op_memory(op)->op, pointer);
    return first_alike(sync, &sync->table->alike_when_known, pointer, have_one_code, op);
}

static uint64_t add_to_hash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static uint64_t add_group_to_hash(uint64_t hash, ThreadGroup group)
{
    return add_to_hash(hash, (uint64_t)(uint32_t)group.begin << 32 | (uint32_t)group.count);
}

/* As a map's key: no NULL. */
static const void *item_hash(const Pending *item)
{
    uint64_t hash = add_to_hash(0, (uintptr_t)item->op);
    hash = add_group_to_hash(hash, item->group);
    hash = add_group_to_hash(hash, item->fence);
    hash = add_group_to_hash(hash, item->known);
    hash = add_to_hash(hash, (uintptr_t)item->iteration.loop);
    hash = add_to_hash(hash, (uint64_t)item->iteration.when << 3 | (uint64_t)item->open << 2 |
                                 (uint64_t)item->in_flight << 1 | (uint64_t)item->met);
    return (const void *)(uintptr_t)(hash | 1);
}

static size_t number_of(const Sync *sync, Pending item)
{
    PendingTable *table = sync->table;
    Numbers *numbers = value_of(sync->arena, &table->numbers, item_hash(&item), sizeof *numbers);
    vec_each (number, numbers)
        if (same_item(&table->items.data[*number], &item)) return *number;
    vec_push(sync->arena, numbers, table->items.count);
    vec_push(sync->arena, &table->items, item);
    return table->items.count - 1;
}

static char *verdict_of(Arena *arena, Verdicts *verdicts, size_t number)
{
    const size_t page = number / PAGE + 1;
    if (page != verdicts->last) {
        verdicts->page = value_of(arena, &verdicts->pages, (const void *)(page << 3), PAGE);
        verdicts->last = page;
    }
    return &verdicts->page[number % PAGE];
}

Verdicts *pending_verdicts(const Sync *sync, Op *op)
{
    return value_of(sync->arena, &sync->table->verdicts, alike(sync, op), sizeof(Verdicts));
}

bool pending_conflicts(const Sync *sync, Verdicts *verdicts, size_t number, Op *op)
{
    PendingTable *table = sync->table;
    char *verdict = verdict_of(sync->arena, verdicts, number);
    if (*verdict == VERDICT_NONE)
        *verdict =
            hazard_between(sync, table->items.data[number], op) ? VERDICT_CONFLICT : VERDICT_APART;
    return *verdict == VERDICT_CONFLICT;
}

/* ---- sets ---- */

const Pending *state_item(const Sync *sync, const State *state, size_t index)
{
    return &sync->table->items.data[state->items.data[index]];
}

/* A bit for each number of the table as it is now. */
static void fit_bits(const Sync *sync, State *state)
{
    state->words = sync->table->items.count / WORD + 1;
    state->bits = arena_new_array(sync->arena, uint64_t, state->words);
    vec_each (number, &state->items) state->bits[*number / WORD] |= UINT64_C(1) << *number % WORD;
}

/* True if it was not there. */
static bool add_number(const Sync *sync, State *state, size_t number)
{
    if (number / WORD >= state->words) fit_bits(sync, state);
    uint64_t *const word = &state->bits[number / WORD], bit = UINT64_C(1) << number % WORD;
    if (*word & bit) return false;
    *word |= bit;
    vec_push(sync->arena, &state->items, number);
    return true;
}

void state_add(const Sync *sync, State *state, Pending item)
{
    item.op = alike(sync, item.op);
    add_number(sync, state, number_of(sync, item));
}

bool state_join(const Sync *sync, State *state, const State *other)
{
    bool more = false;
    vec_each (number, &other->items) more |= add_number(sync, state, *number);
    return more;
}

State state_copy(const Sync *sync, const State *state)
{
    const size_t count = state->items.count;
    State copy = {0};
    if (count == 0) return copy;
    copy.items.data = arena_new_array(sync->arena, size_t, count);
    copy.items.count = copy.items.capacity = count;
    memcpy(copy.items.data, state->items.data, count * sizeof *copy.items.data);
    return copy;
}

/* Each item becomes what the rule makes of it, or goes. */
typedef bool ItemRule(Pending *item, const void *context);

/* How many at the front stay as they are. */
static size_t count_unchanged(const Sync *sync, const State *state, ItemRule *rule,
                              const void *context)
{
    size_t i = 0;
    for (; i < state->items.count; i++) {
        const Pending *old = state_item(sync, state, i);
        Pending item = *old;
        if (!rule(&item, context) || !same_item(old, &item)) break;
    }
    return i;
}

static void change(const Sync *sync, State *state, ItemRule *rule, const void *context)
{
    const size_t count = state->items.count, first = count_unchanged(sync, state, rule, context);
    if (first == count) return;
    state->items.count = first;
    state->words = 0;
    for (size_t i = first; i < count; i++) { /* what is added stands in front of what is read */
        const size_t number = state->items.data[i];
        const Pending old = sync->table->items.data[number];
        Pending item = old;
        if (!rule(&item, context)) continue;
        add_number(sync, state, same_item(&old, &item) ? number : number_of(sync, item));
    }
}

static bool has_moving_part(const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (shared_part_moves(op->operands[i])) return true;
    return false;
}

/* Of what is the same bytes in each iteration nobody asks in which one it was. */
static bool age(Pending *item, const void *loop)
{
    if (!has_moving_part(item->op)) return true;
    const Iteration iteration = item->iteration;
    const bool again = iteration.when == ITERATION_SAME || iteration.loop == loop;
    item->iteration =
        (Iteration){iteration.when == ITERATION_SAME ? ITERATION_BEFORE : ITERATION_EARLIER,
                    again ? loop : NULL};
    return true;
}

void state_age(const Sync *sync, State *state, const Op *loop)
{
    change(sync, state, age, loop);
}

static bool fence(Pending *item, const void *context)
{
    const ThreadGroup group = *(const ThreadGroup *)context;
    if (group_has(group, item->group) && group.count > item->fence.count) item->fence = group;
    return true;
}

void state_fence(const Sync *sync, State *state)
{
    change(sync, state, fence, &sync->group);
}

/* What threads did before they met is known to them; what all of the block know is done with. A
 * thread's own copy that is not complete stays in flight: other threads may read its elements
 * behind a barrier that follows its wait. */
static bool outlives(Pending *item, const void *context)
{
    const Sync *sync = context;
    if (item->in_flight || !group_has(sync->group, item->group)) return true;
    if (item->open) return item->in_flight = true;
    if (group_is_same(sync->group, sync->block)) return false;
    if (sync->group.count > item->known.count) item->known = sync->group;
    if (group_has(item->known, item->group)) item->op = alike_when_known(sync, item->op);
    return true;
}

void state_clear(const Sync *sync, State *state)
{
    change(sync, state, outlives, sync);
}

static bool meet(Pending *item, const void *group)
{
    item->met |= group_has(*(const ThreadGroup *)group, item->group);
    return true;
}

void state_meet(const Sync *sync, State *state)
{
    change(sync, state, meet, &sync->group);
}

/* What the rule says has landed, or, unless that is for all, may have. */
static void wait_by(const Sync *sync, State *state, ItemRule *rule, const void *context,
                    bool for_all)
{
    State landed = state_copy(sync, state);
    change(sync, &landed, rule, context);
    if (for_all)
        *state = landed;
    else
        state_join(sync, state, &landed);
}

/* What threads have begun, and wait for themselves. */
typedef struct Own {
    ThreadGroup group;
    bool (*is)(const Op *op);
} Own;

static bool end_own(Pending *item, const void *context)
{
    const Own *own = context;
    if (own->is(item->op) && group_has(own->group, item->group))
        item->in_flight = item->open = false;
    return true;
}

static bool is_copy(const Op *op)
{
    return op_begins_copy(op) || op_is_own_copy(op);
}

void state_wait(const Sync *sync, State *state, bool for_all)
{
    wait_by(sync, state, end_own, &(Own){sync->group, is_copy}, for_all);
}

void state_multiplied(const Sync *sync, State *state, bool for_all)
{
    wait_by(sync, state, end_own, &(Own){sync->group, hazard_begins_dot}, for_all);
}

/* The thread knows that began them, the first one. */
static bool read_all(Pending *item, const void *group)
{
    if (!item->in_flight || !hazard_begins_store(item->op) ||
        !group_has(*(const ThreadGroup *)group, item->group))
        return true;
    item->in_flight = false;
    item->known = (ThreadGroup){item->group.begin, 1};
    return true;
}

void state_stored(const Sync *sync, State *state, bool for_all)
{
    wait_by(sync, state, read_all, &sync->group, for_all);
}

typedef struct Signal {
    const Op *wait;
    ThreadGroup group, known;
} Signal;

/* As if those who wait had made them. */
static bool signal(Pending *item, const void *context)
{
    const Signal *signal = context;
    if (!item->in_flight || !hazard_is_mbarrier_copy(item->op) ||
        operand(item->op, barriers) != operand(signal->wait, barriers))
        return true;
    item->in_flight = false;
    item->group = signal->group;
    item->known = signal->known;
    return true;
}

void state_mbarrier(const Sync *sync, State *state, const Op *wait, ThreadGroup known)
{
    const Signal context = {wait, sync->group, known};
    wait_by(sync, state, signal, &context, false);
}

static bool land(Pending *item, const void *context)
{
    (void)context;
    if (op_attr(item->op, ATTR_stages)) item->in_flight = false;
    return true;
}

void state_land(const Sync *sync, State *state)
{
    change(sync, state, land, NULL);
}
