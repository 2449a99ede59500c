/* wgmma.c: a dot in shared memory as one thread's part of it: a warpgroup's rows, 64 at a
 * time, its columns, as many as an instruction has, 32 bytes of k. */
#include "ir/mma.h"
#include "passes/lower/lower.h"

enum { FIXED = 4 /* of {left} and {right} */, A_WORDS = 4 };

typedef struct Product {
    Op *op;
    int groups;        /* warpgroups, one below the other; then others beside them */
    int32_t m, k;      /* of the dot */
    int32_t n;         /* columns of a warpgroup */
    int32_t columns;   /* of an instruction */
    MmaShape shape;    /* of what a warp does of one, 8 columns at a time */
    int parts, pieces; /* of a warpgroup's rows and columns */
    int steps;         /* along k */
} Product;

static Product product_of(Op *op)
{
    const Type *a = operand(op, a)->type, *c = operand(op, c)->type;
    const int64_t *warps = op_attr(op, ATTR_dims)->integers;
    Product product = {.op = op, .groups = (int)warps[0] >> (WARPGROUP_BITS - WARP_BITS)};
    product.m = (int32_t)c->shape[0];
    product.n = (int32_t)(c->shape[1] / warps[1]);
    product.k = (int32_t)a->shape[1];
    product.shape = dot_kind(op)->shape;
    product.columns = wgmma_columns(op_attr(op, ATTR_instruction)->text);
    product.parts = product.m / WGMMA_ROWS / product.groups;
    product.pieces = product.n / product.columns;
    product.steps = product.k / product.shape.k;
    return product;
}

/* The first row of a part in the first warpgroup. */
static int32_t first_row(const Product *product, int part)
{
    return WGMMA_ROWS * product->groups * part;
}

/* ---- operands in shared memory ---- */

/* The address of the tile's first element along `dim` that is the warpgroup's: `extent` further for
 * each, counted by the bits of the thread's index from `first` on, `groups` of them. */
static Value *operand_start(Lower *lower, const Value *tile, int dim, int32_t extent, int first,
                            int groups)
{
    Value *at[LAYOUT_RANK] = {NULL};
    int32_t targets[32] = {0};
    CHECK(tile->op->code != OP_shared_view || op_int(tile->op, ATTR_aligned, 0));
    for (int bit = 0; 1 << bit < groups; bit++) targets[first + bit] = extent << bit;
    at[dim] = address_gather(lower, targets);
    if (at[dim]) at[dim] = address_uniform(lower, at[dim]);
    return shared_element(lower, tile, at);
}

static Value *left_start(Lower *lower, const Product *product)
{
    return operand_start(lower, operand(product->op, a), 0, WGMMA_ROWS, WARPGROUP_BITS,
                         product->groups);
}

static Value *right_start(Lower *lower, const Product *product)
{
    int first = WARPGROUP_BITS;
    while (1 << (first - WARPGROUP_BITS) < product->groups) first++;
    const int32_t all = (int32_t)operand(product->op, c)->type->shape[1];
    return operand_start(lower, operand(product->op, b), 1, product->n, first, all / product->n);
}

static int64_t start_of(const Type *tile, int32_t row, int32_t column)
{
    return layout_offset(tile->layout, (int32_t[]){row, column}) * dtype_bytes(tile->dtype);
}

static void describe(WgmmaLayout layout, int64_t *out)
{
    CHECK(layout.possible);
    out[0] = layout.swizzle;
    out[1] = layout.leading;
    out[2] = layout.stride;
    out[3] = layout.transposed;
}

static void describe_left(Lower *lower, const Product *product, Op *wgmma)
{
    const Type *tile = operand(product->op, a)->type;
    int count = FIXED;
    int64_t *text = arena_new_array(lower->arena, int64_t, FIXED + product->parts * product->steps);
    describe(layout_wgmma(tile->layout, 1, WGMMA_ROWS, dtype_bits(tile->dtype)), text);
    for (int part = 0; part < product->parts; part++)
        for (int32_t k = 0; k < product->k; k += product->shape.k)
            text[count++] = start_of(tile, first_row(product, part), k);
    op_set_ints(wgmma, ATTR_left, count, text);
}

static void describe_right(Lower *lower, const Product *product, Op *wgmma)
{
    const Type *tile = operand(product->op, b)->type;
    int count = FIXED;
    int64_t *text =
        arena_new_array(lower->arena, int64_t, FIXED + product->steps * product->pieces);
    describe(layout_wgmma(tile->layout, 0, product->columns, dtype_bits(tile->dtype)), text);
    for (int32_t k = 0; k < product->k; k += product->shape.k)
        for (int32_t column = 0; column < product->n; column += product->columns)
            text[count++] = start_of(tile, k, column);
    op_set_ints(wgmma, ATTR_right, count, text);
}

/* ---- operands in registers ---- */

/* A part's words by k, 4 an instruction: two halves of k for each 8 rows, rows first. */
static int pack_left(Lower *lower, const Product *product, Value **out)
{
    const Value *a = operand(product->op, a);
    const int word = REGISTER_BITS / product->shape.element_bits;
    const RegisterIndex index = register_index(lower, a->type->layout);
    Value **registers = lower_tile(lower, a);
    int count = 0;
    for (int part = 0; part < product->parts; part++)
        for (int32_t k = 0; k < product->k; k += product->shape.k / 2)
            for (int32_t eight = 0; eight < 16; eight += 8)
                out[count++] = memory_pack(
                    lower, word,
                    registers + register_of(&index, first_row(product, part) + eight, k));
    return count;
}

/* The registers of c in the instruction's order: pairs along n, for each 8 rows. */
static int collect_sums(Lower *lower, const Product *product, int *out)
{
    const RegisterIndex index = register_index(lower, product->op->results[0].type->layout);
    int count = 0;
    for (int part = 0; part < product->parts; part++)
        for (int32_t column = 0; column < product->n; column += 8)
            for (int i = 0; i < 4; i++)
                out[count++] =
                    register_of(&index, first_row(product, part) + i / 2 * 8, column + i % 2);
    return count;
}

void lower_dot_shared(Lower *lower, Op *op)
{
    const Product product = product_of(op);
    const bool from_registers = operand(op, a)->type->kind == TYPE_TILE;
    const int sums = product.parts * product.n / 2;
    const int words = from_registers ? product.parts * product.steps * A_WORDS : 1;
    Value **operands = arena_new_array(lower->arena, Value *, words + 1 + sums),
          **c = lower_tile(lower, operand(op, c)),
          **results = lower_new_tile(lower, &op->results[0]);
    const Type **types = arena_new_array(lower->arena, const Type *, sums);
    int *registers = arena_new_array(lower->arena, int, sums);
    CHECK(collect_sums(lower, &product, registers) == sums &&
          layout_registers(op->results[0].type->layout) == sums);
    if (from_registers)
        CHECK(pack_left(lower, &product, operands) == words);
    else
        operands[0] = left_start(lower, &product);
    operands[words] = right_start(lower, &product);
    for (int i = 0; i < sums; i++) {
        operands[words + 1 + i] = c[registers[i]];
        types[i] = c[registers[i]]->type;
    }
    Op *wgmma = build_op(&lower->at, OP_wgmma, words + 1 + sums, operands, sums, types);
    op_set_text(wgmma, ATTR_instruction, op_attr(op, ATTR_instruction)->text);
    op_set_ints(wgmma, ATTR_dims, 3, (int64_t[]){product.parts, product.pieces, product.steps});
    if (op_int(op, ATTR_async, 0)) op_set_int(wgmma, ATTR_async, 1);
    if (op_int(op, ATTR_joined, 0)) op_set_int(wgmma, ATTR_joined, 1);
    if (!from_registers) describe_left(lower, &product, wgmma);
    describe_right(lower, &product, wgmma);
    for (int i = 0; i < sums; i++) results[registers[i]] = &wgmma->results[i];
}

void lower_dot_commit(Lower *lower, Op *op)
{
    (void)op;
    if (target_has(lower->target, HAS_WGMMA)) build_op(&lower->at, OP_dot_commit, 0, NULL, 0, NULL);
}

void lower_dot_wait(Lower *lower, Op *op)
{
    for (int i = 0; i < op->operand_count && !target_has(lower->target, HAS_WGMMA); i++) {
        Value **sums = lower_tile(lower, op->operands[i]),
              **results = lower_new_tile(lower, &op->results[i]);
        for (int reg = 0; reg < layout_registers(op->operands[i]->type->layout); reg++)
            results[reg] = sums[reg]; /* done long since */
    }
    if (!target_has(lower->target, HAS_WGMMA)) return;
    VEC(Value *) sums = {0};
    VEC(const Type *) types = {0};
    for (int i = 0; i < op->operand_count; i++)
        for (int reg = 0; reg < layout_registers(op->operands[i]->type->layout); reg++) {
            Value *sum = lower_tile(lower, op->operands[i])[reg];
            vec_push(lower->arena, &sums, sum);
            vec_push(lower->arena, &types, sum->type);
        }
    Op *wait = build_op(&lower->at, OP_wgmma_wait, (int)sums.count, sums.data, (int)types.count,
                        types.data);
    op_set_int(wait, ATTR_count, op_int(op, ATTR_count, 0));
    for (int i = 0, at = 0; i < op->result_count; i++) {
        Value **results = lower_new_tile(lower, &op->results[i]);
        for (int reg = 0; reg < layout_registers(op->results[i].type->layout); reg++)
            results[reg] = &wait->results[at++];
    }
}
