/* index_bounds.c: indices of tiles that lie outside of them; needs and leaves a TYPED kernel in
 * SSA.
 *
 * Memory of a block has no elements but its own, so an index outside is a mistake. Where ranges
 * prove that there is none, nothing is left to do. Where all that the index and the conditions
 * around it follow from is known now, each point is looked at, and one that is outside is an error.
 * What is left is {watched}: the emulator reports it, GPUs read zero or another tile's elements.
 *
 * What is read only to be chosen from, by a select or a boolean's `and`, may be read for nothing.
 */
#include "passes/ssa/index_bounds.h"

#include "passes/analysis/context.h"
#include "passes/analysis/point.h"

#include "base/vec.h"

enum { MOST_POINTS = 1 << 14 }; /* beyond, only the ends of each variable are looked at */
enum { MOST_LOOKS = 1 << 25 };  /* at values, at all points together */

typedef struct Pass {
    Kernel *kernel;
    FactTable *facts;
    Arena *arena;
    int64_t looks; /* that are left */
    Span reported; /* the latest: code that was unrolled is at fault once */
    bool good;
} Pass;

/* One use of a tile's elements. */
typedef struct Use {
    Op *op;
    const Type *memory, *tile; /* `tile`: a place for each of its elements; NULL: for the thread */
    Value *const *indices;
    int64_t width[TYPE_RANK]; /* elements from the index on */
    const Value *mask;        /* NULL: there is none */
} Use;

/* ---- ranges of indices ---- */

static bool is_inside(const Pass *pass, const Use *use, int dim)
{
    const Facts index = facts_of(pass->facts, use->indices[dim]);
    return index.low >= 0 && index.high <= use->memory->shape[dim] - use->width[dim];
}

typedef enum Answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN } Answer;

static Answer answer(Points *points, const Type *tile, const Value *value, bool wanted)
{
    int64_t known;
    if (!point_value(points, tile, value, &known)) return ANSWER_UNKNOWN;
    return (known != 0) == wanted ? ANSWER_YES : ANSWER_NO;
}

/* Whether what is in the region is done at this point, as far as the op says that it is in. */
static Answer runs(Points *points, const Region *region)
{
    const Op *op = region->parent;
    int64_t begin, end;
    if (op->code == OP_if && operand(op, condition)->op &&
        operand(op, condition)->op->code == OP_in_group)
        return ANSWER_YES;
    if (op->code == OP_if)
        return answer(points, NULL, operand(op, condition), region == op->regions[0]);
    if (op->code != OP_for || !point_value(points, NULL, operand(op, begin), &begin) ||
        !point_value(points, NULL, operand(op, end), &end))
        return ANSWER_UNKNOWN;
    return begin < end ? ANSWER_YES : ANSWER_NO;
}

static Answer happens(Points *points, const Use *use)
{
    Answer all = ANSWER_YES;
    if (use->mask) all = answer(points, use->tile, use->mask, true);
    for (const Region *at = use->op->parent; all != ANSWER_UNKNOWN; at = at->parent->parent) {
        if (!at->parent || at->parent->code == OP_launch) break;
        const Answer one = runs(points, at);
        if (one != ANSWER_YES) all = one;
    }
    return all;
}

/* ---- points ---- */

typedef struct Reach {
    int64_t low, high;
    bool outside;
} Reach;

static bool look_at(Points *points, const Use *use, int dim, Reach *reach)
{
    int64_t index;
    const Answer done = happens(points, use);
    if (done == ANSWER_UNKNOWN || !point_value(points, use->tile, use->indices[dim], &index))
        return false;
    if (done == ANSWER_NO) return true;
    const int64_t more = use->width[dim] - 1,
                  last = index > INT64_MAX - more ? INT64_MAX : index + more;
    reach->low = index < reach->low ? index : reach->low;
    reach->high = last > reach->high ? last : reach->high;
    reach->outside |= index < 0 || last >= use->memory->shape[dim];
    return true;
}

/* All places where it is used; false: they are not known now. The first look meets the variables.
 */
static bool find_reach(Pass *pass, const Use *use, int dim, Reach *reach)
{
    Points points = {.op = use->op, .looks = &pass->looks};
    *reach = (Reach){INT64_MAX, INT64_MIN, false};
    if (!look_at(&points, use, dim, reach)) return false;
    const bool ends = points_count(&points) > MOST_POINTS;
    while (points_next(&points, ends))
        if (!look_at(&points, use, dim, reach)) return false;
    return true;
}

/* As far as one point says; what may happen counts as what does. */
static bool add_reach(Points *points, const Use *use, int dim, Reach *reach)
{
    int64_t index;
    if (happens(points, use) == ANSWER_NO) return true;
    if (!point_value(points, use->tile, use->indices[dim], &index)) return false;
    reach->low = index < reach->low ? index : reach->low;
    reach->high = index > reach->high ? index : reach->high;
    return true;
}

/* At all points; false: they are too many, or not known now. */
static bool find_all(int64_t *looks, const Use *use, int dim, Reach *reach)
{
    Points points = {.op = use->op, .looks = looks};
    *reach = (Reach){INT64_MAX, INT64_MIN, false};
    if (!add_reach(&points, use, dim, reach)) return false;
    while (points_count(&points) <= MOST_POINTS && points_next(&points, false))
        if (!add_reach(&points, use, dim, reach)) return false;
    return points_count(&points) <= MOST_POINTS;
}

/* ---- reads whose result a select drops ---- */

typedef struct Flow {
    Map *from; /* values that follow from what was read */
    Arena *arena;
    bool each; /* it was read at places of its own for each element */
    bool used;
} Flow;

/* The elements of one read are chosen together. */
static bool is_choice(const Flow *flow, const Value *condition)
{
    return flow->each || !type_is_tile(condition->type) ||
           (condition->op && condition->op->code == OP_splat);
}

static bool chooses(const Flow *flow, const Op *op)
{
    const bool joins = op->code == OP_and || op->code == OP_or;
    if (op->code == OP_select) return is_choice(flow, operand(op, condition));
    return joins && op->results[0].type->dtype == DTYPE_b1;
}

static void follow(Op *op, void *context)
{
    Flow *flow = context;
    bool from = false;
    for (int i = 0; i < op->operand_count; i++)
        from |= map_get(flow->from, op->operands[i]) != NULL;
    if (!from || chooses(flow, op)) return;
    if (op_has(op, PURE))
        map_set(flow->arena, flow->from, &op->results[0], op);
    else
        flow->used = true;
}

/* Whether all that follows from it is chosen from something else, too. */
static bool is_spare(const Pass *pass, const Use *use)
{
    Map from = {0};
    Flow flow = {&from, pass->arena, use->tile != NULL, false};
    Op *op = use->op;
    if (op->result_count != 1 || op_has(op, WRITES)) return false;
    map_set(pass->arena, &from, &op->results[0], op);
    region_visit(launch_region(op_enclosing(op, OP_launch)), follow, &flow);
    return !flow.used;
}

/* ---- uses ---- */

static void report(Pass *pass, const Use *use, int dim, Reach reach)
{
    const Span at = use->op->span;
    pass->good = false;
    if (at.source == pass->reported.source && at.begin == pass->reported.begin) return;
    pass->reported = at;
    Buf what = {0};
    buf_text(&what, use->width[dim] > 1 ? "this part" : "the index");
    if (use->memory->rank > 1) buf_printf(&what, " of dimension %d", dim);
    diag_report(pass->kernel->session->diags, DIAG_index_outside, at, what.data,
                (long long)reach.low, (long long)reach.high,
                (long long)use->memory->shape[dim] - 1);
    buf_free(&what);
}

/* True: the emulator has to look. */
static bool is_open(Pass *pass, const Use *use)
{
    bool open = false;
    for (int d = 0; d < use->memory->rank; d++) {
        Reach reach;
        if (is_inside(pass, use, d)) continue;
        if (!find_reach(pass, use, d, &reach)) {
            open = true;
        } else if (reach.outside && !is_spare(pass, use)) {
            report(pass, use, d, reach);
            return false;
        }
    }
    return open && !is_spare(pass, use);
}

static bool is_own_memory(const Type *type)
{
    return type->kind == TYPE_SHARED || type->kind == TYPE_LOCAL || type->kind == TYPE_TILE;
}

static Use use_of(Op *op, const Type *memory, Value *const *indices)
{
    Use use = {.op = op, .memory = memory, .indices = indices};
    for (int d = 0; d < memory->rank; d++) use.width[d] = 1;
    return use;
}

static void visit_part(Pass *pass, Op *op, Op *view)
{
    const Attr *dims = op_attr(view, ATTR_dims);
    Use use = use_of(op, operand(view, tile)->type, operand_list(view, offsets));
    for (int i = 0; i < dims->count; i++)
        use.width[dims->integers[i]] = view->results[0].type->shape[i];
    if (is_open(pass, &use)) op_set_int(view, ATTR_watched, 1);
}

static void visit_parts(Pass *pass, Op *op)
{
    if (op_has(op, PURE)) return;
    for (int i = 0; i < op->operand_count; i++) {
        Op *view = op->operands[i]->op;
        while (view && view->results[0].type->kind == TYPE_SHARED && op_has(view, ALIAS)) {
            if (view->code == OP_shared_view) visit_part(pass, op, view);
            view = op_aliased(view)->op;
        }
    }
}

static void visit_index(Pass *pass, Op *op)
{
    const Value *extent = operand(op, extent);
    int64_t known;
    if (!value_constant(extent, &known) || known < 0) return;
    const Type memory = {.kind = TYPE_TILE, .rank = 1, .shape = {known}};
    const Use use = use_of(op, &memory, op->operands);
    if (is_open(pass, &use) || !pass->good) return;
    value_replace(op->results, operand(op, index));
    op_erase(op);
}

static void visit(Op *op, void *context)
{
    Pass *pass = context;
    visit_parts(pass, op);
    if (op->code == OP_check_index) {
        visit_index(pass, op);
    } else if (op_is_scattered(op) && is_own_memory(operand(op, memory)->type) &&
               !op_int(op, ATTR_lenient, 0)) {
        Use use = use_of(op, operand(op, memory)->type, op->operands + scattered_first(op));
        use.tile = scattered_value(op)->type;
        use.mask = scattered_mask(op);
        if (is_open(pass, &use)) op_set_int(op, ATTR_watched, 1);
    } else if (op_is_element(op) && is_own_memory(operand(op, memory)->type)) {
        const Use use = use_of(op, operand(op, memory)->type, operand_list(op, indices));
        is_open(pass, &use);
    }
}

void index_reach(FactTable *facts, int64_t *looks, Op *read, int dim, int64_t *low, int64_t *high)
{
    const Type *memory = operand(read, memory)->type;
    const bool scattered = op_is_scattered(read);
    const int first = scattered ? scattered_first(read) : read->operand_count - memory->rank;
    Use use = use_of(read, memory, read->operands + first);
    Reach reach;
    if (scattered) use.tile = scattered_value(read)->type;
    if (scattered) use.mask = scattered_mask(read);
    const Facts index = facts_of(facts, use.indices[dim]);
    *low = index.low > 0 ? index.low : 0;
    *high = index.high < memory->shape[dim] ? index.high : memory->shape[dim] - 1;
    if (!find_all(looks, &use, dim, &reach)) return;
    *low = reach.low > *low ? reach.low : *low;
    *high = reach.high < *high ? reach.high : *high;
}

bool pass_index_bounds(Kernel *kernel, PassContext *context)
{
    Pass pass = {.kernel = kernel,
                 .facts = analysis_ranges(context),
                 .arena = arena_new(),
                 .looks = MOST_LOOKS,
                 .good = true};
    kernel_visit(kernel, visit, &pass);
    arena_free(pass.arena);
    return pass.good;
}
