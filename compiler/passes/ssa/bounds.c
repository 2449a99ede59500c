/* bounds.c: which bounds checks of loads and stores are needed; needs a TYPED kernel without
 * variables and leaves the attribute `bounds` on each access, and on each pointer parameter whether
 * it is read or written.
 *
 * The lower check goes where the offset can't be negative. The upper one goes where the offset's
 * range ends early enough, or where the offset counts whole tiles of an extent that is made of
 * whole tiles: i * T with i below cdiv(E, T) and E a multiple of T, i being a loop's variable or a
 * block's index. */
#include "passes/analysis/context.h"
#include "passes/ssa/outside.h"

typedef struct Pass {
    Kernel *kernel;
    FactTable *facts;
} Pass;

static const Value *uncast(const Value *value, void *facts)
{
    return facts_uncast(facts, value);
}

/* Numbers of the host part are computed again in each launch. */
static bool same_number(const Pass *pass, const Value *a, const Value *b)
{
    return value_same(a, b, uncast, pass->facts);
}

/* The other operand of a commutative op that has a constant; NULL if it has none. */
static const Value *split_constant(const Pass *pass, const Value *value, OpCode code,
                                   int64_t *constant)
{
    value = facts_uncast(pass->facts, value);
    if (!value->op || value->op->code != code) return NULL;
    for (int i = 0; i < 2; i++)
        if (value_constant(facts_uncast(pass->facts, value->op->operands[i]), constant))
            return value->op->operands[1 - i];
    return NULL;
}

/* What a constant is subtracted from; NULL: it is something else, or may wrap below 0. */
static const Value *split_difference(const Pass *pass, const Value *value, int64_t *constant)
{
    value = facts_uncast(pass->facts, value);
    if (!value->op || value->op->code != OP_sub ||
        !value_constant(facts_uncast(pass->facts, operand(value->op, b)), constant))
        return NULL;
    const Value *from = operand(value->op, a);
    return dtype_is_signed(from->type->dtype) || facts_of(pass->facts, from).low >= *constant
               ? from
               : NULL;
}

/* value = base + added, through any number of additions and subtractions of constants; returns the
 * base. */
static const Value *split_sum(const Pass *pass, const Value *value, int64_t *added)
{
    *added = 0;
    for (;;) {
        int64_t more, less;
        const Value *sum = split_constant(pass, value, OP_add, &more),
                    *difference = split_difference(pass, value, &less);
        int64_t all;
        if ((!sum && !difference) || (sum ? __builtin_add_overflow(*added, more, &all)
                                          : __builtin_sub_overflow(*added, less, &all)))
            return facts_uncast(pass->facts, value);
        *added = all;
        value = sum ? sum : difference;
    }
}

/* a / b with a constant b: returns a. Where it ~iterations~ does not matter, since a count below 1
 * counts nothing. */
static const Value *split_quotient(const Pass *pass, const Value *value, int64_t *divisor)
{
    value = facts_uncast(pass->facts, value);
    if (!value->op || !op_has(value->op, QUOTIENT) ||
        !value_constant(facts_uncast(pass->facts, operand(value->op, b)), divisor))
        return NULL;
    return operand(value->op, a);
}

/* `count` is the number of tiles of `tile` elements that make up `extent`: extent / tile, or
 * cdiv(extent, tile) of an extent that is a multiple of tile. */
static bool counts_whole_tiles(const Pass *pass, const Value *count, const Value *extent,
                               int64_t tile)
{
    int64_t divisor, added;
    const Value *dividend = split_quotient(pass, count, &divisor);
    if (!dividend || divisor != tile) return false;
    if (same_number(pass, dividend, extent)) return true;
    if (facts_of(pass->facts, extent).multiple % tile != 0) return false;
    const Value *base = split_sum(pass, dividend, &added);
    return added < tile && added >= 0 && same_number(pass, base, extent);
}

/* What a loop's variable from 0 in steps of 1, or a block's index, stays below. */
static const Value *limit_of_index(const Pass *pass, const Value *index)
{
    index = facts_uncast(pass->facts, index);
    if (index->op && index->op->code == OP_block_idx) {
        const Op *launch = op_enclosing(index->op, OP_launch);
        const Value *count =
            launch ? operand_list(launch, x)[op_int(index->op, ATTR_dim, 0)] : NULL;
        /* a launch of one way of a branch: there are no blocks on the other */
        if (count && count->op && count->op->code == OP_select &&
            value_is_constant(operand(count->op, b), 0))
            return operand(count->op, a);
        return count;
    }
    const Op *loop = index->region ? index->region->parent : NULL;
    int64_t begin, step;
    if (!loop || loop->code != OP_for || index->index != 0 ||
        !value_constant(operand(loop, begin), &begin) ||
        !value_constant(operand(loop, step), &step) || begin < 0 || step < 1)
        return NULL;
    return operand(loop, end);
}

/* offset = index * scale, scale a multiple of the tile's width. */
static bool ends_with_extent(const Pass *pass, const Value *offset, const Value *extent,
                             int64_t width)
{
    int64_t scale;
    const Value *index = split_constant(pass, offset, OP_mul, &scale);
    if (index && scale >= width) {
        const Value *limit = limit_of_index(pass, index);
        return limit && counts_whole_tiles(pass, limit, extent, scale);
    }
    /* for k in range(0, extent, width) */
    const Value *variable = facts_uncast(pass->facts, offset);
    const Value *limit = limit_of_index(pass, variable);
    if (!limit || !variable->region || !same_number(pass, limit, extent)) return false;
    return facts_of(pass->facts, variable).multiple % width == 0 &&
           facts_of(pass->facts, extent).multiple % width == 0;
}

static bool stays_below(const Pass *pass, const Access *access, int dim)
{
    const Facts offset = facts_of(pass->facts, access->offsets[dim]);
    const Facts extent = facts_of(pass->facts, access->extents[dim]);
    if (width_ends_before(offset.high, access->width[dim], extent.low)) return true;
    int64_t added, gap;
    const Value *base = split_sum(pass, access->offsets[dim], &added);
    if (facts_gap(pass->facts, base, access->extents[dim], &gap) &&
        width_ends_before(added, access->width[dim], gap))
        return true;
    return ends_with_extent(pass, access->offsets[dim], access->extents[dim], access->width[dim]);
}

static void set_bounds(const Pass *pass, Op *op)
{
    const Access access = access_of(op);
    int64_t bounds[TYPE_RANK];
    for (int d = 0; d < access.rank; d++) {
        bounds[d] = facts_of(pass->facts, access.offsets[d]).low >= 0 ? 0 : BOUND_LOW;
        bounds[d] |= stays_below(pass, &access, d) ? 0 : BOUND_HIGH;
    }
    op_set_ints(op, ATTR_bounds, access.rank, bounds);
}

static bool is_copy(const Op *op)
{
    return op_has(op, COPY) && !op_has(op, TMA);
}

/* What a copy writes is shared memory. */
static void note_parameter(const Pass *pass, const Op *op)
{
    Parameter *parameter = pointer_parameter(pass->kernel, operand(op_memory(op)->op, pointer));
    if (!parameter) return;
    parameter->is_read |= op_has(op, READS);
    parameter->is_written |= op_has(op, WRITES) && !is_copy(op);
}

static void visit_access(Op *op, void *context)
{
    const Pass *pass = context;
    const bool whole = op_is_access(op) || is_copy(op) || op->code == OP_tma_store;
    if (whole) set_bounds(pass, op);
    if (whole || op_is_scattered(op) || op_is_element(op))
        if (op_memory(op)->type->kind == TYPE_VIEW) {
            note_parameter(pass, op);
            outside_choose(pass->facts, op);
        }
}

bool pass_bounds(Kernel *kernel, PassContext *context)
{
    Pass pass = {kernel, analysis_ranges(context)};
    kernel_visit(kernel, visit_access, &pass);
    return true;
}
