/* states.c: what a loop carries into its iterations, kept for the way back: see states.h. */
#include "passes/grad/states.h"

#include "ir/rebuild.h"
#include "target/cost.h"

/* ---- which ---- */

static DType kept_dtype(DType dtype)
{
    return dtype == DTYPE_b1 ? DTYPE_u8 : dtype;
}

static bool can_keep(const Type *type)
{
    return (type->kind == TYPE_SCALAR || type->kind == TYPE_TILE) && !dtype_is_packed(type->dtype);
}

/* What is added to an integer in each iteration; NULL: something else happens to it. */
static Value *growth_of(const Trips *trips, int index)
{
    const Value *argument = trips->arguments[index];
    if (trips->loop->code != OP_for || argument->type->kind != TYPE_SCALAR ||
        !dtype_is_integer(argument->type->dtype))
        return NULL;
    const Region *region = trips->loop->regions[0];
    const Op *next = region_terminator(region)->operands[index]->op;
    if (!next || next->code != OP_add) return NULL;
    const bool is_first = operand(next, a) == argument;
    Value *growth = is_first ? operand(next, b) : operand(next, a);
    const bool is_sum = is_first || operand(next, b) == argument;
    return is_sum && !region_holds(region, value_home(growth)) ? growth : NULL;
}

/* False, too, where they are too many to keep anything of each. */
static bool constant_trips(const Trips *trips, int64_t *count)
{
    int64_t begin, end, step;
    if (!value_constant(trips->begin, &begin) || !value_constant(trips->end, &end) ||
        !value_constant(trips->step, &step))
        return false;
    const uint64_t whole = (uint64_t)end - (uint64_t)begin, each = (uint64_t)step;
    const uint64_t total = end > begin ? (whole - 1) / each + 1 : 0;
    *count = (int64_t)total;
    return total <= INT32_MAX; /* records of more have room nowhere */
}

static int64_t ops_of(const Region *region)
{
    int64_t count = 0;
    for (const Op *op = region->first; op; op = op_next(op)) {
        count += op_has(op, PURE) && !op_has(op, COOP) ? 1 : COST_REPLAYED_ACCESS;
        for (int i = 0; i < op->region_count; i++) count += ops_of(op->regions[i]);
    }
    return count;
}

/* Whether it costs more to keep them: ops of half of the iterations, against a record's. */
static bool is_cheap(const Trips *trips, int64_t iterations)
{
    int64_t ops = 0;
    for (int i = 0; i < trips->loop->region_count; i++) ops += ops_of(trips->loop->regions[i]);
    return ops * (iterations - 1) / 2 <= COST_REPLAYED_OPS * trips->count;
}

/* ---- where ---- */

static const Type *kept_type(Grad *grad, const Value *argument)
{
    TypeTable *types = grad->kernel->types;
    const int64_t one = 1;
    const DType dtype = kept_dtype(argument->type->dtype);
    if (argument->type->kind == TYPE_SCALAR && !scalar_depends(grad, argument))
        return type_tile(types, dtype, 1, &one, NULL);
    return type_with_dtype(types, argument->type, dtype);
}

static bool take_states(Grad *grad, States *states, const Trips *trips)
{
    states->all = arena_new_array(grad->arena, State, trips->count + 1);
    states->count = trips->count;
    for (int i = 0; i < trips->count; i++) {
        const Value *argument = trips->arguments[i];
        if (!can_keep(argument->type)) return false;
        Value *growth = growth_of(trips, i);
        states->all[i] = (State){.type = argument->type,
                                 .kept = kept_type(grad, argument),
                                 .first = replayed(grad, trips->inits[i]),
                                 .growth = growth ? replayed(grad, growth) : NULL};
    }
    return true;
}

/* An array of the thread's, or a shared tile, with so many of them, if that has room. */
static void take_near(Grad *grad, State *state, int64_t iterations, int64_t *room)
{
    TypeTable *types = grad->kernel->types;
    const Type *kept = state->kept;
    const bool is_own = kept->kind == TYPE_SCALAR;
    const int64_t bytes = iterations * type_elements(kept) * dtype_bytes(kept->dtype);
    int64_t shape[TYPE_RANK] = {iterations};
    if (kept->rank == TYPE_RANK || bytes > room[is_own]) return;
    for (int i = 0; i < kept->rank; i++) shape[1 + i] = kept->shape[i];
    const Type *type = is_own ? type_local(types, kept->dtype, 1, shape)
                              : type_shared(types, kept->dtype, 1 + kept->rank, shape, NULL);
    const OpCode code = is_own ? OP_local_alloc : OP_shared_alloc;
    state->memory = build_op(&grad->builder, code, 0, NULL, 1, &type)->results;
    room[is_own] -= bytes;
}

static bool needs_records(const States *states)
{
    for (int i = 0; i < states->count; i++)
        if (!states->all[i].growth && !states->all[i].memory) return true;
    return false;
}

static bool others_read(const States *states)
{
    for (int i = 0; i < states->count; i++) {
        const State *state = &states->all[i];
        if (state->offset && state->kept->kind == TYPE_TILE) return true;
    }
    return false;
}

States *states_open(Grad *grad, const Trips *trips)
{
    int64_t iterations, room[] = {COST_SAVED_SHARED, COST_SAVED_LOCAL};
    States *states = arena_new_of(grad->arena, States);
    *states = (States){.begin = trips->begin, .step = trips->step};
    const bool is_known = constant_trips(trips, &iterations);
    if (!take_states(grad, states, trips) || (is_known && is_cheap(trips, iterations))) return NULL;
    for (int i = 0; is_known && i < states->count; i++)
        if (!states->all[i].growth) take_near(grad, &states->all[i], iterations, room);
    if (needs_records(states) && !records_open(grad, states, trips)) return NULL;
    /* Others may still read those of before. */
    if (others_read(states) && grad->builder.region->parent->code != OP_launch)
        states->before = build_op(&grad->builder, OP_sync, 0, NULL, 0, NULL);
    return states;
}

/* ---- one of them ---- */

static Value *as_index(Grad *grad, Value *number)
{
    return build_cast(&grad->builder, DTYPE_i32, number);
}

/* The part of a shared tile that the record is. */
static Value *shared_part(Grad *grad, const State *state, Value *number)
{
    const Type *kept = state->kept;
    Value *operands[1 + TYPE_RANK] = {state->memory, as_index(grad, number)};
    int64_t dims[TYPE_RANK];
    for (int i = 0; i < kept->rank; i++) {
        operands[2 + i] = build_const(&grad->builder, DTYPE_i32, 0);
        dims[i] = 1 + i;
    }
    const Type *type = type_shared(grad->kernel->types, kept->dtype, kept->rank, kept->shape, NULL);
    Op *part = build_op(&grad->builder, OP_shared_view, 2 + kept->rank, operands, 1, &type);
    op_set_ints(part, ATTR_dims, kept->rank, dims);
    return part->results;
}

/* Of a view: as many offsets of zero as it has dimensions, behind `operands`. */
static int at_zero(Grad *grad, const Type *view, int count, Value **operands)
{
    for (int i = 0; i < view->rank; i++)
        operands[count + i] = build_const(&grad->builder, DTYPE_i32, 0);
    return count + view->rank;
}

static Value *to_kept(Grad *grad, const State *state, Value *value)
{
    value = build_cast(&grad->builder, state->kept->dtype, value);
    return value->type->kind == state->kept->kind ? value : spread(grad, state->kept, value);
}

static Value *from_kept(Grad *grad, const State *state, Value *value)
{
    if (value->type->kind != state->type->kind) value = build1(&grad->builder, OP_item, value);
    if (value->type->dtype == state->type->dtype) return value;
    return build_cmp(&grad->builder, "ne", value, integer_of(grad, value->type, 0));
}

static void save(Grad *grad, const States *states, State *state, Value *number, Value *value)
{
    Builder *builder = &grad->builder;
    value = to_kept(grad, state, value);
    if (state->memory && state->memory->type->kind == TYPE_SHARED) {
        build2(builder, OP_shared_store, shared_part(grad, state, number), value);
        return;
    }
    const bool is_own = state->kept->kind == TYPE_SCALAR;
    Value *memory = state->memory ? state->memory : record_part(grad, states, state, number);
    Value *operands[2 + TYPE_RANK] = {memory, value,
                                      state->memory ? as_index(grad, number)
                                      : is_own      ? thread_of(grad)
                                                    : NULL};
    const int count = is_own ? 3 : at_zero(grad, memory->type, 2, operands);
    Op *store = build_op(builder, is_own ? OP_element_store : OP_store, count, operands, 0, NULL);
    if (!state->memory) state->store = store;
}

static Value *load(Grad *grad, const States *states, const State *state, Value *number)
{
    Builder *builder = &grad->builder;
    if (state->memory && state->memory->type->kind == TYPE_SHARED)
        return build1(builder, OP_shared_load, shared_part(grad, state, number));
    const bool is_own = state->kept->kind == TYPE_SCALAR;
    Value *memory = state->memory ? state->memory : record_part(grad, states, state, number);
    Value *operands[1 + TYPE_RANK] = {memory, state->memory ? as_index(grad, number)
                                              : is_own      ? thread_of(grad)
                                                            : NULL};
    const int count = is_own ? 2 : at_zero(grad, memory->type, 1, operands);
    Op *op =
        build_op(builder, is_own ? OP_element_load : OP_load, count, operands, 1, &state->kept);
    if (!state->memory) records_note_load(grad, states, state, op);
    return op->results;
}

/* ---- all of them ---- */

/* Which iteration that is, from 0 on, an i64. */
static Value *number_of_index(Grad *grad, const States *states, Value *index)
{
    Builder *builder = &grad->builder;
    Value *passed = build2(builder, OP_sub, index, states->begin);
    return build_cast(builder, DTYPE_i64, build2(builder, OP_floordiv, passed, states->step));
}

static void save_all(Grad *grad, const States *states, Value *number, Value *const *carried)
{
    for (int i = 0; i < states->count; i++)
        if (!states->all[i].growth) save(grad, states, &states->all[i], number, carried[i]);
}

void states_save(Grad *grad, States *states, Value *index, Value *const *carried)
{
    Builder *builder = &grad->builder;
    Value *number = number_of_index(grad, states, index);
    if (!states->stride) {
        save_all(grad, states, number, carried);
        return;
    }
    Value *rest = build2(builder, OP_floormod, number, states->stride);
    Value *is_first = build_cmp(builder, "eq", rest, build_const(builder, DTYPE_i64, 0));
    Op *branch = build_branch(builder, is_first);
    const Builder outside = *builder;
    *builder = builder_before(branch->regions[0]->last);
    save_all(grad, states, build2(builder, OP_floordiv, number, states->stride), carried);
    *builder = outside;
}

static Value *grown(Grad *grad, const State *state, Value *number)
{
    Value *times = build_cast(&grad->builder, state->type->dtype, number);
    Value *more = build2(&grad->builder, OP_mul, state->growth, times);
    return build2(&grad->builder, OP_add, state->first, more);
}

Value *states_load(Grad *grad, const States *states, Value *index, Value **carried)
{
    Builder *builder = &grad->builder;
    Value *number = number_of_index(grad, states, index), *record = number;
    if (states->stride) {
        record = build2(builder, OP_floordiv, number, states->stride);
        number = build2(builder, OP_mul, record, states->stride);
        Value *steps = build_cast(builder, index->type->dtype, number);
        index =
            build2(builder, OP_add, states->begin, build2(builder, OP_mul, steps, states->step));
    }
    for (int i = 0; i < states->count; i++) {
        const State *state = &states->all[i];
        carried[i] = state->growth ? grown(grad, state, number)
                                   : from_kept(grad, state, load(grad, states, state, record));
    }
    return index;
}

void states_close(Grad *grad, States *states)
{
    if (others_read(states)) states->after = build_op(&grad->builder, OP_sync, 0, NULL, 0, NULL);
}
