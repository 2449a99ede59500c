/* interpret.c: runs a kernel's host region and, for each launch, its blocks one after the other. */
#include "interpret.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct SharedTile { /* a shared tile or a part of one: row-major elements of `memory` */
    Number *memory;
    int64_t start, strides[TYPE_RANK];
} SharedTile;

typedef struct View {
    Buffer *buffer;
    int64_t offset; /* bits */
    int64_t shape[TYPE_RANK], strides[TYPE_RANK];
} View;

/* What a value holds while the kernel runs; it hangs off Value.scratch and is written anew each
 * time the op is reached. */
typedef struct Datum {
    Number
        *numbers; /* of a scalar, a tile, a variable's content; the offset of a pointer, in bits */
    int64_t count;
    Buffer *buffer; /* of a pointer */
    View view;
    SharedTile shared;
} Datum;

typedef struct Machine {
    Kernel *kernel;
    int64_t block[3], grid[3];
    Value **yielded; /* by the terminator that ended the last region */
    int yielded_count;
    bool condition;
} Machine;

static bool run_region(Machine *machine, const Region *region);

static bool refuse(const Machine *machine, const Op *op, const char *why)
{
    Buf text = {0};
    op_print(op, &text);
    fprintf(stderr, "%s: %s\n  in: %s\n", machine->kernel->name, why, text.data);
    buf_free(&text);
    return false;
}

/* ---- data ---- */

static Datum *datum_of(Machine *machine, Value *value)
{
    if (value->scratch) return value->scratch;
    const Type *type = value->type->kind == TYPE_VAR ? value->type->content : value->type;
    Datum *datum = arena_new_of(machine->kernel->arena, Datum);
    bool dense = type->kind == TYPE_TILE || type->kind == TYPE_SHARED;
    datum->count = dense ? type_elements(type) : 1;
    datum->numbers = arena_new_array(machine->kernel->arena, Number, datum->count);
    value->scratch = datum;
    return datum;
}

static void datum_copy(Datum *to, const Datum *from)
{
    Number *numbers = to->numbers;
    memcpy(numbers, from->numbers, sizeof *numbers * (size_t)to->count);
    *to = *from;
    to->numbers = numbers;
}

static const Datum *operand(const Op *op, int index)
{
    return op->operands[index]->scratch;
}

static int64_t integer(const Op *op, int index)
{
    return operand(op, index)->numbers[0].i;
}

static Datum *result(Machine *machine, const Op *op)
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
    for (int i = 0; i < count; i++) datum_copy(datum_of(machine, to[i]), &held[i]);
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
static void advance(const Type *type, int64_t *place)
{
    for (int dim = type->rank - 1; dim >= 0; dim--) {
        if (++place[dim] < type->shape[dim]) return;
        place[dim] = 0;
    }
}

static int64_t index_of(const Type *type, const int64_t *place)
{
    int64_t index = 0;
    for (int dim = 0; dim < type->rank; dim++) index = index * type->shape[dim] + place[dim];
    return index;
}

/* ---- values ---- */

static bool run_const(Machine *machine, const Op *op)
{
    const Attr *value = op_attr(op, ATTR_value), *number = op_attr(op, ATTR_number);
    result(machine, op)->numbers[0] =
        number ? (Number){.f = number->number} : (Number){.i = value->integer};
    return true;
}

static bool run_elementwise(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    DType dtype = op->operands[op->operand_count - 1]->type->dtype;
    for (int64_t i = 0; i < out->count; i++) {
        Number operands[3];
        for (int j = 0; j < op->operand_count && j < 3; j++)
            operands[j] = operand(op, j)->numbers[i];
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
    datum_copy(out, operand(op, 0));
    if (op->code == OP_ptr_add) out->numbers[0].i += integer(op, 1) * size;
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
    const int64_t value = integer(op, 0), gap = op_int(op, ATTR_gap, 0);
    const bool holds = value % op_int(op, ATTR_multiple, 1) == 0 &&
                       value >= op_int(op, ATTR_low, INT64_MIN) &&
                       value <= op_int(op, ATTR_high, INT64_MAX) &&
                       (op->operand_count < 2 || value + gap <= integer(op, 1));
    return holds || refuse(machine, op, "what is assumed does not hold");
}

static bool run_check(Machine *machine, const Op *op)
{
    return integer(op, 0) != 0 || refuse(machine, op, op_attr(op, ATTR_text)->text);
}

/* ---- control ---- */

static bool run_for(Machine *machine, const Op *op)
{
    const Region *region = op->regions[0];
    int carried = op->operand_count - 3;
    int64_t end = integer(op, 1), step = integer(op, 2);
    if (step <= 0) return refuse(machine, op, "the step is not positive");
    move_values(machine, carried, op->operands + 3, region->arguments + 1);
    for (int64_t i = integer(op, 0); i < end; i += step) {
        datum_of(machine, region->arguments[0])->numbers[0].i = i;
        if (!run_region(machine, region)) return false;
        move_values(machine, carried, machine->yielded, region->arguments + 1);
    }
    move_to_results(machine, op, region->arguments + 1);
    return true;
}

static bool run_while(Machine *machine, const Op *op)
{
    const Region *test = op->regions[0], *body = op->regions[1];
    move_values(machine, op->operand_count, op->operands, test->arguments);
    for (;;) {
        if (!run_region(machine, test)) return false;
        if (!machine->condition) break;
        move_values(machine, body->argument_count, machine->yielded, body->arguments);
        if (!run_region(machine, body)) return false;
        move_values(machine, test->argument_count, machine->yielded, test->arguments);
    }
    move_to_results(machine, op, machine->yielded);
    return true;
}

static bool run_if(Machine *machine, const Op *op)
{
    if (!run_region(machine, op->regions[integer(op, 0) ? 0 : 1])) return false;
    move_to_results(machine, op, machine->yielded);
    return true;
}

static bool run_yield(Machine *machine, const Op *op)
{
    int first = op->code == OP_condition;
    machine->condition = first && integer(op, 0);
    machine->yielded = op->operands + first;
    machine->yielded_count = op->operand_count - first;
    return true;
}

static bool run_var(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    if (op->operand_count == 1) datum_copy(out, operand(op, 0));
    return true;
}

static bool run_copy(Machine *machine, const Op *op) /* var_get, convert, reshape */
{
    datum_copy(result(machine, op), operand(op, 0));
    return true;
}

static bool run_var_set(Machine *machine, const Op *op)
{
    datum_copy(datum_of(machine, op->operands[0]), operand(op, 1));
    return true;
}

static bool run_launch(Machine *machine, const Op *op)
{
    for (int dim = 0; dim < 3; dim++) machine->grid[dim] = integer(op, dim);
    int64_t *block = machine->block;
    for (block[2] = 0; block[2] < machine->grid[2]; block[2]++)
        for (block[1] = 0; block[1] < machine->grid[1]; block[1]++)
            for (block[0] = 0; block[0] < machine->grid[0]; block[0]++)
                if (!run_region(machine, op->regions[0])) return false;
    return true;
}

/* ---- tiles ---- */

static bool run_splat(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++) out->numbers[i] = operand(op, 0)->numbers[0];
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
        out->numbers[i] = operand(op, 0)->numbers[index_of(source, from)];
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

/* A matrix in registers or in shared memory. */
typedef struct Matrix {
    const Number *numbers;
    int64_t strides[2];
} Matrix;

static Matrix matrix_of(const Op *op, int index)
{
    const Type *type = op->operands[index]->type;
    const SharedTile *shared = &operand(op, index)->shared;
    if (type->kind != TYPE_SHARED)
        return (Matrix){operand(op, index)->numbers, {type->shape[1], 1}};
    return (Matrix){&shared->memory[shared->start], {shared->strides[0], shared->strides[1]}};
}

/* One element of c + a @ b: floats are summed in f64 and rounded once. */
static Number dot_element(const Op *op, int64_t row, int64_t column)
{
    const Type *a = op->operands[0]->type, *c = op->operands[2]->type;
    const Matrix left = matrix_of(op, 0), right = matrix_of(op, 1);
    const Number *x = left.numbers + row * left.strides[0],
                 *y = right.numbers + column * right.strides[1];
    Number sum = operand(op, 2)->numbers[row * c->shape[1] + column];
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
    for (int64_t i = 0; i < operand(op, 0)->count; i++, advance(source, place)) {
        int64_t to[TYPE_RANK];
        memcpy(to, place, sizeof to);
        for (int dim = 0; dims && dim < dims->count; dim++) to[dims->integers[dim]] = 0;
        Number *sum = &out->numbers[index_of(type, to)];
        *sum = reduction_step(mode, type->dtype, *sum, operand(op, 0)->numbers[i]);
    }
    return true;
}

static bool run_scan(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    const char *mode = op_attr(op, ATTR_mode)->text;
    int64_t dim = op_int(op, ATTR_dim, 0), place[TYPE_RANK] = {0};
    bool exclusive = op_int(op, ATTR_exclusive, 0) != 0;
    Datum *out = result(machine, op);
    const Number *in = operand(op, 0)->numbers;
    for (int64_t i = 0; i < out->count; i++, advance(type, place)) {
        int64_t before[TYPE_RANK];
        memcpy(before, place, sizeof before);
        before[dim]--;
        Number start;
        if (!reduction_start(mode, type->dtype, &start))
            return refuse(machine, op, "this mode is not interpreted");
        int64_t last = index_of(type, before);
        if (place[dim] == 0)
            out->numbers[i] = exclusive ? start : in[i];
        else
            out->numbers[i] =
                reduction_step(mode, type->dtype, out->numbers[last], in[exclusive ? last : i]);
    }
    return true;
}

/* ---- memory ---- */

static bool run_view(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    const Datum *pointer = operand(op, 0);
    int rank = op->results[0].type->rank;
    out->view = (View){.buffer = pointer->buffer, .offset = pointer->numbers[0].i};
    for (int i = 0; i < rank; i++) {
        out->view.shape[i] = integer(op, 1 + i);
        out->view.strides[i] = integer(op, 1 + rank + i);
    }
    return true;
}

/* An element in global memory. */
typedef struct Spot {
    char *bytes; /* NULL: outside the view, or masked out */
    int bit;     /* where in a byte it begins, if it is less than one */
} Spot;

/* False: outside the argument's memory. */
static bool find_spot(Machine *machine, const Op *op, const View *view, int64_t element, Spot *out)
{
    const int size = dtype_memory_bits(op->operands[0]->type->dtype);
    const int64_t bit = view->offset + element * size;
    if (!view->buffer || bit < 0 || bit + size > view->buffer->size * 8)
        return refuse(machine, op, "an access outside the argument's memory");
    *out = (Spot){view->buffer->bytes + bit / 8, (int)(bit % 8)};
    return true;
}

static Number read_spot(Spot place, DType dtype)
{
    uint64_t bits = 0;
    if (place.bytes) memcpy(&bits, place.bytes, (size_t)dtype_bytes(dtype));
    if (dtype_is_packed(dtype)) bits = bits >> place.bit & ((1u << dtype_bits(dtype)) - 1);
    return number_decode(dtype, bits);
}

static void write_spot(Spot place, DType dtype, Number number)
{
    uint64_t bits = number_encode(dtype, number), old = 0;
    const uint64_t mask = ((UINT64_C(1) << dtype_bits(dtype) % 64) - 1) << place.bit;
    if (!place.bytes) return;
    if (dtype_is_packed(dtype)) {
        memcpy(&old, place.bytes, 1);
        bits = (old & ~mask) | (bits << place.bit & mask);
    }
    memcpy(place.bytes, &bits, (size_t)dtype_bytes(dtype));
}

typedef struct Access { /* one element of a load or store */
    Spot place;
    bool wrong;
} Access;

/* Whether the op promises that a coordinate is never on that side (1 below, 2 above). */
static bool promised(const Op *op, int dim, int side)
{
    const Attr *bounds = op_attr(op, ATTR_bounds);
    return bounds && !(bounds->integers[dim] & side);
}

static Access find_element(Machine *machine, const Op *op, int first_offset, const Type *tile,
                           const int64_t *place)
{
    const Type *type = op->operands[0]->type;
    const View *view = &operand(op, 0)->view;
    const Attr *dims = op_attr(op, ATTR_dims);
    int64_t coordinate[TYPE_RANK], at = 0;
    Access access = {0};
    bool inside = true;
    for (int i = 0; i < type->rank; i++) coordinate[i] = integer(op, first_offset + i);
    for (int i = 0; i < tile->rank; i++)
        coordinate[dims ? dims->integers[i] : type->rank - tile->rank + i] += place[i];
    for (int i = 0; i < type->rank; i++) {
        int side = coordinate[i] < 0 ? 1 : coordinate[i] >= view->shape[i] ? 2 : 0;
        if (side && promised(op, i, side))
            return (Access){.wrong = !refuse(machine, op, "{bounds} promises what does not hold")};
        inside = inside && !side;
        at += coordinate[i] * view->strides[i];
    }
    if (inside) access.wrong = !find_spot(machine, op, view, at, &access.place);
    return access;
}

static bool run_load(Machine *machine, const Op *op)
{
    const Type *tile = op->results[0].type;
    int64_t place[TYPE_RANK] = {0};
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++, advance(tile, place)) {
        Access access = find_element(machine, op, 1, tile, place);
        if (access.wrong) return false;
        out->numbers[i] = read_spot(access.place, tile->dtype);
    }
    return true;
}

static bool run_store(Machine *machine, const Op *op)
{
    const Type *tile = op->operands[1]->type;
    int64_t place[TYPE_RANK] = {0};
    const Datum *from = operand(op, 1);
    for (int64_t i = 0; i < from->count; i++, advance(tile, place)) {
        Access access = find_element(machine, op, 2, tile, place);
        if (access.wrong) return false;
        write_spot(access.place, tile->dtype, from->numbers[i]);
    }
    return true;
}

/* ---- shared memory ---- */

/* What nobody wrote is a NaN, or a number that no test has: it is seen in the results. */
static bool run_shared_alloc(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    Datum *out = result(machine, op);
    int64_t stride = 1;
    for (int64_t i = 0; i < out->count; i++)
        out->numbers[i] = dtype_is_float(type->dtype)
                              ? (Number){.f = NAN}
                              : (Number){.i = dtype_wrap(type->dtype, 0x5a5a5a5a)};
    out->shared = (SharedTile){.memory = out->numbers};
    for (int dim = type->rank - 1; dim >= 0; dim--) {
        out->shared.strides[dim] = stride;
        stride *= type->shape[dim];
    }
    return true;
}

static bool run_shared_view(Machine *machine, const Op *op)
{
    const Type *source = op->operands[0]->type, *type = op->results[0].type;
    const Attr *dims = op_attr(op, ATTR_dims);
    const SharedTile *from = &operand(op, 0)->shared;
    SharedTile *out = &result(machine, op)->shared;
    *out = (SharedTile){.memory = from->memory, .start = from->start};
    for (int i = 0; i < source->rank; i++) {
        int64_t offset = integer(op, 1 + i);
        if (offset < 0 || offset >= source->shape[i])
            return refuse(machine, op, "an offset outside the shared tile");
        out->start += offset * from->strides[i];
    }
    for (int i = 0; i < type->rank; i++)
        out->strides[i] = from->strides[dims ? dims->integers[i] : source->rank - type->rank + i];
    return true;
}

static Number *shared_element(const SharedTile *tile, const Type *type, const int64_t *place)
{
    int64_t at = tile->start;
    for (int i = 0; i < type->rank; i++) at += place[i] * tile->strides[i];
    return &tile->memory[at];
}

static bool run_shared_load(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    int64_t place[TYPE_RANK] = {0};
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++, advance(type, place))
        out->numbers[i] = *shared_element(&operand(op, 0)->shared, type, place);
    return true;
}

static bool run_shared_store(Machine *machine, const Op *op)
{
    const Type *type = op->operands[1]->type;
    int64_t place[TYPE_RANK] = {0};
    (void)machine;
    for (int64_t i = 0; i < operand(op, 1)->count; i++, advance(type, place))
        *shared_element(&operand(op, 0)->shared, type, place) = operand(op, 1)->numbers[i];
    return true;
}

static bool run_shared_reshape(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    SharedTile *out = &result(machine, op)->shared;
    int64_t stride = 1;
    if (dtype_memory_bits(type->dtype) != dtype_memory_bits(op->operands[0]->type->dtype))
        return refuse(machine, op, "only elements of one size are interpreted");
    *out = operand(op, 0)->shared;
    for (int dim = type->rank - 1; dim >= 0; dim--) {
        out->strides[dim] = stride;
        stride *= type->shape[dim];
    }
    return true;
}

/* ---- elements at indices of their own ---- */

typedef struct Element {
    Spot place;     /* in global memory */
    Number *number; /* of a shared tile; NULL: outside, or masked out */
    bool wrong;
} Element;

static int64_t index_at(const Op *op, int operand_index, int64_t i)
{
    const Datum *index = operand(op, operand_index);
    return index->numbers[index->count == 1 ? 0 : i].i;
}

/* Where element i of a gather or put lies. */
static Element scattered_element(Machine *machine, const Op *op, int first, int64_t i)
{
    const Type *memory = op->operands[0]->type;
    const View *view = &operand(op, 0)->view;
    int64_t place[TYPE_RANK], at = 0;
    Element element = {0};
    if (op_int(op, ATTR_masked, 0) && !operand(op, op->operand_count - 1)->numbers[i].i)
        return (Element){0};
    for (int d = 0; d < memory->rank; d++) {
        place[d] = index_at(op, first + d, i);
        int64_t extent = memory->kind == TYPE_VIEW ? view->shape[d] : memory->shape[d];
        if (place[d] < 0 || place[d] >= extent) return (Element){0};
        if (memory->kind == TYPE_VIEW) at += place[d] * view->strides[d];
    }
    if (memory->kind == TYPE_SHARED)
        return (Element){.number = shared_element(&operand(op, 0)->shared, memory, place)};
    element.wrong = !find_spot(machine, op, view, at, &element.place);
    return element;
}

static bool run_gather(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    DType dtype = op->results[0].type->dtype;
    for (int64_t i = 0; i < out->count; i++) {
        Element element = scattered_element(machine, op, 1, i);
        if (element.wrong) return false;
        out->numbers[i] = element.number ? *element.number : read_spot(element.place, dtype);
    }
    return true;
}

static bool run_put(Machine *machine, const Op *op)
{
    const Datum *from = operand(op, 1);
    DType dtype = op->operands[1]->type->dtype;
    for (int64_t i = 0; i < from->count; i++) {
        Element element = scattered_element(machine, op, 2, i);
        if (element.wrong) return false;
        write_spot(element.place, dtype, from->numbers[i]);
        if (element.number) *element.number = from->numbers[i];
    }
    return true;
}

/* Copies at once, which is one of the moments at which it may be done. */
static bool run_copy_async(Machine *machine, const Op *op)
{
    const Type *tile = op->operands[1]->type;
    int64_t place[TYPE_RANK] = {0}, count = type_elements(tile);
    if (op_attr(op, ATTR_masked) && !integer(op, op->operand_count - 1)) return true;
    for (int64_t i = 0; i < count; i++, advance(tile, place)) {
        Access access = find_element(machine, op, 2, tile, place);
        if (access.wrong) return false;
        *shared_element(&operand(op, 1)->shared, tile, place) =
            read_spot(access.place, tile->dtype);
    }
    return true;
}

static bool run_wait(Machine *machine, const Op *op)
{
    return op->result_count == 0 || run_copy(machine, op);
}

/* ---- the table ---- */

typedef bool Runner(Machine *machine, const Op *op);

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
    [OP_convert] = run_copy,
    [OP_dot] = run_dot,
    [OP_dot_shared] = run_dot,
    [OP_dot_slices] = run_dot,
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
    [OP_copy] = run_copy_async,
    [OP_copy_async] = run_copy_async,
    [OP_copy_commit] = run_nothing,
    [OP_copy_wait] = run_nothing,
    [OP_sync] = run_nothing,
    [OP_barrier] = run_nothing,
    [OP_warp_sync] = run_nothing,
};

static bool run_region(Machine *machine, const Region *region)
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

bool interpret_kernel(Kernel *kernel, const Argument *arguments)
{
    Machine machine = {.kernel = kernel};
    if (kernel->stage > STAGE_PIPELINED) {
        fprintf(stderr, "%s: kernels are interpreted up to PIPELINED, this one is %s\n",
                kernel->name, stage_name(kernel->stage));
        return false;
    }
    for (int i = 0; i < kernel->parameter_count; i++) {
        Datum *datum = datum_of(&machine, kernel->parameters[i].value);
        datum->numbers[0] = arguments[i].number;
        datum->buffer = arguments[i].buffer;
    }
    return run_region(&machine, kernel->host);
}
