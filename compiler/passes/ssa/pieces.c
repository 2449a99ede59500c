/* pieces.c: tiles whose elements have nothing to do with each other go to more blocks, a piece
 * each; needs and leaves a TYPED kernel in SSA.
 *
 * Where a block only reads a tile of so many elements from its place in memory on, computes, and
 * writes there, its size is the author's way of writing, not what memory is quickest with: that is
 * 16 bytes a thread, with which blocks begin and end all the time. The pass looks for launches in
 * which the block's index is used for those places alone. It takes those that say {agree}: where
 * authors choose how many threads share a tile, they mean it. */
#include "ir/group.h"
#include "passes/analysis/access.h"

typedef struct Pass {
    Kernel *kernel;
    Op *launch;
    Value *block;     /* its index */
    Op *start;        /* block * elements, where all accesses are */
    const Type *tile; /* NULL: none was met */
    int bits;         /* of the smallest element that is read or written */
    bool reads, writes;
} Pass;

static bool is_start(const Pass *pass, const Op *op)
{
    int64_t known;
    return op && op->code == OP_mul && value_uncast(operand(op, a)) == pass->block &&
           value_constant(operand(op, b), &known) && pass->tile && known == pass->tile->shape[0];
}

/* One tile's shape for all. */
static bool has_shape(Pass *pass, const Type *tile)
{
    if (tile->rank != 1 || (pass->tile && !type_same_shape(tile, pass->tile))) return false;
    pass->tile = tile;
    return true;
}

static bool is_access(Pass *pass, Op *op)
{
    const Value *view = operand(op, view);
    const bool stores = op_has(op, STORES);
    const Type *tile = stores ? operand(op, value)->type : op->results[0].type;
    if (view->type->rank != 1 || !has_shape(pass, tile)) return false;
    Op *start = operand(op, offsets)->op;
    if (!is_start(pass, start) || (pass->start && start != pass->start)) return false;
    pass->start = start;
    const int bits = dtype_memory_bits(view->type->dtype);
    if (!pass->bits || bits < pass->bits) pass->bits = bits;
    pass->writes |= stores;
    pass->reads |= !stores;
    return true;
}

/* Of the block's index nothing is made but the place. */
static bool knows_no_block(const Pass *pass, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (value_uncast(op->operands[i]) == pass->block && op->code != OP_mul &&
            value_uncast(op->results) != pass->block)
            return false;
    return !op_has(op, INDEX);
}

static bool takes_part(Pass *pass, Op *op)
{
    if (op_is_access(op)) return is_access(pass, op);
    if (!op_has(op, PURE) || op_has(op, COOP) || op->region_count || op->result_count != 1)
        return false;
    if (op->code == OP_block_idx) {
        if (pass->block || op_int(op, ATTR_dim, 0) != 0) return false;
        pass->block = op->results;
        return true;
    }
    if (!knows_no_block(pass, op)) return false;
    if (op->results[0].type->kind != TYPE_TILE) return true;
    return (op_has(op, ELEMENTWISE) || op->code == OP_splat) &&
           has_shape(pass, op->results[0].type);
}

/* Each product with the block's index is the place. */
static bool is_for_starts(const Pass *pass)
{
    for (const Op *op = launch_region(pass->launch)->first; op; op = op_next(op)) {
        if (op == pass->start) continue;
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i] == pass->start->results && !op_is_access(op)) return false;
            if (op->code == OP_mul && value_uncast(op->operands[i]) == pass->block) return false;
        }
    }
    return true;
}

static bool matches(Pass *pass)
{
    if (!launch_is_plain(pass->launch)) return false;
    for (Op *op = launch_region(pass->launch)->first; op; op = op_next(op))
        if (!takes_part(pass, op)) return false;
    return pass->reads && pass->writes && is_for_starts(pass);
}

static void cut(Pass *pass, int64_t pieces)
{
    Kernel *kernel = pass->kernel;
    const int64_t size = pass->tile->shape[0] / pieces;
    kernel_remark(kernel, pass->launch->span,
                  "%lld blocks share a tile, whose elements have nothing to do with each other",
                  (long long)pieces);
    Builder host = builder_before(pass->launch), at = builder_before(pass->start);
    Value *grid = operand(pass->launch, x);
    if (dtype_bits(grid->type->dtype) < 32) grid = build_cast(&host, DTYPE_i32, grid);
    op_set_operand(pass->launch, operand_index(pass->launch, x),
                   build2(&host, OP_mul, grid, build_const(&host, grid->type->dtype, pieces)));
    op_set_operand(pass->start, operand_index(pass->start, b),
                   build_const(&at, operand(pass->start, b)->type->dtype, size));
    for (Op *op = launch_region(pass->launch)->first; op; op = op_next(op))
        if (op->result_count && op->results[0].type->kind == TYPE_TILE)
            op->results[0].type =
                type_tile(kernel->types, op->results[0].type->dtype, 1, &size, NULL);
}

bool pass_pieces(Kernel *kernel, PassContext *context)
{
    enum { BYTE = 8 };
    (void)context;
    for (Op *op = kernel->host->first; op; op = op->next) {
        Pass pass = {.kernel = kernel, .launch = op};
        if (op->code != OP_launch || !op_int(op, ATTR_agree, 0) || !matches(&pass)) continue;
        const int64_t vector = ACCESS_BYTES * BYTE / pass.bits,
                      size = launch_threads(op).count * vector;
        if (pass.tile->shape[0] > size && pass.tile->shape[0] % size == 0)
            cut(&pass, pass.tile->shape[0] / size);
    }
    return true;
}
