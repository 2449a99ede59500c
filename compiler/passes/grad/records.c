/* records.c: records of states in workspaces: for each block so many as the loop has iterations, or
 * a fixed number; in each the parts of the states that are read. */
#include "passes/grad/states.h"

#include "ir/workspace.h"
#include "passes/analysis/access.h"
#include "target/cost.h"

enum { RECORD_ALIGN = 16 }; /* bytes: those of the widest access */

/* Of a loop of the program: its copies use them one after another. */
struct Records {
    Value *workspace;
    VEC(Op *) lengths; /* const: bytes of a record */
    VEC(State *) parts;
};

static Value *number(Builder *builder, int64_t value)
{
    return build_const(builder, DTYPE_i64, value);
}

/* ---- how many ---- */

static bool host_knows(const Trips *trips)
{
    return value_is_on_host(trips->begin) && value_is_on_host(trips->end) &&
           value_is_on_host(trips->step);
}

/* On the host if `copied` is given. */
static Value *slots_of(const Trips *trips, Builder *builder, Map *copied)
{
    Value *bounds[] = {trips->begin, trips->end, trips->step};
    if (!host_knows(trips)) return number(builder, COST_SAVED_RECORDS);
    for (int i = 0; i < 3; i++) {
        if (copied) bounds[i] = value_on_host(builder, bounds[i], copied);
        bounds[i] = build_cast(builder, DTYPE_i64, bounds[i]);
    }
    return trips_of(builder, bounds[0], bounds[1], bounds[2]);
}

static Op *launch_around(const Region *region)
{
    while (region->parent->code != OP_launch) region = region->parent->parent;
    return region->parent;
}

static Records *records_of(Grad *grad, const Trips *trips)
{
    Kernel *kernel = grad->kernel;
    Records *records = map_get(&grad->records, trips->loop);
    const int index = kernel_workspace_count(kernel);
    if (records || index == WORKSPACES) return records;
    const Op *launch = launch_around(grad->builder.region);
    Builder host = grad->builder;
    host.region = kernel->host;
    host.before = (Op *)(uintptr_t)launch;
    records = arena_new_of(grad->arena, Records);
    *records = (Records){0};
    Map copied = {0};
    Value *extents[5] = {number(&host, 0), slots_of(trips, &host, &copied)};
    vec_push(grad->arena, &records->lengths, extents[0]->op);
    for (int i = 0; i < 3; i++) extents[2 + i] = build_cast(&host, DTYPE_i64, launch->operands[i]);
    records->workspace = kernel_add_workspace(
        kernel, intern_printf(kernel->session->names, "states_%d", index),
        type_pointer(kernel->types, DTYPE_u8, SPACE_GLOBAL), false, trips->loop->span);
    build_workspace_size(&host, index, 5, extents);
    map_set(grad->arena, &grad->records, trips->loop, records);
    vec_push(grad->arena, &grad->all_records, records);
    return records;
}

/* ---- which are the block's ---- */

static Value *first_record(Grad *grad, const Trips *trips)
{
    const Op *launch = launch_around(grad->builder.region);
    Builder *builder = &grad->builder;
    Value *block = number(builder, 0);
    for (int dim = 2; dim >= 0; dim--) {
        if (value_is_constant(launch->operands[dim], 1)) continue;
        Value *blocks = build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_grid_dim, dim));
        Value *index = build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_block_idx, dim));
        block = build2(builder, OP_add, build2(builder, OP_mul, block, blocks), index);
    }
    return build2(builder, OP_mul, block, slots_of(trips, builder, NULL));
}

/* Iterations for each record. */
static Value *stride_of(Grad *grad, const Trips *trips)
{
    Builder *builder = &grad->builder;
    Value *count = trips_of(builder, trips->begin, trips->end, trips->step);
    Value *stride = trips_of(builder, number(builder, 0), build_cast(builder, DTYPE_i64, count),
                             number(builder, COST_SAVED_RECORDS));
    return build2(builder, OP_max, stride, number(builder, 1));
}

bool records_open(Grad *grad, States *states, const Trips *trips)
{
    Records *records = grad->is_inner ? NULL : records_of(grad, trips);
    if (!records) return false;
    states->records = records;
    states->base = first_record(grad, trips);
    states->bytes = number(&grad->builder, 0);
    vec_push(grad->arena, &records->lengths, states->bytes->op);
    for (int i = 0; i < states->count; i++) {
        State *state = &states->all[i];
        if (state->growth || state->memory) continue;
        state->offset = number(&grad->builder, 0);
        vec_push(grad->arena, &records->parts, state);
    }
    if (!host_knows(trips)) states->stride = stride_of(grad, trips);
    return true;
}

/* ---- the memory of a part ---- */

/* An element for each thread, or a tile in row-major order. */
static Value *view_of_part(Grad *grad, Value *pointer, const Type *kept)
{
    const bool is_own = kept->kind == TYPE_SCALAR;
    const int rank = is_own ? 1 : kept->rank;
    Value *extents[TYPE_RANK], *strides[TYPE_RANK];
    int64_t stride = 1;
    for (int i = rank; i-- > 0;) {
        const int64_t extent = is_own ? grad->threads : kept->shape[i];
        extents[i] = number(&grad->builder, extent);
        strides[i] = number(&grad->builder, stride);
        stride *= extent;
    }
    return build_view(&grad->builder, pointer, rank, extents, strides);
}

Value *record_part(Grad *grad, const States *states, const State *state, Value *number)
{
    Builder *builder = &grad->builder;
    Value *record = build2(builder, OP_add, states->base, number);
    Value *bytes =
        build2(builder, OP_add, build2(builder, OP_mul, record, states->bytes), state->offset);
    Value *pointer = build2(builder, OP_ptr_add, states->records->workspace, bytes);
    const Type *type = type_pointer(grad->kernel->types, state->kept->dtype, SPACE_GLOBAL);
    pointer = build_op(builder, OP_ptr_cast, 1, &pointer, 1, &type)->results;
    return view_of_part(grad, pointer, state->kept);
}

/* ---- reads of records ---- */

void records_note_load(Grad *grad, const States *states, const State *state, Op *load)
{
    Reread *read = arena_new_of(grad->arena, Reread);
    *read = (Reread){states, state};
    map_set(grad->arena, &grad->rereads, load, read);
}

const Reread *record_read(const Grad *grad, const Op *op)
{
    return map_get(&grad->rereads, op);
}

Value *records_workspace(const Grad *grad, const Op *op)
{
    const Value *view = op_has(op, READS) ? view_of(op) : NULL;
    const Parameter *parameter =
        view ? pointer_parameter(grad->kernel, operand(view->op, pointer)) : NULL;
    return parameter && parameter->is_workspace ? parameter->value : NULL;
}

static void set_number(Op *number, int64_t value)
{
    if (is_there(number)) op_set_int(number, ATTR_value, value);
}

static int64_t bytes_of(const Grad *grad, const State *state)
{
    const bool is_own = state->kept->kind == TYPE_SCALAR;
    const int64_t elements = is_own ? grad->threads : type_elements(state->kept);
    return (elements * dtype_bytes(state->kept->dtype) + RECORD_ALIGN - 1) / RECORD_ALIGN *
           RECORD_ALIGN;
}

static void settle(const Grad *grad, const Records *records)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < records->parts.count; i++) {
        const State *state = records->parts.data[i];
        if (!is_there(state->store)) continue;
        set_number(state->offset->op, bytes);
        bytes += bytes_of(grad, state);
    }
    for (size_t i = 0; i < records->lengths.count; i++) set_number(records->lengths.data[i], bytes);
}

void records_settle(Grad *grad)
{
    for (size_t i = 0; i < grad->all_records.count; i++) settle(grad, grad->all_records.data[i]);
    grad->all_records.count = 0;
    grad->records = grad->rereads = (Map){0};
    workspaces_settle(grad->kernel);
}
