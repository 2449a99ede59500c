/* neighbours.c: single elements that a thread reads, or writes, one after the other and that lie
 * side by side in memory, as those of a loop that was unrolled do: one access does for a vector.
 *
 * Reads move up to the first of them, writes down to the last, past ops that have
 * nothing to do with that memory. */
#include "passes/lower/lower.h"

enum { MOST_LOOKED = 512 }; /* ops behind the first access */

/* Accesses of the elements of one row around the first one, by how far they lie behind it. */
typedef struct Row {
    Op *around[2 * NEIGHBOURS]; /* [NEIGHBOURS] is the first; NULL: there is none */
} Row;

static bool is_near(int64_t distance)
{
    return distance > -NEIGHBOURS && distance < NEIGHBOURS;
}

/* ---- indices ---- */

/* What a number is added to; NULL: nothing. */
static const Value *base_of(const Value *index, int64_t *number)
{
    *number = 0;
    if (value_constant(index, number)) return NULL;
    index = value_uncast(index);
    const Op *op = index->op;
    const bool sums = op && op->code == OP_add && value_constant(operand(op, b), number);
    return sums ? operand(op, a) : index;
}

/* Nothing from one op to a later one in the region may write the memory. */
static bool is_unwritten(const Op *from, const Op *to, const Value *memory)
{
    int looked = 0;
    const Op *op = from;
    for (; op && op != to && looked < MOST_LOOKED; op = op->next, looked++) {
        if (op->region_count) return false;
        for (int i = 0; op->code != OP_element_load && i < op->operand_count; i++)
            if (op->operands[i] == memory) return false;
    }
    return op == to;
}

/* Read in the same place of an array of the thread's own. */
static bool is_same_local(const Value *a, const Value *b)
{
    const Op *x = a->op, *y = b->op;
    if (!x || !y || x->code != OP_element_load || y->code != OP_element_load) return false;
    const Type *type = operand(x, memory)->type;
    if (type->kind != TYPE_LOCAL || operand(x, memory) != operand(y, memory)) return false;
    for (int d = 0; d < type->rank; d++)
        if (!value_same_number(operand_list(x, indices)[d], operand_list(y, indices)[d]))
            return false;
    return is_unwritten(x, y, operand(x, memory));
}

static bool same_index(const Value *a, const Value *b)
{
    return value_same_number(a, b) || is_same_local(a, b);
}

static int last_dim(const Op *op)
{
    return operand(op, memory)->type->rank - 1;
}

static Value *last_index(const Op *op)
{
    return operand_list(op, indices)[last_dim(op)];
}

static bool same_sums(const Op *a, const Op *b)
{
    return op_attr(a, ATTR_mode)->text == op_attr(b, ATTR_mode)->text &&
           op_attr(a, ATTR_order)->text == op_attr(b, ATTR_order)->text &&
           op_attr(a, ATTR_scope)->text == op_attr(b, ATTR_scope)->text &&
           b->results[0].use_count == 0;
}

/* Parts that begin at one place are the same, too. */
static bool same_memory(const Value *a, const Value *b)
{
    if (a == b) return true;
    const Op *x = a->op, *y = b->op;
    if (!x || !y || x->code != OP_shared_view || y->code != OP_shared_view || a->type != b->type ||
        !op_same_attr(x, y, ATTR_dims) || !same_memory(operand(x, tile), operand(y, tile)))
        return false;
    for (int i = operand_index(x, offsets); i < x->operand_count; i++)
        if (!same_index(x->operands[i], y->operands[i])) return false;
    return true;
}

/* Of two accesses of one row. */
static bool distance_of(const Op *from, const Op *to, int64_t *distance)
{
    int64_t x, y;
    if (from->code != to->code || !same_memory(operand(from, memory), operand(to, memory)) ||
        (from->code == OP_element_atomic && !same_sums(from, to)))
        return false;
    for (int d = 0; d < last_dim(from); d++)
        if (!same_index(operand_list(from, indices)[d], operand_list(to, indices)[d])) return false;
    return base_of(last_index(from), &x) == base_of(last_index(to), &y) &&
           !__builtin_sub_overflow(y, x, distance);
}

/* ---- one after the other ---- */

static bool is_of_other_memory(const Op *op, TypeKind kind)
{
    return op_is_element(op) && !op_has(op, ATOMIC) && operand(op, memory)->type->kind != kind;
}

/* Single elements of shared tiles that have no byte in common. */
static bool is_of_other_tile(const Op *op, const Op *access)
{
    if (!op_is_element(op) || op_has(op, ATOMIC) ||
        operand(op, memory)->type->kind != TYPE_SHARED ||
        operand(access, memory)->type->kind != TYPE_SHARED)
        return false;
    const Op *a = shared_root(operand(op, memory)), *b = shared_root(operand(access, memory));
    const int64_t begin = op_int(a, ATTR_offset, 0), other = op_int(b, ATTR_offset, 0);
    return begin + type_bytes(a->results[0].type) <= other ||
           other + type_bytes(b->results[0].type) <= begin;
}

static bool lets_pass(const Op *op, const Op *access)
{
    if (op_has(op, PURE)) return true;
    return is_of_other_memory(op, operand(access, memory)->type->kind) ||
           is_of_other_tile(op, access) ||
           (access->code == OP_element_load && op->code == OP_element_load);
}

/* False: it ends the row, as an element is written again, or may be. */
static bool add_to_row(Lower *lower, Row *row, Op *op, int64_t distance)
{
    if (!is_near(distance)) return true;
    Op **slot = &row->around[NEIGHBOURS + distance];
    if (*slot) return op->code == OP_element_load;
    if (!map_has(&lower->joined, op) && !op_int(op, ATTR_once, 0)) *slot = op;
    return true;
}

static Row row_of(Lower *lower, Op *first)
{
    Row row = {.around = {[NEIGHBOURS] = first}};
    int looked = 0;
    for (Op *op = first->next; op && looked < MOST_LOOKED; op = op->next, looked++) {
        int64_t distance;
        const bool joins = op_is_element(op) && distance_of(first, op, &distance);
        if (joins ? !add_to_row(lower, &row, op, distance) : !lets_pass(op, first)) break;
    }
    return row;
}

/* ---- side by side, and aligned ---- */

static bool is_multiple(Lower *lower, const Value *value, int vector)
{
    return facts_of(lower->facts, value).multiple % vector == 0;
}

/* All of a vector that starts there, or nothing, is inside the view. */
static bool fits_view(Lower *lower, const Op *op, int vector)
{
    const Type *type = operand(op, memory)->type;
    const Op *view = operand(op, memory)->op;
    Value *const *extents = operand_list(view, extents), *const *strides = extents + type->rank;
    if (facts_of(lower->facts, operand(view, pointer)).multiple %
            facts_address_unit(type->dtype, vector) !=
        0)
        return false;
    for (int d = 0; d < last_dim(op); d++)
        if (!is_multiple(lower, operand_list(op, indices)[d], vector) &&
            !is_multiple(lower, strides[d], vector))
            return false;
    return value_is_constant(strides[last_dim(op)], 1) &&
           is_multiple(lower, extents[last_dim(op)], vector);
}

/* The tile that a part is of, whose last dimension is the part's and in which it begins with a
 * whole vector, or such a tile seen in another shape. NULL: there is none. */
static const Value *whole_of(Lower *lower, const Value *tile, int vector)
{
    while (tile->op && tile->op->code == OP_shared_view) {
        const Attr *dims = op_attr(tile->op, ATTR_dims);
        const Value *whole = operand(tile->op, tile);
        const int last = whole->type->rank - 1;
        if (dims->integers[dims->count - 1] != last ||
            !is_multiple(lower, operand_list(tile->op, offsets)[last], vector))
            return NULL;
        tile = whole;
    }
    const bool is_seen = tile->op && tile->op->code == OP_shared_reshape;
    const Op *root = is_seen ? operand(tile->op, tile)->op : tile->op;
    return root && root->code == OP_shared_alloc ? tile : NULL;
}

static bool fits_shared(Lower *lower, const Op *op, int vector)
{
    const Value *tile = whole_of(lower, operand(op, memory), vector);
    if (!tile) return false;
    const Type *type = tile->type;
    const int last = type->rank - 1;
    const int64_t bytes = dtype_memory_bytes(type->dtype, vector);
    return op_int(shared_root(tile), ATTR_offset, 0) % bytes == 0 &&
           type->shape[last] % vector == 0 && layout_register_run(type->layout, last) >= vector &&
           layout_starts_aligned(type->layout, last, vector);
}

static bool starts_vector(Lower *lower, const Op *op, int vector)
{
    if (!is_multiple(lower, last_index(op), vector)) return false;
    return operand(op, memory)->type->kind == TYPE_VIEW ? fits_view(lower, op, vector)
                                                        : fits_shared(lower, op, vector);
}

/* From that distance on, with the first access among them. */
static bool has_vector(Lower *lower, const Row *row, int from, int vector)
{
    for (int i = 0; i < vector; i++)
        if (!row->around[NEIGHBOURS + from + i]) return false;
    return starts_vector(lower, row->around[NEIGHBOURS + from], vector);
}

/* What one thread does for all is too little to be worth a variant of the kernel. */
static bool has_neighbours(const Op *op)
{
    const Type *memory = operand(op, memory)->type;
    return !op_int(op, ATTR_once, 0) && memory->kind != TYPE_LOCAL && memory->rank > 0 &&
           dtype_memory_bits(memory->dtype) >= 8;
}

Neighbours neighbours_of(Lower *lower, Op *op)
{
    Neighbours found = {.ops = {op}, .count = 1};
    if (!has_neighbours(op)) return found;
    const Row row = row_of(lower, op);
    const DType dtype = operand(op, memory)->type->dtype;
    int most = ACCESS_BYTES / dtype_bytes(dtype);
    if (op->code == OP_element_atomic) most = atomic_sums(lower->target, op);
    for (int vector = most; vector > 1; vector /= 2)
        for (int from = 1 - vector; from <= 0; from++) {
            if (!has_vector(lower, &row, from, vector)) continue;
            found.count = vector;
            found.before = -from;
            for (int i = 0; i < vector; i++) found.ops[i] = row.around[NEIGHBOURS + from + i];
            return found;
        }
    return found;
}
