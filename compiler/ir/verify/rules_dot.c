/* rules_dot.c: the verifier's rules of products: what the pass `matrix` has chosen for one, and the
 * layouts that its instruction reads. */
#include "ir/group.h"
#include "ir/mma.h"
#include "ir/verify/rules.h"

enum { WARPGROUP = 4 /* warps */ };

/* {dims}: warps along m and along n, as many as the threads that run the op have. */
static bool check_warps(const Check *check)
{
    const Attr *dims = op_attr(check->op, ATTR_dims);
    const int64_t warps = group_warps(op_threads(check->op));
    return require(check,
                   dims && dims->count == 2 && bits_is_power(dims->integers[0]) &&
                       bits_is_power(dims->integers[1]) && dims->integers[0] <= warps &&
                       dims->integers[1] <= warps / dims->integers[0],
                   "{dims} is no arrangement of the warps");
}

static bool divides(int64_t part, int64_t whole)
{
    return whole % part == 0;
}

/* ---- by mma.sync ---- */

static bool check_sync(const Check *check, const MmaKind *kind)
{
    return require(check, strcmp(op_attr(check->op, ATTR_instruction)->text, kind->name) == 0,
                   "{instruction} is none of mma.sync") &&
           require(check, mma_multiplies(kind, check->op, op_attr(check->op, ATTR_tf32)),
                   "{instruction} is for other element types") &&
           require(check, mma_divides(kind, check->op),
                   "the sizes are no multiples of the instruction's") &&
           check_warps(check);
}

/* ---- by wgmma ---- */

/* Each warpgroup has whole instructions. */
static bool check_parts(const Check *check, const MmaKind *kind)
{
    const Type *a = operand_type(check, a), *c = operand_type(check, c);
    const int64_t *dims = op_attr(check->op, ATTR_dims)->integers;
    const int columns = wgmma_columns(op_attr(check->op, ATTR_instruction)->text);
    return require(check,
                   divides(WARPGROUP, dims[0]) &&
                       divides(dims[0] / WARPGROUP * WGMMA_ROWS, c->shape[0]),
                   "warpgroups of {dims} do not divide the rows") &&
           require(check,
                   wgmma_has_columns(kind, columns) && divides(dims[1] * columns, c->shape[1]) &&
                       (dims[1] == 1 || bits_is_power(c->shape[1])),
                   "{instruction} and {dims} do not divide the columns") &&
           require(check, divides(kind->shape.k, a->shape[1]),
                   "k is no multiple of the instruction's");
}

/* A shared tile that is laid out lies as the tensor core reads it, from where it begins; a part of
 * one is laid out with the tile. */
static bool check_place(const Check *check, int operand, int k_dim, int extent)
{
    const Value *tile = check->op->operands[operand];
    const Type *type = tile->type;
    if (type->kind != TYPE_SHARED) return true;
    const bool may_lie_anyhow = !type->layout || tile->op->code != OP_shared_alloc;
    if (may_lie_anyhow && check->kernel->stage < STAGE_LAID_OUT) return true;
    return require(check,
                   layout_wgmma(type->layout, k_dim, extent, dtype_bits(type->dtype)).possible,
                   "a shared tile does not lie as {instruction} reads it") &&
           require(check, tile->op->code != OP_shared_view || op_int(tile->op, ATTR_aligned, 0),
                   "a view of a shared tile is not {aligned}");
}

static bool check_wgmma(const Check *check)
{
    const Attr *instruction = op_attr(check->op, ATTR_instruction);
    const MmaKind *kind = dot_kind(check->op);
    const TypeKind left = operand_type(check, a)->kind;
    return require(check, left == TYPE_TILE || left == TYPE_SHARED,
                   "a is no tile, of registers or shared") &&
           require(check, kind && wgmma_columns(instruction->text), "{instruction} is no wgmma") &&
           require(check, mma_multiplies(kind, check->op, true),
                   "{instruction} is for other element types") &&
           check_warps(check) && check_parts(check, kind) && check_place(check, 0, 1, WGMMA_ROWS) &&
           check_place(check, 1, 0, wgmma_columns(instruction->text));
}

/* ---- layouts ---- */

/* The layout that an operand in registers has; NULL: there is none. */
static const Layout *wanted_layout(const Check *check, int operand)
{
    LayoutTable *table = check->kernel->layouts;
    const Layout *c = result_type(check)->layout;
    const int32_t k = (int32_t)operand_type(check, a)->shape[1];
    if (dot_kind(check->op))
        return dot_layout(table, check->op, operand, group_warps(op_threads(check->op)));
    return operand == DOT_C ? c : layout_fma_operand(table, c, k, operand, operand == DOT_A);
}

static bool check_layouts(const Check *check)
{
    if (check->kernel->stage < STAGE_LAID_OUT) return true;
    if (!dot_kind(check->op) && !layout_is_fma_sums(result_type(check)->layout))
        return broken(check, "the sums lie along both dimensions at once");
    for (int i = DOT_A; i <= DOT_C; i++)
        if (operand_type_at(check, i)->kind == TYPE_TILE &&
            operand_type_at(check, i)->layout != wanted_layout(check, i))
            return broken(check, "an operand has another layout than {instruction} reads");
    return true;
}

/* ---- */

static bool check_choice(const Check *check)
{
    const Attr *instruction = op_attr(check->op, ATTR_instruction);
    if (check->op->code == OP_dot_shared) return check_wgmma(check);
    if (!instruction || strcmp(instruction->text, "fma") == 0) return true;
    const MmaKind *kind = dot_kind(check->op);
    return require(check, kind && check->op->code == OP_dot,
                   "{instruction} is none for a dot of this kind") &&
           check_sync(check, kind);
}

bool rule_dot(const Check *check)
{
    const Type *a = operand_type(check, a), *b = operand_type(check, b),
               *c = operand_type(check, c);
    bool shapes = a->rank == 2 && b->rank == 2 && c->rank == 2 && a->shape[0] == c->shape[0] &&
                  a->shape[1] == b->shape[0] && b->shape[1] == c->shape[1];
    return require(check, shapes, "the shapes are not [m, k], [k, n] and [m, n]") &&
           require(check, a->dtype != DTYPE_b1 && b->dtype != DTYPE_b1 && c->dtype != DTYPE_b1,
                   "the operands are numbers") &&
           require(check,
                   dtype_is_float(c->dtype) ||
                       !(dtype_is_float(a->dtype) || dtype_is_float(b->dtype)),
                   "products of floats are summed as integers") &&
           require(check, agree(check, result_type(check), c), "the result is not of c's type") &&
           check_choice(check) && check_layouts(check);
}
