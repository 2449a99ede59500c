/* fault_injection.c: a THREADED kernel each of whose ops that order others, and each of whose
 * predicates, can be left out by its number while it runs: whoever looks for races must find that,
 * unless nobody needed it. */
#include "ir/op_vec.h"
#include "passes/thread/fault_injection.h"

#include <string.h>

/* What an op does for others: tile_emu_role of the emulator's. */
typedef enum Role { ROLE_MEETS, ROLE_RELEASES, ROLE_COMPLETES, ROLE_SHOWS, ROLE_CONFINES } Role;

/* Ops that other ops are ordered by, and where those that are done under a condition have it. */
typedef struct Leavable {
    OpCode code;
    bool orders;
    Role role;
    int predicates[2]; /* operands; 0: none */
} Leavable;

static const Leavable leavable[] = {
    {OP_barrier, true, ROLE_MEETS, {0}},
    {OP_warp_sync, true, ROLE_MEETS, {0}},
    {OP_fence_async, true, ROLE_SHOWS, {0}},
    {OP_copy_commit, true, ROLE_COMPLETES, {0}},
    {OP_copy_wait, true, ROLE_COMPLETES, {0}},
    {OP_wgmma_wait, true, ROLE_COMPLETES, {0}},
    {OP_mbar_arrive, true, ROLE_RELEASES, {1}},
    {OP_mbar_wait, true, ROLE_MEETS, {0}},
    {OP_cp_async_arrive, true, ROLE_COMPLETES, {0}},
    {OP_tma_store_commit, true, ROLE_COMPLETES, {0}},
    {OP_tma_store_wait, true, ROLE_COMPLETES, {0}},
    {OP_cluster_arrive, true, ROLE_RELEASES, {0}},
    {OP_cluster_wait, true, ROLE_MEETS, {0}},
    {OP_grid_sync, true, ROLE_MEETS, {0}},
    {OP_mbar_expect, true, ROLE_RELEASES, {2}},
    {OP_mbar_complete, true, ROLE_RELEASES, {2}},
    {OP_mbar_init, false, ROLE_CONFINES, {1}},
    {OP_ld, false, ROLE_CONFINES, {1}},
    {OP_st, false, ROLE_CONFINES, {2}},
    {OP_ld_bits, false, ROLE_CONFINES, {2}},
    {OP_st_bits, false, ROLE_CONFINES, {3}},
    {OP_atom, false, ROLE_CONFINES, {3}},
    {OP_red, false, ROLE_CONFINES, {2}},
    {OP_cp_async, false, ROLE_CONFINES, {2, 3}},
    {OP_cp_bulk_tensor, false, ROLE_CONFINES, {3}},
    {OP_st_bulk_tensor, false, ROLE_CONFINES, {2}},
};

typedef struct Maker {
    Kernel *kernel;
    Arena *arena;
    MutantVec *out;
    const char *code;
    OpVec waits; /* for sums that are read */
    Map *fixed;  /* Value * -> bool *: whether it is the same in every call */
} Maker;

/* ---- predicates that are the same in every call ---- */

/* Whether it is made of constants and of where its thread is. What was found is kept. */
static bool is_fixed(const Maker *maker, Value *value)
{
    const bool *known = map_get(maker->fixed, value);
    if (known) return *known;
    Op *op = value->op ? value->op : value->region ? value->region->parent : NULL;
    const bool is_counter = !value->op && op && op->code == OP_for && value->index == 0;
    bool fixed = op && (value->op ? (op_info(op->code)->traits & PURE) != 0 : is_counter);
    for (int i = 0; fixed && i < (is_counter ? 3 : op->operand_count); i++)
        fixed = is_fixed(maker, op->operands[i]);
    bool *kept = arena_new_array(maker->arena, bool, 1);
    *kept = fixed;
    map_set(maker->arena, maker->fixed, value, kept);
    return fixed;
}

/* Whether the same threads come to it in every call. */
static bool is_always_met(const Maker *maker, const Op *op)
{
    for (; op->parent && op->parent->parent; op = op->parent->parent) {
        const Op *around = op->parent->parent;
        const bool known =
            around->code == OP_launch || around->code == OP_for || around->code == OP_if;
        for (int i = 0; i < (around->code == OP_if ? 1 : 3); i++)
            if (!known || !is_fixed(maker, around->operands[i])) return false;
    }
    return true;
}

/* ---- marks ---- */

/* True, too, where `holds` is given and does. */
static Value *build_fault(const Maker *maker, Builder *builder, const Op *op, Value *holds,
                          const char *what, Role role)
{
    const Type *type = type_scalar(maker->kernel->types, DTYPE_b1);
    Op *asks = build_op(builder, OP_fault_injected, holds ? 1 : 0, &holds, 1, &type);
    const Mutant mutant = {.kernel = maker->kernel->name,
                           .code = maker->code,
                           .span = op->span,
                           .what = what,
                           .is_predicate = holds != NULL,
                           .is_fixed = holds && is_fixed(maker, holds) && is_always_met(maker, op)};
    vec_push(maker->arena, maker->out, mutant);
    op_set_int(asks, ATTR_index, (int64_t)maker->out->count);
    op_set_int(asks, ATTR_role, role);
    return &asks->results[0];
}

/* ---- sums of the matrix unit ---- */

/* Whether somebody reads sums that this wait alone waits for. */
static bool is_waited_for(const Maker *maker, Op *wait)
{
    InFlightSums early = {.arena = maker->arena};
    for (int i = 0; i < wait->result_count; i++) in_flight_add(&early, &wait->results[i]);
    return in_flight_reader(&early, maker->kernel->host) != NULL;
}

static void find_waits(Op *op, void *context)
{
    Maker *maker = context;
    if (op->code == OP_wgmma_wait && is_waited_for(maker, op))
        vec_push(maker->arena, &maker->waits, op);
}

static bool has_readers(const Maker *maker, const Op *op)
{
    for (size_t i = 0; i < maker->waits.count; i++)
        if (maker->waits.data[i] == op) return true;
    return false;
}

/* ---- ops and predicates ---- */

static Value **results_of(const Maker *maker, Op *op)
{
    Value **results = arena_new_array(maker->arena, Value *, op->result_count + 1);
    for (int i = 0; i < op->result_count; i++) results[i] = &op->results[i];
    return results;
}

/* A wait hands its operands on. */
static void leave_op(const Maker *maker, Op *op, Role role)
{
    const int count = op->result_count;
    const Type **types = arena_new_array(maker->arena, const Type *, count + 1);
    Value **results = results_of(maker, op);
    Value *const *handed = op->operands;
    for (int i = 0; i < count; i++) types[i] = results[i]->type;
    Builder at = builder_before(op);
    const Attr *why = op_attr(op, ATTR_text);
    const char *name = op_info(op->code)->name,
               *what = why ? arena_printf(maker->arena, "%s (%s)", name, why->text) : name;
    Value *injected = build_fault(maker, &at, op, NULL, what, role);
    Op *branch = build_op(&at, OP_if, 1, &injected, count, types);
    Map map = {0};
    for (int i = 0; i < count; i++) map_set(maker->arena, &map, results[i], &branch->results[i]);
    if (count) region_replace(maker->kernel->host, &map);
    Builder without = builder_at_end(branch->regions[0], op->span),
            with = builder_at_end(branch->regions[1], op->span);
    if (has_readers(maker, op)) {
        Op *early = build_op(&without, OP_wgmma_in_flight, count, op->operands, count, types);
        op_set_int(early, ATTR_count, op_int(op, ATTR_count, 0));
        handed = results_of(maker, early);
    }
    build_op(&without, OP_yield, count, handed, 0, NULL);
    op_move_before(op, build_op(&with, OP_yield, count, results, 0, NULL));
}

static void leave_predicate(const Maker *maker, Op *op, int operand)
{
    int64_t known;
    if (!operand || operand >= op->operand_count || value_constant(op->operands[operand], &known))
        return;
    Builder at = builder_before(op);
    const char *what = arena_printf(maker->arena, "predicate of %s", op_info(op->code)->name);
    op_set_operand(op, operand,
                   build_fault(maker, &at, op, op->operands[operand], what, ROLE_CONFINES));
}

static void look(Op *op, void *context)
{
    const Maker *maker = context;
    for (size_t i = 0; i < sizeof leavable / sizeof *leavable; i++) {
        if (op->code != leavable[i].code) continue;
        for (int j = 0; j < 2; j++) leave_predicate(maker, op, leavable[i].predicates[j]);
        if (leavable[i].orders) leave_op(maker, op, leavable[i].role);
    }
}

/* FNV-1a of all but what says where an op stands: the same code in another folder, or further down,
 * is the same. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261U;
    for (; *text; text++) {
        if (strncmp(text, " # ", 3) == 0) text += strcspn(text, "\n");
        if (!*text) break;
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    }
    return hash;
}

void mutants_make(Kernel *kernel, const char *code, Arena *arena, MutantVec *out)
{
    Map fixed = {0};
    Maker maker = {.kernel = kernel,
                   .arena = arena,
                   .out = out,
                   .fixed = &fixed,
                   .code = arena_printf(arena, "%08x", hash_of(code))};
    kernel_visit(kernel, find_waits, &maker);
    kernel_visit(kernel, look, &maker);
}
