/* memory.c: global and shared memory. */
#include "machine.h"

#include "ir/layout/layout.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

bool run_view(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    const Datum *pointer = operand_datum(op, 0);
    int rank = op->results[0].type->rank;
    datum_copy(out, pointer);
    out->view = (View){.buffer = pointer->buffer, .outside = own_number(op)};
    for (int i = 0; i < rank; i++) {
        out->view.shape[i] = integer(machine, op, 1 + i);
        out->view.strides[i] = integer(machine, op, 1 + rank + i);
    }
    return true;
}

/* False: outside the argument's memory. */
static bool find_spot(Machine *machine, const Op *op, int64_t element, int64_t thread, Spot *out)
{
    const View *view = &operand_datum(op, 0)->view;
    const int size = dtype_memory_bits(op->operands[0]->type->dtype);
    const int64_t bit = number_at(operand_datum(op, 0), thread).i + element * size;
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
    bool is_outside, wrong;
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
    const View *view = &operand_datum(op, 0)->view;
    const Attr *dims = op_attr(op, ATTR_dims);
    int64_t coordinate[TYPE_RANK], at = 0;
    Access access = {0};
    for (int i = 0; i < type->rank; i++) coordinate[i] = integer(machine, op, first_offset + i);
    for (int i = 0; i < tile->rank; i++)
        coordinate[dims ? dims->integers[i] : type->rank - tile->rank + i] += place[i];
    for (int i = 0; i < type->rank; i++) {
        int side = coordinate[i] < 0 ? 1 : coordinate[i] >= view->shape[i] ? 2 : 0;
        access.is_outside |= side != 0;
        if (side && promised(op, i, side))
            return (Access){
                .wrong = !break_promise(machine, op, "{bounds} promises what does not hold")};
        at += coordinate[i] * view->strides[i];
    }
    if (!access.is_outside)
        access.wrong = !find_spot(machine, op, at, first_active(machine), &access.place);
    return access;
}

static Number read_access(const Op *op, const Access *access, DType dtype)
{
    if (access->is_outside) return operand_datum(op, 0)->view.outside;
    return read_spot(access->place, dtype);
}

bool run_load(Machine *machine, const Op *op)
{
    const Type *tile = op->results[0].type;
    int64_t place[TYPE_RANK] = {0};
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++, advance(tile, place)) {
        Access access = find_element(machine, op, 1, tile, place);
        if (access.wrong) return false;
        out->numbers[i] = read_access(op, &access, tile->dtype);
    }
    return true;
}

bool run_store(Machine *machine, const Op *op)
{
    const Type *tile = op->operands[1]->type;
    int64_t place[TYPE_RANK] = {0};
    const Datum *from = operand_datum(op, 1);
    for (int64_t i = 0; i < from->count; i++, advance(tile, place)) {
        Access access = find_element(machine, op, 2, tile, place);
        if (access.wrong) return false;
        write_spot(access.place, tile->dtype, from->numbers[i]);
    }
    return true;
}

/* ---- shared memory ---- */

bool run_shared_alloc(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    Datum *out = result(machine, op);
    int64_t stride = 1;
    for (int64_t i = 0; i < out->count; i++) out->numbers[i] = number_unwritten(type->dtype);
    out->shared = (SharedTile){.memory = out->numbers};
    for (int dim = type->rank - 1; dim >= 0; dim--) {
        out->shared.strides[dim] = stride;
        stride *= type->shape[dim];
    }
    return true;
}

typedef struct Order { /* offsets of a shared tile's elements, by its layout */
    const Layout *layout;
    int32_t inverse[LAYOUT_RANK][LAYOUT_BITS];
} Order;

static int64_t offset_in_order(const Order *order, const int64_t *place)
{
    const Layout *layout = order->layout;
    int64_t offset = 0, repeat = 0, size = 1;
    for (int dim = 0; dim < layout->rank; dim++) {
        for (int bit = 0; INT64_C(1) << bit < layout->block[dim]; bit++)
            if (place[dim] >> bit & 1) offset ^= order->inverse[dim][bit];
        repeat = repeat * layout->repeat[dim] + place[dim] / layout->block[dim];
        size *= layout->block[dim];
    }
    return offset + repeat * size;
}

/* A part that is {aligned} lies as a tile of its own: every element is as far from the part's first
 * one as its own layout says. */
static bool lies_as_promised(Machine *machine, const Op *op)
{
    const Type *source = op->operands[0]->type, *type = op->results[0].type;
    const Attr *dims = op_attr(op, ATTR_dims);
    Order whole = {.layout = source->layout}, part = {.layout = type->layout};
    int64_t place[TYPE_RANK] = {0}, first[TYPE_RANK] = {0}, at[TYPE_RANK];
    if (!layout_invert(whole.layout, whole.inverse) || !layout_invert(part.layout, part.inverse))
        return false;
    for (int i = 0; i < source->rank; i++) first[i] = integer(machine, op, 1 + i);
    for (int64_t i = 0; i < type_elements(type); i++, advance(type, place)) {
        memcpy(at, first, sizeof at);
        for (int d = 0; d < type->rank; d++)
            at[dims ? dims->integers[d] : source->rank - type->rank + d] += place[d];
        if (offset_in_order(&whole, at) !=
            offset_in_order(&whole, first) + offset_in_order(&part, place))
            return false;
    }
    return true;
}

bool run_shared_view(Machine *machine, const Op *op)
{
    const Type *source = op->operands[0]->type, *type = op->results[0].type;
    const Attr *dims = op_attr(op, ATTR_dims);
    const SharedTile *from = &operand_datum(op, 0)->shared;
    SharedTile *out = &result(machine, op)->shared;
    *out = (SharedTile){.memory = from->memory, .start = from->start};
    for (int i = 0; i < source->rank; i++) {
        int64_t offset = integer(machine, op, 1 + i);
        if (offset < 0 || offset >= source->shape[i])
            return refuse(machine, op, "an offset outside the shared tile");
        out->start += offset * from->strides[i];
    }
    for (int i = 0; i < type->rank; i++)
        out->strides[i] = from->strides[dims ? dims->integers[i] : source->rank - type->rank + i];
    return !op_int(op, ATTR_aligned, 0) || lies_as_promised(machine, op) ||
           break_promise(machine, op, "{aligned} promises what does not hold");
}

Number *find_shared(const SharedTile *tile, const Type *type, const int64_t *place)
{
    int64_t at = tile->start;
    for (int i = 0; i < type->rank; i++) at += place[i] * tile->strides[i];
    return &tile->memory[at];
}

bool run_shared_load(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    int64_t place[TYPE_RANK] = {0};
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++, advance(type, place))
        out->numbers[i] = *find_shared(&operand_datum(op, 0)->shared, type, place);
    return true;
}

bool run_shared_store(Machine *machine, const Op *op)
{
    const Type *type = op->operands[1]->type;
    int64_t place[TYPE_RANK] = {0};
    (void)machine;
    for (int64_t i = 0; i < operand_datum(op, 1)->count; i++, advance(type, place))
        *find_shared(&operand_datum(op, 0)->shared, type, place) = operand_datum(op, 1)->numbers[i];
    return true;
}

bool run_shared_reshape(Machine *machine, const Op *op)
{
    const Type *type = op->results[0].type;
    SharedTile *out = &result(machine, op)->shared;
    int64_t stride = 1;
    if (dtype_memory_bits(type->dtype) != dtype_memory_bits(op->operands[0]->type->dtype))
        return refuse(machine, op, "only elements of one size are interpreted");
    *out = operand_datum(op, 0)->shared;
    for (int dim = type->rank - 1; dim >= 0; dim--) {
        out->strides[dim] = stride;
        stride *= type->shape[dim];
    }
    return true;
}

/* ---- elements at indices of their own ---- */

Element find_place(Machine *machine, const Op *op, const int64_t *place, int64_t thread)
{
    const Type *memory = op->operands[0]->type;
    const View *view = &operand_datum(op, 0)->view;
    Element element = {0};
    int64_t at = 0;
    for (int d = 0; d < memory->rank; d++) {
        const int64_t extent = memory->kind == TYPE_VIEW ? view->shape[d] : memory->shape[d];
        if (place[d] < 0 || place[d] >= extent) return (Element){.is_outside = true};
        if (memory->kind == TYPE_VIEW) at += place[d] * view->strides[d];
    }
    if (memory->kind == TYPE_SHARED)
        element.number = find_shared(&operand_datum(op, 0)->shared, memory, place);
    else if (memory->kind == TYPE_TILE)
        element.number = &operand_datum(op, 0)->numbers[index_of(memory, place)];
    else
        element.wrong = !find_spot(machine, op, at, thread, &element.place);
    return element;
}

Number element_read(const Op *op, const Element *element, DType dtype)
{
    const View *view = &operand_datum(op, 0)->view;
    if (element->number) return *element->number;
    if (element->is_outside && op->operands[0]->type->kind == TYPE_VIEW) return view->outside;
    return read_spot(element->place, dtype);
}

void element_write(const Element *element, DType dtype, Number number)
{
    if (element->number)
        *element->number = number;
    else
        write_spot(element->place, dtype, number);
}

/* Where element i of a gather or put lies. */
static Element scattered_element(Machine *machine, const Op *op, int first, int64_t i)
{
    int64_t place[TYPE_RANK];
    if (op_int(op, ATTR_masked, 0) && !operand_datum(op, op->operand_count - 1)->numbers[i].i)
        return (Element){0};
    for (int d = 0; d < op->operands[0]->type->rank; d++) {
        const Datum *index = operand_datum(op, first + d);
        const bool is_tile = op->operands[first + d]->type->kind == TYPE_TILE;
        place[d] = is_tile ? index->numbers[i].i : integer(machine, op, first + d);
    }
    return find_place(machine, op, place, first_active(machine));
}

bool run_gather(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++) {
        Element element = scattered_element(machine, op, 1, i);
        if (element.wrong) return false;
        out->numbers[i] = element_read(op, &element, op->results[0].type->dtype);
    }
    return true;
}

bool run_put(Machine *machine, const Op *op)
{
    const Datum *from = operand_datum(op, 1);
    for (int64_t i = 0; i < from->count; i++) {
        Element element = scattered_element(machine, op, 2, i);
        if (element.wrong) return false;
        element_write(&element, op->operands[1]->type->dtype, from->numbers[i]);
    }
    return true;
}

bool atomic_result(const char *mode, DType dtype, Number old, Number value, Number compare,
                   Number *out)
{
    const bool same = dtype_is_float(dtype) ? old.f == compare.f : old.i == compare.i;
    *out = value;
    if (strcmp(mode, "exch") == 0) return true;
    if (strcmp(mode, "cas") == 0) {
        if (!same) *out = old;
        return true;
    }
    Number start;
    if (!reduction_start(mode, dtype, &start)) return false;
    *out = reduction_step(mode, dtype, old, value);
    return true;
}

bool run_atomic(Machine *machine, const Op *op)
{
    const char *mode = op_attr(op, ATTR_mode)->text;
    const bool compares = strcmp(mode, "cas") == 0;
    const DType dtype = op->operands[1]->type->dtype;
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++) {
        Element element = scattered_element(machine, op, 2 + compares, i);
        const Number value = operand_datum(op, 1)->numbers[i];
        Number now;
        if (element.wrong) return false;
        out->numbers[i] = (Number){0};
        if (!element.number && !element.place.bytes) continue;
        const Number old = out->numbers[i] = element_read(op, &element, dtype);
        if (!atomic_result(mode, dtype, old, value,
                           compares ? operand_datum(op, 2)->numbers[i] : (Number){0}, &now))
            return refuse(machine, op, "this mode is not interpreted");
        element_write(&element, dtype, now);
    }
    return true;
}

/* Copies at once, which is one of the moments at which it may be done. */
static bool copy_now(Machine *machine, const Op *op, int first)
{
    const Type *tile = op->operands[1]->type;
    int64_t place[TYPE_RANK] = {0}, count = type_elements(tile);
    for (int64_t i = 0; i < count; i++, advance(tile, place)) {
        Access access = find_element(machine, op, first, tile, place);
        if (access.wrong) return false;
        *find_shared(&operand_datum(op, 1)->shared, tile, place) =
            read_access(op, &access, tile->dtype);
    }
    return true;
}

bool run_copy_async(Machine *machine, const Op *op)
{
    if (op_attr(op, ATTR_masked) && !integer(machine, op, op->operand_count - 1)) return true;
    return copy_now(machine, op, 2);
}

bool run_tma_load(Machine *machine, const Op *op)
{
    if (op_attr(op, ATTR_masked) && !integer(machine, op, op->operand_count - 1)) return true;
    return run_together(machine, op) && copy_now(machine, op, 4);
}

bool run_tma_store(Machine *machine, const Op *op)
{
    const Type *tile = op->operands[1]->type;
    int64_t place[TYPE_RANK] = {0}, count = type_elements(tile);
    for (int64_t i = 0; i < count; i++, advance(tile, place)) {
        Access access = find_element(machine, op, 2, tile, place);
        if (access.wrong) return false;
        if (!access.is_outside)
            write_spot(access.place, tile->dtype,
                       *find_shared(&operand_datum(op, 1)->shared, tile, place));
    }
    return true;
}

/* Each run has workspaces of its own. */
bool run_workspace(Machine *machine, const Op *op)
{
    int64_t index = op_int(op, ATTR_index, 0), bytes = integer(machine, op, 0);
    for (int i = 0; i < machine->kernel->parameter_count; i++) {
        const Parameter *parameter = &machine->kernel->parameters[i];
        if (!parameter->is_workspace || index-- > 0) continue;
        Buffer *buffer = arena_new_of(machine->kernel->arena, Buffer);
        *buffer = (Buffer){.name = parameter->name,
                           .dtype = parameter->value->type->dtype,
                           .bytes = arena_alloc(machine->kernel->arena, (size_t)bytes + 1),
                           .size = bytes};
        memset(buffer->bytes, parameter->is_zeroed ? 0 : 0x5a, (size_t)bytes);
        datum_of(machine, parameter->value)->buffer = buffer;
        return true;
    }
    return refuse(machine, op, "there is no such workspace");
}
