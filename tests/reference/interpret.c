/* interpret.c: runs a kernel's host region and, for each launch, its blocks one after the other. */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool refuse(const Machine *machine, const Op *op, const char *why)
{
    Buf text = {0};
    op_print(op, &text);
    fprintf(stderr, "%s: %s\n  in: %s\n", machine->kernel->name, why, text.data);
    buf_free(&text);
    return false;
}

bool break_promise(Machine *machine, const Op *op, const char *why)
{
    machine->broken = true;
    return refuse(machine, op, why);
}

/* ---- threads ---- */

bool is_active(const Machine *machine, int64_t thread)
{
    return !machine->active || machine->active[thread];
}

int64_t first_active(const Machine *machine)
{
    int64_t thread = 0;
    while (thread < machine->threads - 1 && !is_active(machine, thread)) thread++;
    return thread;
}

/* The active threads for which `which` is what is wanted; false: there is none. */
static bool narrow(Machine *machine, const Datum *which, bool wanted, const bool **out)
{
    bool *threads = arena_new_array(machine->kernel->arena, bool, machine->threads), any = false;
    for (int64_t i = 0; i < machine->threads; i++) {
        threads[i] = is_active(machine, i) && (number_at(which, i).i != 0) == wanted;
        any |= threads[i];
    }
    *out = threads;
    return any;
}

/* ---- data ---- */

/* Threads may have their own. */
static bool may_differ(const Type *type)
{
    return type->kind == TYPE_SCALAR || type->kind == TYPE_POINTER || type->kind == TYPE_VIEW;
}

static const Type *content_of(const Type *type)
{
    return type->kind == TYPE_VAR ? type->content : type;
}

Datum *datum_of(Machine *machine, Value *value)
{
    if (value->scratch) return value->scratch;
    const Type *type = content_of(value->type);
    Datum *datum = arena_new_of(machine->kernel->arena, Datum);
    int64_t room = type->kind == TYPE_TILE || type->kind == TYPE_SHARED ? type_elements(type) : 1;
    datum->count = room;
    if (may_differ(type)) room = machine->threads;
    if (type->kind == TYPE_LOCAL) datum->count = room = type_elements(type) * machine->threads;
    datum->numbers = arena_new_array(machine->kernel->arena, Number, room);
    value->scratch = datum;
    return datum;
}

void datum_copy(Datum *to, const Datum *from)
{
    Number *numbers = to->numbers;
    memcpy(numbers, from->numbers, sizeof *numbers * (size_t)from->count);
    *to = *from;
    to->numbers = numbers;
}

Number number_at(const Datum *datum, int64_t thread)
{
    return datum->numbers[datum->count == 1 ? 0 : thread];
}

/* What the active threads assign; the others keep what they have. */
static void datum_assign(const Machine *machine, const Type *type, Datum *to, const Datum *from)
{
    if (!machine->active || !may_differ(content_of(type))) {
        datum_copy(to, from);
        return;
    }
    for (int64_t i = to->count == 1 ? 1 : machine->threads; i < machine->threads; i++)
        to->numbers[i] = to->numbers[0];
    for (int64_t i = 0; i < machine->threads; i++)
        if (machine->active[i]) to->numbers[i] = number_at(from, i);
    to->count = machine->threads;
    to->buffer = from->buffer;
    to->view = from->view;
}

const Datum *operand_datum(const Op *op, int index)
{
    return op->operands[index]->scratch;
}

int64_t integer(const Machine *machine, const Op *op, int index)
{
    return number_at(operand_datum(op, index), first_active(machine)).i;
}

Datum *result(Machine *machine, const Op *op)
{
    return datum_of(machine, &op->results[0]);
}

/* Copies values into others that may be among them: all are read before one is written. */
static void copy_values(Machine *machine, int count, Value *const *from, Value *const *to)
{
    Datum *held = arena_new_array(machine->kernel->arena, Datum, count + 1);
    for (int i = 0; i < count; i++) {
        const Datum *source = from[i]->scratch;
        held[i] = *source;
        held[i].numbers = arena_new_array(machine->kernel->arena, Number, source->count);
        memcpy(held[i].numbers, source->numbers, sizeof(Number) * (size_t)source->count);
    }
    for (int i = 0; i < count; i++)
        datum_assign(machine, to[i]->type, datum_of(machine, to[i]), &held[i]);
}

/* `copy_values` between arrays of a marked stretch of the arena. */
static void move_values(Machine *machine, int count, Value *const *from, Value *const *to)
{
    for (int i = 0; i < count; i++) datum_of(machine, to[i]);
    ArenaMark mark = arena_mark(machine->kernel->arena);
    copy_values(machine, count, from, to);
    arena_reset(machine->kernel->arena, mark);
}

static void move_to_results(Machine *machine, const Op *op, Value *const *from)
{
    Value *to[256];
    for (int i = 0; i < op->result_count && i < 256; i++) to[i] = &op->results[i];
    move_values(machine, op->result_count, from, to);
}

/* ---- places in tiles ---- */

/* The next place in row-major order. */
void advance(const Type *type, int64_t *place)
{
    for (int dim = type->rank - 1; dim >= 0; dim--) {
        if (++place[dim] < type->shape[dim]) return;
        place[dim] = 0;
    }
}

int64_t index_of(const Type *type, const int64_t *place)
{
    int64_t index = 0;
    for (int dim = 0; dim < type->rank; dim++) index = index * type->shape[dim] + place[dim];
    return index;
}

/* ---- values ---- */

Number own_number(const Op *op)
{
    const Attr *value = op_attr(op, ATTR_value), *number = op_attr(op, ATTR_number);
    return number ? (Number){.f = number->number} : (Number){.i = value ? value->integer : 0};
}

static bool run_const(Machine *machine, const Op *op)
{
    result(machine, op)->numbers[0] = own_number(op);
    return true;
}

/* So many numbers a scalar has that is made of the operands. */
static int64_t widest(const Op *op)
{
    int64_t count = 1;
    for (int i = 0; i < op->operand_count; i++)
        if (operand_datum(op, i)->count > count) count = operand_datum(op, i)->count;
    return count;
}

static bool run_elementwise(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    DType dtype = op->operands[op->operand_count - 1]->type->dtype;
    if (may_differ(op->results[0].type)) out->count = widest(op);
    for (int64_t i = 0; i < out->count; i++) {
        Number operands[1 + 2 * DP4A_BYTES];
        for (int j = 0; j < op->operand_count && j < 1 + 2 * DP4A_BYTES; j++)
            operands[j] = number_at(operand_datum(op, j), i);
        if (!compute_element(op, dtype, op->results[0].type->dtype, operands, &out->numbers[i]))
            return refuse(machine, op, "this op is not interpreted");
    }
    return true;
}

static bool run_bitcast(Machine *machine, const Op *op)
{
    const Type *from = op->operands[0]->type, *to = op->results[0].type;
    bool plain = (from->kind == TYPE_SCALAR || from->kind == TYPE_TILE) && from->kind == to->kind;
    if (!plain || dtype_bits(from->dtype) != dtype_bits(to->dtype))
        return refuse(machine, op, "only elements of one size are interpreted");
    return run_elementwise(machine, op);
}

static bool run_pointer(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    int64_t size = dtype_memory_bits(op->operands[0]->type->dtype);
    datum_copy(out, operand_datum(op, 0));
    out->count = widest(op);
    for (int64_t i = 0; i < out->count && op->code == OP_ptr_add; i++)
        out->numbers[i].i =
            number_at(operand_datum(op, 0), i).i + number_at(operand_datum(op, 1), i).i * size;
    return true;
}

static bool run_block(Machine *machine, const Op *op)
{
    const int64_t *from = op->code == OP_block_idx ? machine->block : machine->grid;
    result(machine, op)->numbers[0].i = from[op_int(op, ATTR_dim, 0)];
    return true;
}

static bool run_nothing(Machine *machine, const Op *op)
{
    (void)machine, (void)op;
    return true;
}

static bool run_assume(Machine *machine, const Op *op)
{
    bool holds = true;
    for (int64_t i = 0; i < machine->threads && holds; i++) {
        const int64_t value = number_at(operand_datum(op, 0), i).i, gap = op_int(op, ATTR_gap, 0);
        if (!is_active(machine, i)) continue;
        holds = value % op_int(op, ATTR_multiple, 1) == 0 &&
                value >= op_int(op, ATTR_low, INT64_MIN) &&
                value <= op_int(op, ATTR_high, INT64_MAX) &&
                (op->operand_count < 2 || value + gap <= number_at(operand_datum(op, 1), i).i);
    }
    return holds || break_promise(machine, op, "what is assumed does not hold");
}

static bool run_check(Machine *machine, const Op *op)
{
    for (int64_t i = 0; i < machine->threads; i++)
        if (is_active(machine, i) && !number_at(operand_datum(op, 0), i).i)
            return refuse(machine, op, op_attr(op, ATTR_text)->text);
    return true;
}

/* ---- control ---- */

/* The threads that have rounds left; false: none has. */
static bool begin_round(Machine *machine, const Op *op, Datum *variable, const bool *entered)
{
    const Datum *end = operand_datum(op, 1);
    if (variable->count == 1 && end->count == 1) return variable->numbers[0].i < end->numbers[0].i;
    bool *threads = arena_new_array(machine->kernel->arena, bool, machine->threads), any = false;
    for (int64_t i = 0; i < machine->threads; i++) {
        threads[i] = (!entered || entered[i]) && number_at(variable, i).i < number_at(end, i).i;
        any |= threads[i];
    }
    machine->active = threads;
    return any;
}

static bool run_for(Machine *machine, const Op *op)
{
    const Region *region = op->regions[0];
    const bool *entered = machine->active;
    const Datum *step = operand_datum(op, 2);
    const int carried = op->operand_count - 3;
    Datum *variable = datum_of(machine, region->arguments[0]);
    for (int64_t i = 0; i < machine->threads; i++)
        if (is_active(machine, i) && number_at(step, i).i <= 0)
            return refuse(machine, op, "the step is not positive");
    move_values(machine, carried, op->operands + 3, region->arguments + 1);
    datum_copy(variable, operand_datum(op, 0));
    for (int64_t i = variable->count; i < step->count; i++)
        variable->numbers[i] = variable->numbers[0];
    if (step->count > variable->count) variable->count = step->count;
    while (begin_round(machine, op, variable, entered)) {
        if (!run_region(machine, region)) return false;
        move_values(machine, carried, machine->yielded, region->arguments + 1);
        for (int64_t i = 0; i < variable->count; i++)
            variable->numbers[i].i += number_at(step, i).i;
    }
    machine->active = entered;
    move_to_results(machine, op, region->arguments + 1);
    return true;
}

/* Of a loop: one that waits for a block which comes later has no end here. */
enum { MOST_ROUNDS = 1 << 20 };

static bool run_while(Machine *machine, const Op *op)
{
    const Region *test = op->regions[0], *body = op->regions[1];
    const bool *entered = machine->active;
    move_values(machine, op->operand_count, op->operands, test->arguments);
    for (int rounds = 0;; rounds++) {
        if (rounds == MOST_ROUNDS) return refuse(machine, op, "the loop has too many rounds");
        if (!run_region(machine, test)) return false;
        const Datum *condition = machine->condition;
        move_to_results(machine, op, machine->yielded); /* of threads that leave now, the last */
        if (condition->count == 1 ? !condition->numbers[0].i
                                  : !narrow(machine, condition, true, &machine->active))
            break;
        move_values(machine, body->argument_count, machine->yielded, body->arguments);
        if (!run_region(machine, body)) return false;
        move_values(machine, test->argument_count, machine->yielded, test->arguments);
    }
    machine->active = entered;
    return true;
}

static bool run_if(Machine *machine, const Op *op)
{
    const Datum *condition = operand_datum(op, 0);
    const bool *entered = machine->active;
    for (int side = 0; side < 2; side++) {
        machine->active = entered;
        if (condition->count == 1 ? (condition->numbers[0].i != 0) == side
                                  : !narrow(machine, condition, !side, &machine->active))
            continue;
        if (!run_region(machine, op->regions[side])) return false;
        move_to_results(machine, op, machine->yielded);
    }
    machine->active = entered;
    return true;
}

static bool run_yield(Machine *machine, const Op *op)
{
    int first = op->code == OP_condition;
    machine->condition = first ? operand_datum(op, 0) : NULL;
    machine->yielded = op->operands + first;
    machine->yielded_count = op->operand_count - first;
    return true;
}

static bool run_var(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    if (op->operand_count == 1)
        datum_assign(machine, op->results[0].type, out, operand_datum(op, 0));
    return true;
}

static bool run_copy(Machine *machine, const Op *op) /* var_get, convert, reshape */
{
    datum_copy(result(machine, op), operand_datum(op, 0));
    return true;
}

static bool run_var_set(Machine *machine, const Op *op)
{
    datum_assign(machine, op->operands[0]->type, datum_of(machine, op->operands[0]),
                 operand_datum(op, 1));
    return true;
}

static bool run_launch(Machine *machine, const Op *op)
{
    for (int dim = 0; dim < 3; dim++) machine->grid[dim] = operand_datum(op, dim)->numbers[0].i;
    int64_t *block = machine->block;
    machine->threads = (int)op_int(op, ATTR_warps, 1) * 32;
    for (block[2] = 0; block[2] < machine->grid[2]; block[2]++)
        for (block[1] = 0; block[1] < machine->grid[1]; block[1]++)
            for (block[0] = 0; block[0] < machine->grid[0]; block[0]++)
                if (!run_region(machine, op->regions[0])) return false;
    machine->threads = 1;
    return true;
}

/* ---- tiles ---- */

static bool run_splat(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    const Datum *given = operand_datum(op, 0);
    const Number number = number_at(given, first_active(machine));
    for (int64_t i = 0; i < given->count; i++) /* set_elements makes another thing of these */
        if (is_active(machine, i) && number_at(given, i).i != number.i)
            return refuse(machine, op, "a tile that each thread has for itself is not interpreted");
    for (int64_t i = 0; i < out->count; i++) out->numbers[i] = number;
    return true;
}

/* Each element of the result is one of the operand's, at a place that `choose` finds. */
typedef void Chooser(const Op *op, const int64_t *place, int64_t *from);

static bool run_choice(Machine *machine, const Op *op, Chooser *choose)
{
    const Type *type = op->results[0].type, *source = op->operands[0]->type;
    int64_t place[TYPE_RANK] = {0}, from[TYPE_RANK] = {0};
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++, advance(type, place)) {
        choose(op, place, from);
        out->numbers[i] = operand_datum(op, 0)->numbers[index_of(source, from)];
    }
    return true;
}

static void choose_broadcast(const Op *op, const int64_t *place, int64_t *from)
{
    const Type *source = op->operands[0]->type;
    for (int dim = 0; dim < source->rank; dim++)
        from[dim] = source->shape[dim] == 1 ? 0 : place[dim];
}

static void choose_transpose(const Op *op, const int64_t *place, int64_t *from)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    for (int dim = 0; dim < op->results[0].type->rank; dim++)
        from[dims->integers[dim]] = place[dim];
}

static bool run_broadcast(Machine *machine, const Op *op)
{
    return run_choice(machine, op, choose_broadcast);
}

static bool run_transpose(Machine *machine, const Op *op)
{
    return run_choice(machine, op, choose_transpose);
}

static bool run_iota(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    int64_t place[TYPE_RANK] = {0}, dim = op_int(op, ATTR_dim, 0);
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++, advance(type, place)) out->numbers[i].i = place[dim];
    return true;
}

static void choose_part(const Op *op, const int64_t *place, int64_t *from)
{
    const Attr *begins = op_attr(op, ATTR_begins);
    for (int dim = 0; dim < op->results[0].type->rank; dim++)
        from[dim] = begins->integers[dim] + place[dim];
}

static bool run_part(Machine *machine, const Op *op)
{
    return run_choice(machine, op, choose_part);
}

/* A matrix in registers or in shared memory. */
typedef struct Matrix {
    const Number *numbers;
    int64_t strides[2];
} Matrix;

static Matrix matrix_of(const Op *op, int index)
{
    const Type *type = op->operands[index]->type;
    const SharedTile *shared = &operand_datum(op, index)->shared;
    if (type->kind != TYPE_SHARED)
        return (Matrix){operand_datum(op, index)->numbers, {type->shape[1], 1}};
    return (Matrix){&shared->memory[shared->start], {shared->strides[0], shared->strides[1]}};
}

/* One element of c + a @ b: floats are summed in f64 and rounded once. */
static Number dot_element(const Op *op, int64_t row, int64_t column)
{
    const Type *a = op->operands[0]->type, *c = op->operands[2]->type;
    const Matrix left = matrix_of(op, 0), right = matrix_of(op, 1);
    const Number *x = left.numbers + row * left.strides[0],
                 *y = right.numbers + column * right.strides[1];
    Number sum = operand_datum(op, 2)->numbers[row * c->shape[1] + column];
    for (int64_t p = 0; p < a->shape[1]; p++, x += left.strides[1], y += right.strides[0]) {
        if (dtype_is_float(c->dtype))
            sum.f += x->f * y->f;
        else
            sum.i =
                dtype_wrap(c->dtype, (int64_t)((uint64_t)sum.i + (uint64_t)x->i * (uint64_t)y->i));
    }
    if (dtype_is_float(c->dtype)) sum.f = number_round(c->dtype, sum.f);
    return sum;
}

static bool run_dot(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    Datum *out = result(machine, op);
    if (type->rank != 2) return refuse(machine, op, "only matrices are interpreted");
    for (int64_t i = 0; i < type->shape[0]; i++)
        for (int64_t j = 0; j < type->shape[1]; j++)
            out->numbers[i * type->shape[1] + j] = dot_element(op, i, j);
    return true;
}

/* Where a reduced dimension keeps more than one element, one for each warp, the whole sum stands in
 * the first and nothing in the others: which warp has which share is the layout's affair. */
static bool run_reduce(Machine *machine, const Op *op)
{
    const Type *source = op->operands[0]->type, *type = op->results[0].type;
    const Attr *dims = op_attr(op, ATTR_dims);
    const char *mode = op_attr(op, ATTR_mode)->text;
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++)
        if (!reduction_start(mode, type->dtype, &out->numbers[i]))
            return refuse(machine, op, "this mode is not interpreted");
    int64_t place[TYPE_RANK] = {0};
    for (int64_t i = 0; i < operand_datum(op, 0)->count; i++, advance(source, place)) {
        int64_t to[TYPE_RANK];
        memcpy(to, place, sizeof to);
        for (int dim = 0; dims && dim < dims->count; dim++) to[dims->integers[dim]] = 0;
        Number *sum = &out->numbers[index_of(type, to)];
        *sum = reduction_step(mode, type->dtype, *sum, operand_datum(op, 0)->numbers[i]);
    }
    return true;
}

static bool run_scan(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    const char *mode = op_attr(op, ATTR_mode)->text;
    int64_t dim = op_int(op, ATTR_dim, 0), place[TYPE_RANK] = {0};
    bool exclusive = op_int(op, ATTR_exclusive, 0) != 0, reverse = op_int(op, ATTR_reverse, 0) != 0;
    Datum *out = result(machine, op);
    const Number *in = operand_datum(op, 0)->numbers;
    for (int64_t count = 0; count < out->count; count++, advance(type, place)) {
        /* in reverse the places are those from the other end of the dimension */
        int64_t at[TYPE_RANK], before[TYPE_RANK];
        memcpy(at, place, sizeof at);
        if (reverse) at[dim] = type->shape[dim] - 1 - place[dim];
        memcpy(before, at, sizeof before);
        before[dim] += reverse ? 1 : -1;
        Number start;
        if (!reduction_start(mode, type->dtype, &start))
            return refuse(machine, op, "this mode is not interpreted");
        int64_t i = index_of(type, at), last = index_of(type, before);
        if (place[dim] == 0)
            out->numbers[i] = exclusive ? start : in[i];
        else
            out->numbers[i] =
                reduction_step(mode, type->dtype, out->numbers[last], in[exclusive ? last : i]);
    }
    return true;
}

static bool run_wait(Machine *machine, const Op *op)
{
    for (int i = 0; i < op->result_count; i++)
        datum_copy(datum_of(machine, &op->results[i]), operand_datum(op, i));
    return true;
}

/* ---- the table ---- */

static Runner *const runners[OP_COUNT] = {
    [OP_const] = run_const,
    [OP_bitcast] = run_bitcast,
    [OP_ptr_add] = run_pointer,
    [OP_ptr_cast] = run_pointer,
    [OP_launch] = run_launch,
    [OP_block_idx] = run_block,
    [OP_grid_dim] = run_block,
    [OP_anchor] = run_nothing,
    [OP_assume] = run_assume,
    [OP_check] = run_check,
    [OP_for] = run_for,
    [OP_while] = run_while,
    [OP_if] = run_if,
    [OP_yield] = run_yield,
    [OP_condition] = run_yield,
    [OP_var] = run_var,
    [OP_var_get] = run_copy,
    [OP_var_set] = run_var_set,
    [OP_splat] = run_splat,
    [OP_iota] = run_iota,
    [OP_broadcast] = run_broadcast,
    [OP_reshape] = run_copy,
    [OP_transpose] = run_transpose,
    [OP_part] = run_part,
    [OP_convert] = run_copy,
    [OP_dot] = run_dot,
    [OP_dot_shared] = run_dot,
    [OP_dot_slices] = run_dot,
    [OP_dot_commit] = run_nothing,
    [OP_dot_wait] = run_wait,
    [OP_reduce] = run_reduce,
    [OP_scan] = run_scan,
    [OP_item] = run_copy,
    [OP_view] = run_view,
    [OP_load] = run_load,
    [OP_store] = run_store,
    [OP_shared_alloc] = run_shared_alloc,
    [OP_shared_view] = run_shared_view,
    [OP_shared_load] = run_shared_load,
    [OP_shared_store] = run_shared_store,
    [OP_shared_reshape] = run_shared_reshape,
    [OP_gather] = run_gather,
    [OP_put] = run_put,
    [OP_atomic] = run_atomic,
    [OP_copy] = run_copy_async,
    [OP_copy_async] = run_copy_async,
    [OP_copy_commit] = run_nothing,
    [OP_copy_wait] = run_nothing,
    [OP_tma_load] = run_tma_load,
    [OP_tma_store] = run_tma_store,
    [OP_tma_store_commit] = run_nothing,
    [OP_tma_store_wait] = run_nothing,
    [OP_pipeline_init] = run_together,
    [OP_producer_acquire] = run_together,
    [OP_producer_commit] = run_together,
    [OP_consumer_wait] = run_together,
    [OP_consumer_try_wait] = run_try_wait,
    [OP_consumer_release] = run_together,
    [OP_mbarrier_init] = run_together,
    [OP_mbarrier_arrive] = run_together,
    [OP_mbarrier_arrive_on_copies] = run_together,
    [OP_mbarrier_arrive_and_wait] = run_together,
    [OP_mbarrier_wait] = run_together,
    [OP_fence_async] = run_nothing,
    [OP_require] = run_check,
    [OP_result_shape] = run_nothing,
    [OP_buffer_extent] = run_nothing,
    [OP_tensor_map] = run_nothing,
    [OP_workspace_size] = run_workspace,
    [OP_print] = run_nothing,
    [OP_check_index] = run_copy,
    [OP_in_group] = run_group,
    [OP_thread_id] = run_thread,
    [OP_vote] = run_vote,
    [OP_shuffle] = run_shuffle,
    [OP_local_alloc] = run_local_alloc,
    [OP_element_load] = run_element_load,
    [OP_element_store] = run_element_store,
    [OP_element_atomic] = run_element_atomic,
    [OP_sync] = run_nothing,
    [OP_barrier] = run_nothing,
    [OP_warp_sync] = run_nothing,
};

bool run_region(Machine *machine, const Region *region)
{
    machine->yielded = NULL;
    machine->yielded_count = 0;
    for (const Op *op = region->first; op; op = op->next) {
        Runner *run = runners[op->code];
        if (!run && op_info(op->code)->traits & ELEM) run = run_elementwise;
        if (!run) return refuse(machine, op, "this op is not interpreted");
        if (!run(machine, op)) return false;
    }
    return true;
}

bool interpret_kernel(Kernel *kernel, const Argument *arguments, bool *broken)
{
    Machine machine = {.kernel = kernel, .arguments = arguments, .threads = 1};
    if (kernel->stage > STAGE_PIPELINED) {
        fprintf(stderr, "%s: kernels are interpreted up to PIPELINED, this one is %s\n",
                kernel->name, stage_name(kernel->stage));
        return false;
    }
    for (int i = 0; i < kernel->parameter_count; i++) {
        if (parameter_is_map(&kernel->parameters[i])) continue;
        Datum *datum = datum_of(&machine, kernel->parameters[i].value);
        datum->numbers[0] = arguments[i].number;
        datum->buffer = arguments[i].buffer;
    }
    const bool done = run_region(&machine, kernel->host);
    if (broken) *broken = machine.broken;
    return done;
}
