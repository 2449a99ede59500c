/* point.c: integers at one point: those that follow from constants, the coordinates of a tile, the
 * index of the thread and block, and the variables of loops whose ends are known. */
#include "passes/analysis/point.h"

#include "ir/fold.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

enum { DEPTH = 32, MOST_VALUES = 4096 }; /* of expressions that are followed */

typedef struct Spot {
    Points *points;
    int *values;      /* that may yet be looked at: expressions share parts */
    const Type *tile; /* of the op; NULL: there is none */
    Element element;
} Spot;

static bool value_at(const Spot *spot, const Value *value, int depth, int64_t *out);

/* ---- variables ---- */

static Variable *find(Points *points, Variable variable)
{
    for (int i = 0; i < points->count; i++) {
        Variable *known = &points->variables[i];
        if (known->kind == variable.kind && known->dim == variable.dim &&
            known->loop == variable.loop)
            return known;
    }
    if (points->count == POINT_VARIABLES || variable.count < 1) return NULL;
    variable.now = variable.first;
    points->variables[points->count] = variable;
    return &points->variables[points->count++];
}

static bool meet(const Spot *spot, Variable variable, int64_t *out)
{
    const Variable *met = find(spot->points, variable);
    if (met) *out = met->now;
    return met != NULL;
}

static bool block_at(const Spot *spot, const Op *op, int64_t *out)
{
    const int dim = (int)op_int(op, ATTR_dim, 0);
    const Op *launch = op_enclosing(op, OP_launch);
    int64_t blocks;
    if (!launch || !value_constant(value_uncast(operand_list(launch, x)[dim]), &blocks))
        return false;
    return meet(spot, (Variable){.kind = VARIABLE_BLOCK, .dim = dim, .step = 1, .count = blocks},
                out);
}

static bool thread_at(const Spot *spot, int64_t *out)
{
    const ThreadGroup group = op_threads(spot->points->op);
    return meet(
        spot,
        (Variable){.kind = VARIABLE_THREAD, .first = group.begin, .step = 1, .count = group.count},
        out);
}

/* Not of an index type that wraps on its way to the end. */
static bool loop_at(const Spot *spot, const Value *variable, int64_t *out)
{
    const Op *loop = variable->region ? variable->region->parent : NULL;
    int64_t ends[3], way;
    if (!loop || loop->code != OP_for || variable->index != 0) return false;
    for (int i = 0; i < 3; i++)
        if (!value_constant(value_uncast(operand_list(loop, begin)[i]), &ends[i])) return false;
    if (ends[2] < 1 || ends[1] <= ends[0] || __builtin_sub_overflow(ends[1], ends[0], &way) ||
        way > INT32_MAX)
        return false;
    return meet(spot,
                (Variable){.kind = VARIABLE_LOOP,
                           .loop = variable,
                           .first = ends[0],
                           .step = ends[2],
                           .count = (way - 1) / ends[2] + 1},
                out);
}

/* ---- tiles ---- */

static bool coordinate_at(const Spot *spot, int dim, int64_t *out)
{
    const Element *element = &spot->element;
    *out = element->at[dim];
    for (int d = 0; d < TYPE_RANK; d++) {
        int64_t now;
        if (element->from[dim] >> d & 1 && !meet(spot,
                                                 (Variable){.kind = VARIABLE_COORDINATE,
                                                            .dim = d,
                                                            .step = 1,
                                                            .count = spot->tile->shape[d]},
                                                 &now))
            return false;
    }
    return true;
}

static Element transposed(const Op *op, const Element *element)
{
    Element from = {{0}, {0}};
    const Attr *dims = op_attr(op, ATTR_dims);
    for (int d = 0; d < dims->count; d++) {
        from.at[dims->integers[d]] = element->at[d];
        from.from[dims->integers[d]] = element->from[d];
    }
    return from;
}

static Element stretched(const Op *op, const Element *element)
{
    Element from = *element;
    const Type *type = operand(op, a)->type;
    for (int d = 0; d < type->rank; d++)
        if (type->shape[d] == 1) from.at[d] = from.from[d] = 0;
    return from;
}

static Element reshaped(const Op *op, const Element *element)
{
    Element from = {{0}, {0}};
    const Type *to = op->results[0].type, *type = operand(op, a)->type;
    int64_t row = 0;
    unsigned variables = 0;
    for (int d = 0; d < to->rank; d++) {
        row = row * to->shape[d] + element->at[d];
        variables |= element->from[d];
    }
    for (int d = type->rank - 1; d >= 0; d--) {
        from.at[d] = row % type->shape[d];
        from.from[d] = type->shape[d] > 1 ? variables : 0;
        row /= type->shape[d];
    }
    return from;
}

/* Where the operand's element is that becomes this one of the result. */
static Spot spot_in(const Spot *spot, const Op *op)
{
    Spot from = *spot;
    switch ((int)op->code) {
    case OP_transpose: from.element = transposed(op, &spot->element); break;
    case OP_broadcast: from.element = stretched(op, &spot->element); break;
    case OP_reshape: from.element = reshaped(op, &spot->element); break;
    default: break;
    }
    return from;
}

/* ---- values ---- */

static bool operands_at(const Spot *spot, const Op *op, int depth, int64_t *out)
{
    const Spot from = spot_in(spot, op);
    for (int i = 0; i < op->operand_count; i++)
        if (!value_at(&from, op->operands[i], depth - 1, &out[i])) return false;
    return true;
}

static bool op_at(const Spot *spot, const Op *op, int depth, int64_t *out)
{
    enum { MOST = 3 };
    int64_t operands[MOST];
    const bool elementwise = (op_info(op->code)->traits & (ELEM | PURE)) == (ELEM | PURE);
    switch ((int)op->code) {
    case OP_thread_id: return thread_at(spot, out);
    case OP_block_idx: return block_at(spot, op, out);
    case OP_iota: return coordinate_at(spot, (int)op_int(op, ATTR_dim, 0), out);
    case OP_splat:
    case OP_broadcast:
    case OP_reshape:
    case OP_transpose: return operands_at(spot, op, depth, out);
    case OP_check_index:
        return operands_at(spot, op, depth, operands) && (*out = operands[0], true);
    default:
        return elementwise && op->operand_count <= MOST && operands_at(spot, op, depth, operands) &&
               fold_element(op, operands, out);
    }
}

static bool value_at(const Spot *spot, const Value *value, int depth, int64_t *out)
{
    if (value_constant(value, out)) return true;
    if (dtype_is_float(value->type->dtype) || depth == 0 || --*spot->values < 0 ||
        --*spot->points->looks < 0)
        return false;
    return value->op ? op_at(spot, value->op, depth, out) : loop_at(spot, value, out);
}

static int64_t coordinate_now(const Points *points, int dim)
{
    for (int i = 0; i < points->count; i++)
        if (points->variables[i].kind == VARIABLE_COORDINATE && points->variables[i].dim == dim)
            return points->variables[i].now;
    return 0;
}

bool point_value(Points *points, const Type *tile, const Value *value, int64_t *out)
{
    int values = MOST_VALUES;
    Spot spot = {points, &values, tile, {{0}, {0}}};
    for (int d = 0; tile && d < tile->rank; d++) {
        spot.element.at[d] = coordinate_now(points, d);
        spot.element.from[d] = 1u << d;
    }
    return value_at(&spot, value, DEPTH, out);
}

/* ---- one after the other ---- */

bool points_next(Points *points, bool ends)
{
    for (int i = points->count - 1; i >= 0; i--) {
        Variable *variable = &points->variables[i];
        const int64_t last = variable->first + (variable->count - 1) * variable->step;
        if (variable->now < last) {
            variable->now = ends ? last : variable->now + variable->step;
            return true;
        }
        variable->now = variable->first;
    }
    return false;
}

int64_t points_count(const Points *points)
{
    int64_t count = 1;
    for (int i = 0; i < points->count; i++)
        if (__builtin_mul_overflow(count, points->variables[i].count, &count)) return INT64_MAX;
    return count;
}
