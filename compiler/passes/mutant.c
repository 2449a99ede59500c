/* mutant.c: a THREADED kernel each of whose ops that order others, and each of whose predicates,
 * can be left out by its number while it runs: whoever looks for races must find that, unless
 * nobody needed it. */
#include "passes/passes.h"

/* Ops that other ops are ordered by, and where those that are done under a condition have it. */
typedef struct Leavable {
    OpCode code;
    bool orders;
    int predicates[2]; /* operands; 0: none */
} Leavable;

static const Leavable leavable[] = {
    {OP_barrier, true, {0}},
    {OP_warp_sync, true, {0}},
    {OP_fence_async, true, {0}},
    {OP_copy_commit, true, {0}},
    {OP_copy_wait, true, {0}},
    {OP_wgmma_wait, true, {0}},
    {OP_mbarrier_arrive, true, {1}},
    {OP_mbarrier_wait, true, {0}},
    {OP_cp_async_arrive, true, {0}},
    {OP_tensor_commit, true, {0}},
    {OP_tensor_wait, true, {0}},
    {OP_cluster_arrive, true, {0}},
    {OP_cluster_wait, true, {0}},
    {OP_grid_sync, true, {0}},
    {OP_mbarrier_expect, true, {2}},
    {OP_mbarrier_complete, true, {2}},
    {OP_mbarrier_init, false, {1}},
    {OP_ld, false, {1}},
    {OP_st, false, {2}},
    {OP_ld_bits, false, {2}},
    {OP_st_bits, false, {3}},
    {OP_atom, false, {3}},
    {OP_cp_async, false, {2, 3}},
    {OP_cp_tensor, false, {3}},
    {OP_st_tensor, false, {2}},
};

typedef struct Maker {
    Kernel *kernel;
    Arena *arena;
    MutantVec *out;
    const char *code;
} Maker;

/* True, too, where `holds` is given and does. */
static Value *build_left_out(const Maker *maker, Builder *builder, const Op *op, Value *holds,
                             const char *what)
{
    const Type *type = type_scalar(maker->kernel->types, DTYPE_b1);
    Op *asks = build_op(builder, OP_left_out, holds ? 1 : 0, &holds, 1, &type);
    const Mutant mutant = {maker->kernel->name, maker->code, op->span, what};
    vec_push(maker->arena, maker->out, mutant);
    op_set_int(asks, ATTR_index, (int64_t)maker->out->count);
    return &asks->results[0];
}

/* A wait hands its operands on. */
static void leave_op(const Maker *maker, Op *op)
{
    const int count = op->result_count;
    const Type **types = arena_new_array(maker->arena, const Type *, count + 1);
    Value **results = arena_new_array(maker->arena, Value *, count + 1);
    for (int i = 0; i < count; i++) {
        results[i] = &op->results[i];
        types[i] = results[i]->type;
    }
    Builder at = builder_before(op);
    Value *left_out = build_left_out(maker, &at, op, NULL, op_info(op->code)->name);
    Op *branch = build_op(&at, OP_if, 1, &left_out, count, types);
    Map map = {0};
    for (int i = 0; i < count; i++) map_set(maker->arena, &map, results[i], &branch->results[i]);
    if (count) region_replace(maker->kernel->host, &map);
    Builder without = builder_at_end(branch->regions[0], op->span),
            with = builder_at_end(branch->regions[1], op->span);
    build_op(&without, OP_yield, count, op->operands, 0, NULL);
    op_move_before(op, build_op(&with, OP_yield, count, results, 0, NULL));
}

static void leave_predicate(const Maker *maker, Op *op, int operand)
{
    int64_t known;
    if (!operand || operand >= op->operand_count || value_constant(op->operands[operand], &known))
        return;
    Builder at = builder_before(op);
    const char *what = arena_printf(maker->arena, "predicate of %s", op_info(op->code)->name);
    op->operands[operand] = build_left_out(maker, &at, op, op->operands[operand], what);
}

static void look(Op *op, void *context)
{
    const Maker *maker = context;
    for (size_t i = 0; i < sizeof leavable / sizeof *leavable; i++) {
        if (op->code != leavable[i].code) continue;
        for (int j = 0; j < 2; j++) leave_predicate(maker, op, leavable[i].predicates[j]);
        if (leavable[i].orders) leave_op(maker, op);
    }
}

/* FNV-1a. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261U;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash;
}

void mutants_make(Kernel *kernel, const char *code, Arena *arena, MutantVec *out)
{
    Maker maker = {kernel, arena, out, arena_printf(arena, "%08x", hash_of(code))};
    kernel_visit(kernel, look, &maker);
}
