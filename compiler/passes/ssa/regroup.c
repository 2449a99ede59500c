/* regroup.c: what a thread group does here and there, one after the other, becomes one group, loops
 * around several groups become loops within each:
 *
 *     for k { a; group 0 { b } group 1 { c } }
 *     ->  group 0 { for k { a; b } } group 1 { for k { a; c } }
 *
 * A thread is in one of the groups at most, and does what it did, in its order. So what a group
 * keeps from one place to the next stays in its registers, and never needs a barrier of all. What
 * groups do beside each other is in no order but that of the author's mbarriers, in a launch that
 * has some. In others groups must have nothing to do with each other; what all copy to a shared
 * tile that groups read, each group then copies to a tile of its own.
 *
 * This is loop distribution over the threads, not the data: Kennedy and McKinley 1990, "Loop
 * distribution with arbitrary control flow", whose control dependences are the groups here. Needs
 * variables, which promote takes away: each group then sets its own. */
#include "ir/op_vec.h"
#include "passes/analysis/access.h"
#include "passes/pass.h"
#include "ir/rebuild.h"

/* Ops that follow each other in a region, and that each thread may do without the other groups. */
typedef struct Run {
    Kernel *kernel;
    Arena *arena;
    Op *first, *last;       /* the last one that is or has a group */
    Op *end;                /* the first one behind them that is no such op, or NULL */
    VEC(const Op *) groups; /* the first op of each */
    bool repeats;           /* some group is there twice, or within a loop */
    bool fits;
    Map tiles;        /* a variable of a tile that groups use -> TileUse */
    Map going;        /* ops of the run itself that go into the groups */
    Map read;         /* variables that all read */
    VEC(Value *) set; /* and those that all set, which stay before the groups */
    int64_t room;     /* bytes of shared memory for copies of tiles; -1: there are mbarriers */
    Map users;        /* without these: a shared tile or parameter -> MemoryUse */
    FactTable *facts; /* while these are found */
    VEC(const Op *) copies; /* that all make, each group for itself then */
} Run;

typedef struct TileUse {
    ThreadGroup group; /* the first one */
    bool several, set;
} TileUse;

typedef struct MemoryUse {
    const Op *first; /* the group that uses it first; NULL: all do */
    const Op *store; /* of a parameter: the last one */
    bool several;    /* groups use it, or all */
    bool copied, set, read;
} MemoryUse;

/* ---- which ops ---- */

static bool is_control(const Op *op)
{
    return op_has(op, LOOP) || op->code == OP_if;
}

static bool is_variable_op(const Op *op)
{
    return op_row_names(op->code, OPERAND_variable);
}

/* To a whole tile, by all: each group can make it for itself. */
static bool is_copy(const Run *run, const Op *op)
{
    return run->room >= 0 && op->code == OP_copy && operand(op, tile)->op->code == OP_shared_alloc;
}

/* A thread does it for itself, or in a group. */
static bool is_own(const Run *run, const Op *op)
{
    if (is_copy(run, op)) return true;
    if (op_has(op, TERM) || is_variable_op(op) || op->code == OP_var || op->code == OP_assume)
        return true;
    if (!is_control(op)) return op_has(op, PURE) && !op_has(op, COOP);
    for (int i = 0; i < op->region_count && !is_group(op); i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            if (!is_own(run, inner)) return false;
    return true;
}

/* Nothing that a thread does. */
static bool is_declared(const Op *op)
{
    return op->code == OP_shared_alloc ||
           (op->code == OP_anchor && operand(op, tile)->type->kind == TYPE_SHARED);
}

/* A tile is one thing of all: what one group makes of it, another may go on with. */
typedef struct TileSearch {
    Run *run;
    ThreadGroup group;
} TileSearch;

static void note_tile(Op *op, void *context)
{
    const TileSearch *search = context;
    Run *run = search->run;
    if (!is_variable_op(op) || operand(op, variable)->type->content->kind != TYPE_TILE) return;
    TileUse *use = map_get(&run->tiles, operand(op, variable));
    if (!use) {
        use = arena_new_of(run->arena, TileUse);
        use->group = search->group;
        map_set(run->arena, &run->tiles, operand(op, variable), use);
    }
    use->several |= !group_is_same(use->group, search->group);
    use->set |= op->code == OP_var_set;
    run->fits &= !(use->several && use->set);
}

static void note_group(Run *run, const Op *op, bool within)
{
    const ThreadGroup group = group_threads(op);
    const Op *others = op->regions[1]->first;
    bool is_known = false;
    for (size_t i = 0; i < run->groups.count; i++) {
        const ThreadGroup known = group_threads(run->groups.data[i]);
        is_known |= group_is_same(known, group);
        run->fits &= group_is_same(known, group) || group_is_apart(known, group);
    }
    run->fits &= others && others->code == OP_yield && op->result_count == 0;
    run->repeats |= is_known || within;
    if (!is_known) vec_push(run->arena, &run->groups, op);
    TileSearch search = {run, group};
    region_visit(op->regions[0], note_tile, &search);
}

static void find_groups(Run *run, const Op *op, bool within)
{
    if (is_group(op)) {
        note_group(run, op, within);
        return;
    }
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            find_groups(run, inner, true);
}

static Run find_run(Kernel *kernel, Arena *arena, Op *first, int64_t room)
{
    Run run = {
        .kernel = kernel, .arena = arena, .first = first, .end = first, .fits = true, .room = room};
    for (; run.end && (is_own(&run, run.end) || is_declared(run.end)); run.end = run.end->next) {
        if (!has_group(run.end)) continue;
        find_groups(&run, run.end, false);
        run.last = run.end;
    }
    return run;
}

/* ---- what goes into the groups, and what stays before them ---- */

static bool is_used_only_here(const Run *run, const Value *value)
{
    int uses = 0;
    for (const Op *op = run->first; op != run->last->next; op = op_next(op))
        uses += op_count_uses(op, value);
    return uses == value->use_count;
}

static bool goes(const Run *run, const Op *op)
{
    if (is_declared(op)) return false;
    if (op->code == OP_var) return is_used_only_here(run, op->results);
    if (!op_has(op, PURE) && op->code != OP_assume) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->op && map_has(&run->going, op->operands[i]->op)) return true;
    return false;
}

static void choose(Run *run)
{
    for (Op *op = run->first; op != run->last->next; op = op_next(op)) {
        if (!goes(run, op)) continue;
        map_set(run->arena, &run->going, op, op);
        for (int i = 0; i < op->result_count; i++)
            run->fits &= is_used_only_here(run, &op->results[i]);
    }
}

/* ---- variables that stay before the groups ---- */

/* Whether the variable is made by what goes. */
static bool is_inner(const Run *run, const Value *variable)
{
    const Region *here = run->first->parent;
    const Op *op = variable->op;
    while (op && op->parent != here) op = op->parent->parent;
    return op && map_has(&run->going, op);
}

/* What all do with variables. */
static void note_variables(Run *run, const Op *op)
{
    if (is_group(op)) return;
    if (op->code == OP_var_get) map_set(run->arena, &run->read, operand(op, variable), run);
    if (op->code == OP_var_set && !is_inner(run, operand(op, variable)))
        vec_push(run->arena, &run->set, operand(op, variable));
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            note_variables(run, inner);
}

/* What all set has to be set in all threads, or is a tile that one group alone uses. */
static void check_variables(Run *run)
{
    for (const Op *op = run->first; op != run->last->next; op = op_next(op))
        if (map_has(&run->going, op)) note_variables(run, op);
    for (size_t i = 0; i < run->set.count; i++) {
        const TileUse *use = map_get(&run->tiles, run->set.data[i]);
        run->fits &= use && !use->several && !map_has(&run->read, run->set.data[i]);
    }
}

/* ---- without mbarriers: memory that groups have in common ---- */

typedef struct MemorySearch {
    Run *run;
    const Op *group; /* NULL: all do it */
} MemorySearch;

static MemoryUse *memory_use(Run *run, const void *memory, const Op *group)
{
    MemoryUse *use = map_get(&run->users, memory);
    if (!use) {
        use = arena_new_of(run->arena, MemoryUse);
        use->first = group;
        map_set(run->arena, &run->users, memory, use);
    }
    use->several |=
        !group || !use->first || !group_is_same(group_threads(use->first), group_threads(group));
    return use;
}

/* Written by one group, or by one copy of all, which groups then read. */
static void note_shared(Run *run, const Op *op, const Value *tile, const Op *group)
{
    MemoryUse *use = memory_use(run, shared_root(tile)->results, group);
    if (is_copy(run, op) && !group) {
        run->fits &= !use->copied && !use->set && !use->read;
        use->copied = true;
        vec_push(run->arena, &run->copies, op);
        return;
    }
    use->set |= !shared_is_only_read(op);
    use->read |= shared_is_only_read(op);
    run->fits &= use->copied ? group && !use->set : !(use->set && use->several);
}

/* Stores of two groups must not meet, and nobody reads what another group writes. */
static void note_parameter(Run *run, Op *op, const Value *view, const Op *group)
{
    const Parameter *parameter = pointer_parameter(run->kernel, operand(view->op, pointer));
    const bool writes = op_has(op, WRITES) && op->code != OP_copy;
    run->fits &= parameter != NULL;
    if (!parameter) return;
    MemoryUse *use = memory_use(run, parameter, group);
    if (writes && use->set && use->several)
        run->fits &= op->code == OP_store && use->store &&
                     access_is_apart(run->facts, (Op *)(uintptr_t)use->store, op);
    use->set |= writes;
    use->read |= !writes;
    if (writes) use->store = op->code == OP_store && !use->store ? op : NULL;
    run->fits &= !(use->several && use->set && use->read);
}

static void note_memory(Op *op, void *context)
{
    const MemorySearch *search = context;
    Run *run = search->run;
    bool known = false;
    if (!op_has(op, READS | WRITES) || op->region_count || is_variable_op(op) || is_declared(op) ||
        op->code == OP_assume || op->code == OP_var)
        return;
    for (int i = 0; i < op->operand_count; i++) {
        const Value *memory = op->operands[i];
        if (memory->type->kind == TYPE_VIEW) note_parameter(run, op, memory, search->group);
        if (memory->type->kind == TYPE_SHARED) note_shared(run, op, memory, search->group);
        known |= memory->type->kind == TYPE_VIEW || memory->type->kind == TYPE_SHARED;
    }
    run->fits &= known;
}

/* In the order of the text. */
static void find_memory(Run *run, Op *op)
{
    MemorySearch search = {run, is_group(op) ? op : NULL};
    if (search.group) {
        region_visit(op->regions[0], note_memory, &search);
        return;
    }
    note_memory(op, &search);
    for (int i = 0; i < op->region_count; i++)
        for (Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            find_memory(run, inner);
}

static void check_memory(Run *run)
{
    int64_t bytes = 0;
    if (run->room < 0) return;
    run->facts = facts_new(run->kernel);
    for (Op *op = run->first; op != run->last->next; op = op_next(op)) find_memory(run, op);
    facts_free(run->facts);
    for (size_t i = 0; i < run->copies.count; i++) {
        const Value *tile = operand(run->copies.data[i], tile);
        bytes += type_bytes(tile->type) * ((int64_t)run->groups.count - 1);
        run->fits &= is_used_only_here(run, tile) && !tile->type->layout;
    }
    run->fits &= bytes <= run->room;
}

/* ---- a group ---- */

/* What a group does of what all groups did. */
static void keep_only(const Run *run, Region *region, ThreadGroup group)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        if (is_group(op)) {
            if (group_is_same(group_threads(op), group)) region_move_before(op->regions[0], op);
            op_erase(op);
            continue;
        }
        const TileUse *use =
            op->code == OP_var_set ? map_get(&run->tiles, operand(op, variable)) : NULL;
        if (use && !group_is_same(use->group, group)) { /* which is alone in using it */
            op_erase(op);
            continue;
        }
        for (int i = 0; i < op->region_count; i++) keep_only(run, op->regions[i], group);
    }
}

static void use_other(Op *op, void *context)
{
    Value *const *change = context; /* of a variable to another one */
    if (is_variable_op(op) && operand(op, variable) == change[0])
        op_set_operand(op, operand_index(op, variable), change[1]);
}

typedef struct Seen {
    Arena *arena;
    Map variables;
} Seen;

static void note_seen(Op *op, void *context)
{
    Seen *seen = context;
    if (is_variable_op(op)) map_set(seen->arena, &seen->variables, operand(op, variable), op);
}

/* A tile that nothing else uses, and that the group sets before it reads it, is the group's own. */
static void own_tiles(const Run *run, Region *region)
{
    Seen seen = {.arena = run->arena};
    for (Op *op = region->first; op; op = op_next(op)) {
        Value *variable = op->code == OP_var_set ? operand(op, variable) : NULL;
        const bool is_first = variable && !map_has(&seen.variables, variable);
        op_visit(op, note_seen, &seen);
        if (!is_first || variable->type->content->kind != TYPE_TILE) continue;
        if (region_count_uses(region, variable) != variable->use_count) continue;
        Builder start = builder_before(op);
        Op *own = build_op(&start, OP_var, 0, NULL, 1, &variable->type);
        own->results[0].name = variable->name;
        Value *change[2] = {variable, own->results};
        region_visit(region, use_other, change);
    }
}

static Region *build_group(const Run *run, const Op *first)
{
    Map copies = {0};
    Builder at = builder_after(run->last), before = builder_before(run->first);
    for (size_t i = 0; first != run->groups.data[0] && i < run->copies.count; i++) {
        const Value *tile = operand(run->copies.data[i], tile);
        before.span = tile->op->span;
        Value *own = build_op(&before, OP_shared_alloc, 0, NULL, 1, &tile->type)->results;
        own->name = tile->name;
        map_set(run->arena, &copies, tile, own);
    }
    at.span = first->span;
    Value *inside = op_clone(&at, operand(first, condition)->op, &copies)->results;
    Op *branch = build_op(&at, OP_if, 1, &inside, 0, NULL);
    Builder members = builder_at_end(branch->regions[0], at.span),
            others = builder_at_end(branch->regions[1], at.span);
    for (Op *op = run->first; op != run->last->next; op = op_next(op))
        if (map_has(&run->going, op)) op_clone(&members, op, &copies);
    build_op(&members, OP_yield, 0, NULL, 0, NULL);
    build_op(&others, OP_yield, 0, NULL, 0, NULL);
    keep_only(run, branch->regions[0], group_threads(branch));
    return branch->regions[0];
}

static void build_groups(const Run *run)
{
    VEC(Region *) built = {0};
    for (size_t i = run->groups.count; i-- > 0;)
        vec_push(run->arena, &built, build_group(run, run->groups.data[i]));
    for (Op *op = run->last, *first = run->first, *previous; op; op = previous) {
        previous = op == first ? NULL : op->previous;
        if (map_has(&run->going, op)) op_erase(op);
    }
    for (size_t i = 0; i < built.count; i++) own_tiles(run, built.data[i]);
}

/* ---- all of a region ---- */

/* Whether the run was regrouped. */
static bool regroup_run(Run *run)
{
    if (!run->last || !run->fits || !run->repeats) return false;
    choose(run);
    check_variables(run);
    if (run->fits) check_memory(run);
    if (run->fits) build_groups(run);
    return run->fits;
}

/* A run that does not fit may do so from behind its first group on, and in its loops. */
static void regroup(Kernel *kernel, Arena *arena, Region *region, int64_t room)
{
    for (Op *op = region->first; op;) {
        Run run = find_run(kernel, arena, op, room);
        Op *end = run.end;
        if (run.last && regroup_run(&run)) {
            op = end;
            continue;
        }
        while (op != end && !has_group(op)) op = op->next;
        if (!op) return;
        for (int i = 0; i < op->region_count && !is_group(op); i++)
            regroup(kernel, arena, op->regions[i], room);
        op = op->next;
    }
}

static int64_t find_room(const Target *target, const Op *launch)
{
    const int64_t room = target->shared_bytes - COST_SHARED_MARGIN_SPLIT -
                         region_shared_bytes(launch_region(launch));
    if (region_has(launch_region(launch), OP_mbarrier_init)) return -1;
    return room > 0 ? room : 0;
}

bool pass_regroup(Kernel *kernel, PassContext *context)
{
    Arena *arena = arena_new();
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch && has_group(op))
            regroup(kernel, arena, launch_region(op), find_room(context->target, op));
    arena_free(arena);
    return true;
}
