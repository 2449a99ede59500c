/* fma.c: dot by multiplying and adding, k after k, of operands in registers or read in shared
 * memory as they are needed. */
#include "passes/lower/lower.h"

typedef struct Operand {
    RegisterIndex index;
    int outer;       /* its dimension that is not k */
    int32_t run;     /* how many of k one read brings */
    int32_t *others; /* the coordinates of a thread along `outer` */
    int count;
    Value **registers;    /* NULL: to be read, */
    SharedReader *reader; /* or of another type, to be cast, once each */
    Value **cast;
} Operand;

/* Whether k or the other dimension lies side by side in a thread: what makes the longer reads. */
static const Layout *slices_layout(const Lower *lower, const Type *tile, const Layout *c, int outer,
                                   int limit, int32_t *run)
{
    LayoutTable *table = lower->kernel->layouts;
    const int32_t k = (int32_t)tile->shape[1 - outer];
    const Layout *along = layout_fma_operand(table, c, k, outer, true),
                 *across = layout_fma_operand(table, c, k, outer, false);
    const int long_run = layout_shared_vector(along, tile->layout, limit);
    *run = long_run > layout_shared_vector(across, tile->layout, limit) ? long_run : 1;
    return *run > 1 ? along : across;
}

/* The thread's rows or columns, each once. */
static void find_others(Lower *lower, const Layout *c, Operand *operand)
{
    const int all = layout_registers(c);
    operand->others = arena_new_array(lower->arena, int32_t, all);
    for (int reg = 0; reg < all; reg++) {
        int32_t at[LAYOUT_RANK];
        bool found = false;
        layout_coordinates(c, reg, 0, 0, at);
        for (int i = 0; i < operand->count; i++) found |= operand->others[i] == at[operand->outer];
        if (!found) operand->others[operand->count++] = at[operand->outer];
    }
}

/* What is read has so many bits at a time at most. */
static Operand operand_of(Lower *lower, const Op *dot, DotOperand number, int bits)
{
    const Value *value = operand_list(dot, a)[number];
    const bool is_shared = value->type->kind == TYPE_SHARED;
    const Layout *c = dot->results[0].type->layout;
    const int most = bits / dtype_memory_bits(value->type->dtype);
    Operand operand = {.outer = number, .run = 1};
    const Layout *layout = is_shared
                               ? slices_layout(lower, value->type, c, number, most, &operand.run)
                               : value->type->layout;
    operand.index = register_index(lower, layout);
    find_others(lower, c, &operand);
    if (is_shared)
        operand.reader = shared_reader(lower, value, layout, most);
    else
        operand.registers = lower_tile(lower, value);
    operand.cast = arena_new_array(lower->arena, Value *, layout_registers(layout));
    return operand;
}

static Value *operand_at(Lower *lower, Operand *operand, int32_t row, int32_t column, DType dtype)
{
    const int reg = register_of(&operand->index, row, column);
    if (!operand->cast[reg])
        operand->cast[reg] =
            build_cast(&lower->at, dtype,
                       operand->reader ? shared_reader_at(lower, operand->reader, reg)
                                       : operand->registers[reg]);
    return operand->cast[reg];
}

static Value *multiply_add(Lower *lower, Value *a, Value *b, Value *sum)
{
    const Type *type = sum->type;
    if (dtype_is_float(type->dtype))
        return lower_build(lower, OP_fma, 3, (Value *[]){a, b, sum}, type);
    Value *product = lower_build(lower, OP_mul, 2, (Value *[]){a, b}, type);
    return lower_build(lower, OP_add, 2, (Value *[]){sum, product}, type);
}

/* Every `step`th of the thread's elements at this k, from `first` on. */
static void read_at(Lower *lower, Operand *operand, int32_t k, int first, int step, DType dtype)
{
    for (int i = first; i < operand->count; i += step) {
        const int32_t other = operand->others[i];
        operand_at(lower, operand, operand->outer ? k : other, operand->outer ? other : k, dtype);
    }
}

/* Part of what the next run of k needs, so that all of it is there when that begins. */
static void read_ahead(Lower *lower, Operand *operand, int32_t k, int32_t depth, DType dtype)
{
    const int32_t run = operand->run;
    if (k == 0) read_at(lower, operand, 0, 0, 1, dtype);
    if (k + run < depth) read_at(lower, operand, k + run, k % run, run, dtype);
}

/* Twice what a run of k needs of both, beside the sums. */
static bool has_room(const Operand *a, const Operand *b, int sums, DType dtype)
{
    return (sums + 2 * (a->count * a->run + b->count * b->run)) * dtype_bits(dtype) <=
           REGISTER_BITS * COST_FMA_REGISTERS;
}

/* ---- copies to other stages, meanwhile ---- */

typedef struct Copies {
    VEC(Op *) begun; /* the latest first */
    Op *commit;
} Copies;

/* The copies that this thread has begun since it last waited for anything, as one group. Narrow
 * ones are too many: each would keep its address in registers meanwhile. */
static Copies find_copies(Lower *lower)
{
    Copies copies = {0};
    for (Op *op = lower->at.region->last; op; op = op->previous) {
        if (op->code == OP_copy_commit && !copies.commit)
            copies.commit = op;
        else if (op->code == OP_cp_async && copies.commit &&
                 op_int(op, ATTR_bytes, 0) == ACCESS_BYTES)
            vec_push(lower->arena, &copies.begun, op);
        else if (op->code == OP_cp_async)
            return (Copies){0};
        else if (op_has(op, WRITES | COOP))
            break;
    }
    return copies;
}

/* A copy lands at any time until it is waited for, so it may as well begin later: spread over the
 * products, copies don't keep the first reads of the operands waiting. */
static void spread_copies(const Copies *copies, Op *const *ends, int32_t depth)
{
    const int32_t count = (int32_t)copies->begun.count;
    if (!count || depth < 2) return;
    for (int32_t i = 0; i < count; i++) {
        const int32_t k = (count - i) * (depth - 1) / (count + 1);
        op_move_before(copies->begun.data[i], ends[k]->next);
    }
    op_move_before(copies->commit, ends[depth - 1]);
}

/* ---- the op ---- */

/* The sums row after row, every other row backwards: then each product has an element of a or b
 * with the one before it, and reads fewer registers. */
static int *traversal_of(Lower *lower, const Layout *layout, const Operand *a, const Operand *b)
{
    const int all = layout_registers(layout);
    int *traversal = arena_new_array(lower->arena, int, all);
    int32_t(*at)[LAYOUT_RANK] = arena_alloc(lower->arena, sizeof *at * (size_t)all);
    for (int reg = 0; reg < all; reg++) layout_coordinates(layout, reg, 0, 0, at[reg]);
    for (int i = 0, count = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++) {
            const int32_t row = a->others[i], column = b->others[i % 2 ? b->count - 1 - j : j];
            for (int reg = 0; reg < all; reg++)
                if (at[reg][0] == row && at[reg][1] == column) traversal[count++] = reg;
        }
    return traversal;
}

/* As many bits as a thread has the registers for, where each of its rows and columns is read along
 * k, and each element then has a register: a word at least. */
static int bits_at_a_time(Lower *lower, const Op *op)
{
    const Layout *c = op->results[0].type->layout;
    const int sums = layout_registers(c) * dtype_bits(op->results[0].type->dtype) / REGISTER_BITS;
    const int element = dtype_memory_bits(operand(op, a)->type->dtype);
    int bits = ACCESS_BYTES * 8, lines = 0;
    for (int o = 0; o < 2; o++) {
        Operand operand = {.outer = o};
        find_others(lower, c, &operand);
        lines += operand.count;
    }
    while (bits > REGISTER_BITS && sums + lines * bits / element > COST_FMA_REGISTERS_WORDS)
        bits /= 2;
    return bits;
}

/* Whether both operands are of less than words: longer ones are read by the element as well. */
static bool are_narrow(const Op *op)
{
    return dtype_memory_bits(operand(op, a)->type->dtype) < REGISTER_BITS &&
           dtype_memory_bits(operand(op, b)->type->dtype) < REGISTER_BITS;
}

/* Of words, as many as one read has, but where registers spill for that: then two elements. */
static int bits_of_words(Lower *lower, const Op *op)
{
    const int element = dtype_memory_bits(operand(op, a)->type->dtype), most = ACCESS_BYTES * 8;
    lower->kernel->uses |= MAY_READ_EARLY;
    return target_has(lower->target, MAY_READ_EARLY) || 2 * element > most ? most : 2 * element;
}

void lower_dot_fma(Lower *lower, Op *op)
{
    Value **c = lower_tile(lower, operand(op, c)),
          **results = lower_new_tile(lower, &op->results[0]);
    const Layout *layout = op->results[0].type->layout;
    const DType dtype = op->results[0].type->dtype;
    const int count = layout_registers(layout);
    const int32_t depth = (int32_t)operand(op, a)->type->shape[1];
    const int bits = are_narrow(op) ? bits_at_a_time(lower, op) : bits_of_words(lower, op);
    Operand a = operand_of(lower, op, DOT_A, bits), b = operand_of(lower, op, DOT_B, bits);
    const Copies copies = find_copies(lower);
    Op **ends = arena_new_array(lower->arena, Op *, depth); /* the last of each k */
    const int *traversal = traversal_of(lower, layout, &a, &b);
    CHECK(operand(op, c)->type->layout == layout);
    for (int reg = 0; reg < count; reg++) results[reg] = c[reg];
    const bool ahead = a.reader && b.reader && has_room(&a, &b, count, dtype);
    for (int32_t k = 0; k < depth; k++) {
        if (ahead) read_ahead(lower, &a, k, depth, dtype);
        if (ahead) read_ahead(lower, &b, k, depth, dtype);
        for (int i = 0; i < count; i++) {
            const int reg = traversal[i];
            int32_t at[LAYOUT_RANK];
            layout_coordinates(layout, reg, 0, 0, at);
            results[reg] = multiply_add(lower, operand_at(lower, &a, at[0], k, dtype),
                                        operand_at(lower, &b, k, at[1], dtype), results[reg]);
        }
        ends[k] = results[traversal[count - 1]]->op;
    }
    if (a.reader && b.reader) spread_copies(&copies, ends, depth);
}
