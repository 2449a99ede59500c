/* fault_injection.c: a THREADED kernel each of whose ops that order others, and each of whose
 * predicates, can be left out by its number while it runs: whoever looks for races must find that,
 * unless nobody needed it. */
#include "ir/op_vec.h"
#include "passes/thread/fault_injection.h"

#include <string.h>

/* What an op does for others: tile_emu_role of the emulator's. */
typedef enum Role {
    ROLE_MEETS,
    ROLE_RELEASES,
    ROLE_COMPLETES,
    ROLE_SHOWS,
    ROLE_CONFINES,
    ROLE_GIVES
} Role;

/* Ops that other ops are ordered by have one of these traits. */
static const struct {
    OpTrait trait;
    Role role;
} roles[] = {{MEETS, ROLE_MEETS},
             {RELEASES, ROLE_RELEASES},
             {COMPLETES, ROLE_COMPLETES},
             {SHOWS, ROLE_SHOWS}};

/* Operands without which an op is done, or not, as a condition says. */
static const OperandName predicates[] = {OPERAND_inside, OPERAND_active, OPERAND_predicate};

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
    bool fixed = op && (value->op ? op_has(op, PURE) : is_counter);
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
static bool is_waited_for(const Op *op, const void *context)
{
    const Maker *maker = context;
    InFlightSums early = {.arena = maker->arena};
    for (int i = 0; i < op->result_count; i++) in_flight_add(&early, &op->results[i]);
    return op->code == OP_wgmma_wait && in_flight_reader(&early, maker->kernel->host) != NULL;
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

static void leave_predicate(const Maker *maker, Op *op, OperandName name)
{
    int64_t known;
    Value *predicate = op_operand_given(op, name);
    if (!predicate || value_constant(predicate, &known)) return;
    Builder at = builder_before(op);
    const char *what = arena_printf(maker->arena, "predicate of %s", op_info(op->code)->name);
    op_set_operand(op, op_operand_index(op->code, name),
                   build_fault(maker, &at, op, predicate, what, ROLE_CONFINES));
}

/* Who takes more waits for what others give. */
static bool gives_registers(const Op *op)
{
    return op->code == OP_setmaxnreg && strcmp(op_attr(op, ATTR_mode)->text, "dec") == 0;
}

static void look(Op *op, void *context)
{
    const Maker *maker = context;
    if (gives_registers(op)) leave_op(maker, op, ROLE_GIVES);
    for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++)
        leave_predicate(maker, op, predicates[i]);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (op_has(op, roles[i].trait)) leave_op(maker, op, roles[i].role);
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
    maker.waits = region_list(maker.arena, kernel->host, is_waited_for, &maker);
    kernel_visit(kernel, look, &maker);
}
