/* wgmma.c: products that the tensor core of sm_90a reads from shared memory: which dots can be
 * such, and what becomes of them.
 *
 * Warps lie along m, 16 rows each, 64 a warpgroup, then warpgroups along n; b, and a unless it
 * comes from registers, must be what a shared tile holds when the dot runs. The tile gets the
 * layout that the tensor core reads.
 */
#include "passes/analysis/access.h"
#include "passes/layout/matrix.h"

#include <string.h>

/* A matrix of a shared tile: dimension i is the tile's dims[i]. */
typedef struct Matrix {
    InPlace place; /* no tile: it is in registers */
    Op *alloc;
    const Layout *layout;
} Matrix;

/* ---- operands ---- */

static bool starts_whole(const Op *view, int64_t dim, int64_t extent)
{
    return operand(view, tile)->type->shape[dim] == extent &&
           value_is_constant(operand_list(view, offsets)[dim], 0);
}

/* Follows parts up to the tile; false where one is not made of whole matrices. */
static bool is_whole(const Matrix *matrix, int64_t dims[2])
{
    const Value *at = matrix->place.tile;
    for (dims[0] = 0, dims[1] = 1; at->op->code == OP_shared_view; at = operand(at->op, tile)) {
        const Attr *view = op_attr(at->op, ATTR_dims);
        for (int i = 0; i < 2; i++) {
            const int64_t extent = at->type->shape[dims[i]];
            dims[i] = view->integers[dims[i]];
            if (!starts_whole(at->op, dims[i], extent)) return false;
        }
    }
    return dims[0] + dims[1] == 2 * at->type->rank - 3;
}

static void shape_of(const Type *type, int first, int32_t *out)
{
    for (int d = first; d < type->rank; d++) out[d - first] = (int32_t)type->shape[d];
}

static const Layout *swapped_if(const Kernel *kernel, bool swapped, const Layout *layout)
{
    return swapped && layout ? layout_transpose(kernel->layouts, layout, (int[]){1, 0}) : layout;
}

/* A whole matrix, of a tile that may have several. */
static const Layout *matrix_layout(const Kernel *kernel, const Type *tile, const int64_t dims[2])
{
    int32_t shape[LAYOUT_RANK];
    shape_of(tile, tile->rank - 2, shape);
    return swapped_if(kernel, dims[0] > dims[1],
                      layout_panels(kernel->layouts, 2, shape, dtype_bits(tile->dtype)));
}

/* How a part of a tile lies that will have the layout `whole`; NULL: not by itself. */
static const Layout *part_of(const Kernel *kernel, FactTable *facts, const Value *tile,
                             const Layout *whole)
{
    if (tile->op->code != OP_shared_view) return whole;
    whole = part_of(kernel, facts, operand(tile->op, tile), whole);
    return whole ? shared_part_layout(kernel->layouts, facts, tile->op, whole) : NULL;
}

/* Some of a tile's rows, or of its panels of columns: one block, so that it begins as one does. */
static const Layout *part_layout(const Kernel *kernel, const Value *part, const Layout *whole)
{
    FactTable *facts = facts_new((Kernel *)(uintptr_t)kernel);
    const Layout *layout = part_of(kernel, facts, part, whole);
    facts_free(facts);
    for (int d = 0; layout && d < layout->rank; d++)
        if (layout->repeat[d] != 1) return NULL;
    return layout;
}

/* Other uses of a tile, for which it has to lie in its own way. */
typedef struct Uses {
    const Kernel *kernel;
    const Value *tile;
    const Layout *layout;
} Uses;

static bool forbids(const Op *op, const void *context)
{
    const Uses *uses = context;
    int32_t shape[LAYOUT_RANK];
    if (operand_given(op, tile) != uses->tile) return false;
    if (op->code == OP_anchor) {
        const char *text = op_attr(op, ATTR_text)->text;
        return layout_read(uses->kernel->layouts, &text) != uses->layout;
    }
    if (op->code != OP_shared_reshape) return false;
    const Type *to = op->results[0].type;
    shape_of(to, 0, shape);
    return dtype_memory_bits(to->dtype) != dtype_memory_bits(uses->tile->type->dtype) ||
           !layout_reshape(uses->kernel->layouts, uses->layout, to->rank, shape);
}

/* No layout that the author asks for, and no other shape, says otherwise. */
static bool uses_allow(const Kernel *kernel, const Value *tile, const Layout *layout)
{
    const Uses uses = {kernel, tile, layout};
    return !region_find(kernel->host, forbids, &uses);
}

/* The layout that the operand will have, as the dot sees it. */
static bool lay_out(const Kernel *kernel, Matrix *matrix)
{
    int64_t dims[2];
    const Value *part = matrix->place.tile, *tile = part;
    while (tile->op->code == OP_shared_view) tile = operand(tile->op, tile);
    matrix->alloc = tile->op;
    if (tile->op->code != OP_shared_alloc || part->type->rank != 2) return false;
    const Layout *whole = tma_panels(kernel->layouts, tile->type);
    if (!whole || (tile->type->layout && tile->type->layout != whole)) return false;
    const Layout *layout = is_whole(matrix, dims) ? matrix_layout(kernel, tile->type, dims)
                                                  : part_layout(kernel, part, whole);
    if (!layout ||
        layout_size(layout) * dtype_bits(tile->type->dtype) / 8 % SWIZZLE_ATOM_BYTES != 0)
        return false;
    if (!uses_allow(kernel, tile, whole)) return false;
    matrix->layout = swapped_if(kernel, matrix->place.transposed, layout);
    return true;
}

static bool find_matrix(const Kernel *kernel, const Op *dot, DotOperand operand, Matrix *out)
{
    *out = (Matrix){0};
    return find_in_place(dot, operand, &out->place) && lay_out(kernel, out);
}

/* ---- the choice ---- */

typedef struct Arrangement {
    const MmaKind *kind;
    int m, n;        /* warpgroups along m and along n */
    int32_t columns; /* of one instruction */
} Arrangement;

/* The fewest instructions side by side. */
static bool choose_columns(const MmaKind *kind, int64_t all, int32_t *out)
{
    for (int64_t pieces = 1; all % 8 == 0 && pieces <= all / 8; pieces++)
        if (all % pieces == 0 && wgmma_has_columns(kind, all / pieces)) {
            *out = (int32_t)(all / pieces);
            return true;
        }
    return false;
}

/* In registers of so many threads, of which a power of two have them: some are left for the rest.
 */
bool sums_fit(const Target *target, const Type *c, int threads)
{
    const int64_t words =
                      (target->registers / threads - COST_OTHER_REGISTERS_WGMMA) * REGISTER_BITS,
                  bits = type_elements(c) / power_of_two_below(threads) * dtype_bits(c->dtype);
    return bits <= COST_SUM_REGISTERS * REGISTER_BITS && bits <= words;
}

/* As many along m as there are rows for; columns are even parts of a power of two. NULL, or why
 * that cannot be. */
static const char *fault_of_groups(const Type *c, int groups, Arrangement *out)
{
    out->m = groups;
    out->n = 1;
    while (out->m > 1 && c->shape[0] % ((int64_t)WGMMA_ROWS * out->m) != 0) {
        out->m /= 2;
        out->n *= 2;
    }
    const int64_t columns = c->shape[1] / out->n;
    if (c->shape[0] % ((int64_t)WGMMA_ROWS * out->m) != 0) return "its rows are no multiple of 64";
    if (out->n > 1 && !bits_is_power(c->shape[1]))
        return "warpgroups side by side need columns that are a power of two";
    return choose_columns(out->kind, columns, &out->columns) ? NULL
                                                             : "its columns are no multiple of 8";
}

/* By the threads of `group`. Warpgroups beyond a power of two do what those below do. */
static const char *fault_of_shapes(const Op *dot, const Target *target, ThreadGroup group,
                                   Arrangement *out)
{
    const Type *a = operand(dot, a)->type, *c = operand(dot, c)->type;
    const int groups = power_of_two_below(group.count / WARPGROUP_SIZE);
    out->kind = matrix_kind(dot, target);
    if (!target_has(target, HAS_WGMMA))
        return target_has(target_find(target->name), HAS_WGMMA)
                   ? "it leaves too few registers for the rest"
                   : "the architecture has none";
    if (!out->kind || !wgmma_multiplies(out->kind) || c->rank != 2)
        return "it has no instruction for these types";
    if (group.count % WARPGROUP_SIZE != 0 || group.begin % WARPGROUP_SIZE != 0 || !groups)
        return "it takes whole warpgroups of 128 threads";
    if (a->shape[1] % out->kind->shape.k != 0) return "k is no multiple of 32 bytes";
    if (!sums_fit(target, c, group.count)) return "its sums need more registers than threads have";
    return fault_of_groups(c, groups, out);
}

static void give_layout(const Kernel *kernel, const Matrix *matrix)
{
    Value *tile = &matrix->alloc->results[0];
    if (!tile->type->layout) wgmma_lay_out(kernel, tile);
}

static Name instruction_name(const Kernel *kernel, const Arrangement *arrangement)
{
    Buf text = {0};
    buf_printf(&text, "wgmma.m64n%d%s", arrangement->columns, strchr(arrangement->kind->name, 'k'));
    Name name = intern_text(kernel->session->names, text.data);
    buf_free(&text);
    return name;
}

static void replace_dot(Kernel *kernel, Op *dot, const Matrix *a, const Matrix *b,
                        const Arrangement *arrangement)
{
    Builder builder = builder_before(dot);
    Value *operands[3] = {operand(dot, a), build_in_place(kernel, &builder, &b->place),
                          operand(dot, c)};
    if (a->place.tile) operands[0] = build_in_place(kernel, &builder, &a->place);
    Op *shared = build_op(&builder, OP_dot_shared, 3, operands, 1, &dot->results[0].type);
    op_set_text(shared, ATTR_instruction, instruction_name(kernel, arrangement));
    op_set_ints(shared, ATTR_dims, 2,
                (int64_t[]){arrangement->m * WARPGROUP_SIZE / WARP_SIZE, arrangement->n});
    if (op_int(dot, ATTR_async, 0)) op_set_int(shared, ATTR_async, 1);
    if (op_int(dot, ATTR_joined, 0)) op_set_int(shared, ATTR_joined, 1);
    shared->results[0].name = dot->results[0].name;
    value_replace(&dot->results[0], &shared->results[0]);
    op_erase(dot);
}

/* NULL, or why b cannot be read where it is. */
static const char *fault_of_right(const Op *dot, const Matrix *b, const Arrangement *arrangement)
{
    const int64_t all = dot->results[0].type->shape[1];
    const int bits = dtype_bits(operand(dot, b)->type->dtype);
    const WgmmaLayout layout = layout_wgmma(b->layout, 0, arrangement->columns, bits);
    if (!layout.possible)
        return layout.transposed ? "of b, k is not contiguous, as it must be but for 16 bits"
                                 : "b's shared tile has a layout of another use";
    return all > arrangement->columns && layout.transposed &&
                   arrangement->columns * bits / 8 % layout.swizzle != 0
               ? "its instructions side by side would begin within a swizzled row of b"
               : NULL;
}

/* *a has no tile if it stays in registers. NULL, or why it cannot be. */
static const char *find_operands(const Kernel *kernel, const Target *target, const Op *dot,
                                 Matrix *a, Matrix *b, Arrangement *arrangement)
{
    const char *fault = fault_of_shapes(dot, target, op_threads(dot), arrangement);
    if (fault) return fault;
    if (!find_matrix(kernel, dot, DOT_B, b))
        return b->place.tile
                   ? "b's shared tile cannot lie as it must: 8 rows, 32 bytes or more each"
                   : "b does not lie in shared memory when it runs";
    fault = fault_of_right(dot, b, arrangement);
    if (fault) return fault;
    const int bits = dtype_bits(operand(dot, b)->type->dtype);
    if (!find_matrix(kernel, dot, DOT_A, a) ||
        !layout_wgmma(a->layout, 1, WGMMA_ROWS, bits).possible)
        *a = (Matrix){0};
    return NULL;
}

bool wgmma_divides(const Kernel *kernel, const Target *target, const Op *dot, int threads)
{
    Arrangement arrangement;
    Matrix b;
    return !fault_of_shapes(dot, target, (ThreadGroup){0, threads}, &arrangement) &&
           (!find_matrix(kernel, dot, DOT_B, &b) || !fault_of_right(dot, &b, &arrangement));
}

bool wgmma_can(const Kernel *kernel, const Target *target, const Op *dot)
{
    Matrix a, b;
    Arrangement arrangement;
    return !find_operands(kernel, target, dot, &a, &b, &arrangement);
}

bool wgmma_fits(const Kernel *kernel, const Target *target, const Op *dot)
{
    Matrix a, b;
    Arrangement arrangement;
    return !find_operands(kernel, target, dot, &a, &b, &arrangement) && a.place.tile;
}

void wgmma_lay_out(const Kernel *kernel, Value *tile)
{
    const Layout *layout = tma_panels(kernel->layouts, tile->type);
    CHECK(layout && tile->op->code == OP_shared_alloc);
    tile->type = type_with_layout(kernel->types, tile->type, layout);
    op_set_int(tile->op, ATTR_bytes, dtype_memory_bytes(tile->type->dtype, layout_size(layout)));
    op_set_int(tile->op, ATTR_align, SWIZZLE_ATOM_BYTES);
}

const char *choose_wgmma(Kernel *kernel, const Target *target, Op *dot)
{
    Matrix a, b;
    Arrangement arrangement;
    const char *fault = find_operands(kernel, target, dot, &a, &b, &arrangement);
    if (fault) return fault;
    give_layout(kernel, &b);
    if (a.place.tile) give_layout(kernel, &a);
    const Type *c = dot->results[0].type;
    kernel_remark(
        kernel, dot->span, "a product of %lld x %lld x %lld by %s, a from %s, %s",
        (long long)c->shape[0], (long long)c->shape[1], (long long)operand(dot, a)->type->shape[1],
        instruction_name(kernel, &arrangement), a.place.tile ? "shared memory" : "registers",
        op_int(dot, ATTR_async, 0) ? "asynchronous" : "waited for at once");
    replace_dot(kernel, dot, &a, &b, &arrangement);
    return NULL;
}
