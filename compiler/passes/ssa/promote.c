/* promote.c: variables become SSA values.
 *
 * The evaluator gives every name that is assigned under run-time control, and every tile that an op
 * mutates, a `var`. On structured control flow SSA needs no dominance frontiers: an `if` yields,
 * and a loop carries, the variables that are set inside it and live outside it (Brandis and
 * Mössenböck 1994, "Single-pass generation of static single-assignment form for structured
 * languages"). */
#include "passes/pass.h"
#include "ir/rebuild.h"

#include "base/vec.h"

/* Of what a variable is: it was `before`, or nothing yet. */
typedef struct Change {
    Value *variable, *before;
} Change;

typedef VEC(Value *) Values;

typedef struct Promotion {
    Kernel *kernel;
    Arena *arena; /* what is noted; ops are the kernel's */
    Map current;  /* var op's result -> its value now */
    VEC(Change) changes;
    Map anchors; /* var op's result -> the op that said what its layout is to be */
    Map sets;    /* op with regions -> the Values that variables_set found */
} Promotion;

static void set_current(Promotion *promotion, Value *variable, Value *value)
{
    const Change change = {variable, map_get(&promotion->current, variable)};
    vec_push(promotion->arena, &promotion->changes, change);
    map_set(promotion->arena, &promotion->current, variable, value);
}

/* The variables are what they were when there were so many changes. */
static void take_back(Promotion *promotion, size_t changes)
{
    while (promotion->changes.count > changes) {
        const Change change = promotion->changes.data[--promotion->changes.count];
        if (change.before)
            map_set(promotion->arena, &promotion->current, change.variable, change.before);
        else
            map_remove(&promotion->current, change.variable);
    }
}

/* What a variable holds that nobody has set: a zero, so that no path is undefined. */
static Value *default_value(Builder *builder, const Type *type)
{
    if (type->kind == TYPE_POINTER) return build_null(builder, type);
    if (type->kind != TYPE_SCALAR && type->kind != TYPE_TILE) return NULL;
    Value *zero = dtype_is_float(type->dtype) ? build_number(builder, type->dtype, 0.0)
                                              : build_const(builder, type->dtype, 0);
    if (type->kind == TYPE_SCALAR) return zero;
    return build_op(builder, OP_splat, 1, &zero, 1, &type)->results;
}

static Value *variable_value(Promotion *promotion, Value *variable, Builder *builder)
{
    Value *value = map_get(&promotion->current, variable);
    if (value) return value;
    value = default_value(builder, variable->type->content);
    if (!value) {
        diag_report(promotion->kernel->session->diags, DIAG_unset_variable, builder->span,
                    variable->name ? variable->name : "a variable");
        return NULL;
    }
    set_current(promotion, variable, value);
    return value;
}

/* ---- which variables a region sets ---- */

typedef struct Collection {
    Promotion *promotion;
    Map left_out; /* variables of the regions' own, and those that are found */
    Values *set;
} Collection;

static void collect(Collection *collection, Value *variable)
{
    Arena *arena = collection->promotion->arena;
    if (map_has(&collection->left_out, variable)) return;
    map_set(arena, &collection->left_out, variable, variable);
    vec_push(arena, collection->set, variable);
}

static const Values *variables_set(Promotion *promotion, const Op *op);

static void collect_op(Collection *collection, Op *op)
{
    Arena *arena = collection->promotion->arena;
    if (op->code == OP_var) map_set(arena, &collection->left_out, op->results, op->results);
    if (op->code == OP_var_set) collect(collection, operand(op, variable));
    if (op->region_count == 0) return;
    const Values *inside = variables_set(collection->promotion, op);
    for (size_t i = 0; i < inside->count; i++) collect(collection, inside->data[i]);
}

/* Found once for what is in others, too, however deep. */
static const Values *variables_set(Promotion *promotion, const Op *op)
{
    Values *set = map_get(&promotion->sets, op);
    if (set) return set;
    set = arena_new_of(promotion->arena, Values);
    Collection collection = {.promotion = promotion, .set = set};
    for (int i = 0; i < op->region_count; i++)
        for (Op *inside = op->regions[i]->first; inside; inside = op_next(inside))
            collect_op(&collection, inside);
    map_set(promotion->arena, &promotion->sets, op, set);
    return set;
}

/* ---- rewriting ops with regions ---- */

static bool promote_region(Promotion *promotion, Region *region);

/* Appends the variables' values at the region's end to its terminator, making one if there is none.
 */
static bool extend_terminator(Promotion *promotion, Region *region, const Values *variables,
                              Span span)
{
    Arena *arena = promotion->arena;
    Op *old = region_terminator(region);
    Builder builder = old ? builder_before(old) : builder_at_end(region, span);
    Values operands = {0};
    for (int i = 0; old && i < old->operand_count; i++)
        vec_push(arena, &operands, old->operands[i]);
    for (size_t i = 0; i < variables->count; i++) {
        Value *value = variable_value(promotion, variables->data[i], &builder);
        if (!value) return false;
        vec_push(arena, &operands, value);
    }
    build_op(&builder, old ? old->code : OP_yield, (int)operands.count, operands.data, 0, NULL);
    if (old) op_erase(old);
    return true;
}

/* A copy of `op` with more operands and results that takes over its regions; the old results are
 * replaced. */
static Op *widen_op(Promotion *promotion, Op *op, const Values *variables, bool carried)
{
    Arena *arena = promotion->arena;
    Builder builder = builder_before(op);
    Values operands = {0};
    VEC(const Type *) types = {0};
    for (int i = 0; i < op->operand_count; i++) vec_push(arena, &operands, op->operands[i]);
    for (int i = 0; i < op->result_count; i++) vec_push(arena, &types, op->results[i].type);
    for (size_t i = 0; i < variables->count; i++) {
        vec_push(arena, &types, variables->data[i]->type->content);
        if (!carried) continue;
        Value *value = variable_value(promotion, variables->data[i], &builder);
        if (!value) return NULL;
        vec_push(arena, &operands, value);
    }
    Op *wide = op_rebuild(op, (int)operands.count, operands.data, (int)types.count, types.data);
    for (int i = 0; i < op->result_count; i++) {
        wide->results[i].name = op->results[i].name;
        value_replace(&op->results[i], &wide->results[i]);
    }
    return wide;
}

static void take_results(Promotion *promotion, const Op *wide, const Values *variables)
{
    int first = wide->result_count - (int)variables->count;
    for (size_t i = 0; i < variables->count; i++) {
        Value *result = &wide->results[first + (int)i];
        result->name = variables->data[i]->name;
        set_current(promotion, variables->data[i], result);
    }
}

static bool promote_if(Promotion *promotion, Op *op)
{
    const Values *variables = variables_set(promotion, op);
    Op *wide = widen_op(promotion, op, variables, false);
    const size_t before = promotion->changes.count;
    for (int i = 0; i < wide->region_count; i++) {
        if (!promote_region(promotion, wide->regions[i])) return false;
        if (!extend_terminator(promotion, wide->regions[i], variables, wide->span)) return false;
        take_back(promotion, before);
    }
    take_results(promotion, wide, variables);
    op_erase(op);
    return true;
}

static bool promote_loop(Promotion *promotion, Op *op)
{
    const Values *variables = variables_set(promotion, op);
    Op *wide = widen_op(promotion, op, variables, true);
    if (!wide) return false;
    const size_t before = promotion->changes.count;
    for (int i = 0; i < wide->region_count; i++) {
        Region *region = wide->regions[i];
        for (size_t j = 0; j < variables->count; j++) {
            Value *variable = variables->data[j];
            Value *argument = region_add_argument(region, variable->type->content, variable->name);
            set_current(promotion, variable, argument);
        }
        if (!promote_region(promotion, region)) return false;
        if (!extend_terminator(promotion, region, variables, wide->span)) return false;
        take_back(promotion, before);
    }
    take_results(promotion, wide, variables);
    op_erase(op);
    return true;
}

/* What its region sets is the region's alone. */
static bool promote_apart(Promotion *promotion, const Op *op)
{
    const size_t before = promotion->changes.count;
    const bool fine = promote_region(promotion, op->regions[0]);
    take_back(promotion, before);
    return fine;
}

static void set_variable(Promotion *promotion, Builder *builder, Value *variable, Value *value)
{
    const Op *said = map_get(&promotion->anchors, variable);
    if (said) {
        Op *anchor = build_op(builder, OP_anchor, 1, &value, 0, NULL);
        op_set_text(anchor, ATTR_text, op_attr(said, ATTR_text)->text);
        anchor->span = said->span;
    }
    set_current(promotion, variable, value);
}

/* A variable's layout holds wherever it is said. */
static void collect_anchor(Op *op, void *context)
{
    Promotion *promotion = context;
    if (op->code != OP_anchor || operand(op, tile)->type->kind != TYPE_VAR) return;
    map_set(promotion->arena, &promotion->anchors, operand(op, tile), op);
    op_erase(op); /* stays readable: it is the arena's */
}

static bool promote_op(Promotion *promotion, Op *op)
{
    Builder builder = builder_before(op);
    switch ((int)op->code) {
    case OP_var:
        if (op->operand_count) set_variable(promotion, &builder, op->results, operand(op, init));
        return true; /* erased at the end, when nothing names it */
    case OP_var_set:
        set_variable(promotion, &builder, operand(op, variable), operand(op, value));
        op_erase(op);
        return true;
    case OP_var_get: {
        Value *value = variable_value(promotion, operand(op, variable), &builder);
        if (!value) return false;
        value_replace(op->results, value);
        op_erase(op);
        return true;
    }
    case OP_grad: return promote_apart(promotion, op);
    case OP_custom_vjp:
    case OP_if: return promote_if(promotion, op);
    case OP_for:
    case OP_while: return promote_loop(promotion, op);
    case OP_launch: return promote_region(promotion, op->regions[0]);
    default: return true;
    }
}

static bool promote_region(Promotion *promotion, Region *region)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        if (!promote_op(promotion, op)) return false;
    }
    return true;
}

static void erase_variable(Op *op, void *context)
{
    (void)context;
    if (op->code == OP_var) op_erase(op);
}

/* ---- arrays of few numbers ---- */

enum { MOST_NUMBERS = 4 };

/* Of an access of an element by numbers: its place in the array; -1: it is something else. */
static int64_t place_of(const Op *op, const Value *array)
{
    if (!op_has(op, ELEMENT) || op_has(op, ATOMIC) || operand(op, memory) != array) return -1;
    int64_t place = 0, index;
    for (int d = 0; d < array->type->rank; d++) {
        const int64_t extent = array->type->shape[d];
        if (!value_constant(operand_list(op, indices)[d], &index) || index < 0 || index >= extent)
            return -1;
        place = place * extent + index;
    }
    return place;
}

/* A branch that other threads idle through has no results, nor do variables change in it. */
static bool is_set_idly(const Op *op, const Value *array)
{
    for (const Region *at = op->parent; at != array->op->parent; at = at->parent->parent)
        if (op_int(at->parent, ATTR_idle, 0)) return true;
    return false;
}

/* Where all indices are known, whole numbers of a thread's own array are variables: what is
 * computed of them says where tiles begin. */
static void numbers_to_variables(Op *alloc, void *context)
{
    const Value *array = &alloc->results[0];
    const DType dtype = array->type->dtype;
    Value *variables[MOST_NUMBERS];
    (void)context;
    if (!dtype_is_integer(dtype) || dtype == DTYPE_b1 || type_elements(array->type) > MOST_NUMBERS)
        return;
    for (const OpUse *use = array->uses; use; use = use->next)
        if (place_of(use->op, array) < 0 || is_set_idly(use->op, array)) return;
    Builder before = builder_before(alloc);
    const Type *type =
        type_var(alloc->parent->kernel->types, type_scalar(alloc->parent->kernel->types, dtype));
    for (int64_t i = 0; i < type_elements(array->type); i++) {
        Value *zero = build_const(&before, dtype, 0);
        variables[i] = build_op(&before, OP_var, 1, &zero, 1, &type)->results;
    }
    while (array->uses) {
        Op *op = array->uses->op;
        Builder at = builder_before(op);
        Value *variable = variables[place_of(op, array)];
        if (op->code == OP_element_load)
            value_replace(op->results, build1(&at, OP_var_get, variable));
        else
            build2(&at, OP_var_set, variable, operand(op, value));
        op_erase(op);
    }
    op_erase(alloc);
}

bool pass_promote(Kernel *kernel, PassContext *context)
{
    Promotion promotion = {.kernel = kernel, .arena = context->arena};
    if (!kernel->is_strict) kernel_visit_those(kernel, OP_local_alloc, numbers_to_variables, NULL);
    kernel_visit_those(kernel, OP_anchor, collect_anchor, &promotion);
    if (!promote_region(&promotion, kernel->host)) return false;
    kernel_visit_those(kernel, OP_var, erase_variable, NULL);
    return true;
}
