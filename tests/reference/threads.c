/* threads.c: what each thread of a block does by itself. */
#include "machine.h"

#include <math.h>
#include <string.h>

enum { WARP = 32 };

Number number_unwritten(DType dtype)
{
    if (dtype_is_float(dtype)) return (Number){.f = NAN};
    return (Number){.i = dtype_wrap(dtype, 0x5a5a5a5a)};
}

/* ---- who is who ---- */

bool run_thread(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    out->count = machine->threads;
    for (int64_t i = 0; i < out->count; i++) out->numbers[i].i = i;
    return true;
}

bool run_group(Machine *machine, const Op *op)
{
    const int64_t begin = op_int(op, ATTR_begin, 0), count = op_int(op, ATTR_count, 0);
    Datum *out = result(machine, op);
    out->count = machine->threads;
    for (int64_t i = 0; i < out->count; i++) out->numbers[i].i = i >= begin && i < begin + count;
    return true;
}

/* Barriers by which groups of threads wait for each other: those that take turns here do not. */
bool run_together(Machine *machine, const Op *op)
{
    return !machine->active ||
           refuse(machine, op, "threads that wait for others are not interpreted");
}

/* What is copied has landed at once. */
bool run_try_wait(Machine *machine, const Op *op)
{
    result(machine, op)->numbers[0].i = 1;
    return run_together(machine, op);
}

/* ---- warps ---- */

bool run_vote(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    out->count = machine->threads;
    for (int64_t i = 0; i < out->count; i++) {
        uint32_t bits = 0;
        for (int64_t lane = 0; lane < WARP; lane++) {
            const int64_t other = i / WARP * WARP + lane;
            if (is_active(machine, other) && number_at(operand_datum(op, 0), other).i)
                bits |= UINT32_C(1) << lane;
        }
        out->numbers[i].i = dtype_wrap(op->results[0].type->dtype, bits);
    }
    return true;
}

bool run_shuffle(Machine *machine, const Op *op)
{
    const char *mode = op_attr(op, ATTR_mode)->text;
    Datum *out = result(machine, op);
    out->count = machine->threads;
    for (int64_t i = 0; i < out->count; i++) {
        const int64_t by = number_at(operand_datum(op, 1), i).i, lane = i % WARP;
        const int64_t from = strcmp(mode, "up") == 0     ? lane - by
                             : strcmp(mode, "down") == 0 ? lane + by
                             : strcmp(mode, "xor") == 0  ? (lane ^ by)
                                                         : (by & (WARP - 1));
        const int64_t other = from >= 0 && from < WARP ? i - lane + from : i;
        out->numbers[i] = number_at(operand_datum(op, 0), other);
    }
    return true;
}

/* ---- elements ---- */

bool run_local_alloc(Machine *machine, const Op *op)
{
    Datum *out = result(machine, op);
    for (int64_t i = 0; i < out->count; i++)
        if (is_active(machine, i % machine->threads))
            out->numbers[i] = number_unwritten(op->results[0].type->dtype);
    return true;
}

/* The element of a thread; of arrays of its own each thread's elements lie `threads` apart. */
static Element thread_element(Machine *machine, const Op *op, int first, int64_t thread)
{
    const Type *memory = op->operands[0]->type;
    int64_t place[TYPE_RANK];
    for (int d = 0; d < memory->rank; d++)
        place[d] = number_at(operand_datum(op, first + d), thread).i;
    if (memory->kind != TYPE_LOCAL) return find_place(machine, op, place, thread);
    for (int d = 0; d < memory->rank; d++)
        if (place[d] < 0 || place[d] >= memory->shape[d])
            return (Element){.wrong = !refuse(machine, op, "an index outside the array")};
    const int64_t at = index_of(memory, place) * machine->threads + thread;
    return (Element){.number = &operand_datum(op, 0)->numbers[at]};
}

/* Whether all threads name one place with one value: then it is done once if the op says so. */
static bool is_uniform(const Op *op)
{
    if (op->operands[0]->type->kind == TYPE_LOCAL) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind == TYPE_SCALAR && operand_datum(op, i)->count > 1)
            return false;
    return op->operands[0]->type->kind != TYPE_VIEW || operand_datum(op, 0)->count == 1;
}

bool run_element_load(Machine *machine, const Op *op)
{
    const bool once = is_uniform(op);
    const int64_t first = first_active(machine);
    Datum *out = result(machine, op);
    out->count = once ? 1 : machine->threads;
    for (int64_t i = 0; i < out->count; i++) {
        if (!once && !is_active(machine, i)) continue;
        Element element = thread_element(machine, op, 1, once ? first : i);
        if (element.wrong) return false;
        out->numbers[i] = element_read(op, &element, op->results[0].type->dtype);
    }
    return true;
}

bool run_element_store(Machine *machine, const Op *op)
{
    const bool once = is_uniform(op); /* the same number, however often */
    for (int64_t i = once ? first_active(machine) : 0; i < machine->threads; i++) {
        if (!is_active(machine, i)) continue;
        Element element = thread_element(machine, op, 2, i);
        if (element.wrong) return false;
        element_write(&element, op->operands[0]->type->dtype, number_at(operand_datum(op, 1), i));
        if (once) break;
    }
    return true;
}

bool run_element_atomic(Machine *machine, const Op *op)
{
    const char *mode = op_attr(op, ATTR_mode)->text;
    const DType dtype = op->operands[0]->type->dtype;
    const bool once = op_int(op, ATTR_once, 0) && is_uniform(op);
    Datum *out = result(machine, op);
    out->count = once ? 1 : machine->threads;
    for (int64_t i = once ? first_active(machine) : 0; i < machine->threads; i++) {
        Number now, *old = &out->numbers[once ? 0 : i];
        if (!is_active(machine, i)) continue;
        Element element = thread_element(machine, op, 3, i);
        if (element.wrong) return false;
        *old = (Number){0};
        if (element.number || element.place.bytes) {
            *old = element_read(op, &element, dtype);
            if (!atomic_result(mode, dtype, *old, number_at(operand_datum(op, 1), i),
                               number_at(operand_datum(op, 2), i), &now))
                return refuse(machine, op, "this mode is not interpreted");
            element_write(&element, dtype, now);
        }
        if (once) break;
    }
    return true;
}
