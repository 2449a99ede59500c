/* thread_memory.h: the values and the memory of the threads of thread_machine.h: buffers, shared
 * memory with its banks, and who touched what of it. */
#ifndef TILEC_TESTS_THREAD_MEMORY_H
#define TILEC_TESTS_THREAD_MEMORY_H

#include "passes/passes.h"

#include <stdlib.h>
#include <string.h>

enum { MACHINE_SHARED = 1 << 18, MACHINE_THREADS = 1024, MACHINE_BUFFERS = 8 };

typedef struct MachineBuffer {
    const void *base;
    size_t bytes;
} MachineBuffer;

typedef struct Machine {
    Arena *arena;
    Map values; /* Value -> uint64_t[threads * elements] */
    int threads;
    int64_t block[3], grid[3];
    unsigned char *shared;
    int *writer, *written, *reader, *read; /* a byte's last threads (-2: several) and phases */
    int phase;
    MachineBuffer buffers[MACHINE_BUFFERS];
    int buffer_count;
    int races, faults, misaligned, conflicts, counts[OP_COUNT];
} Machine;

static int machine_elements(const Value *value)
{
    return value->type->kind == TYPE_VECTOR ? value->type->count : 1;
}

static uint64_t *machine_value(Machine *machine, const Value *value)
{
    uint64_t *data = map_get(&machine->values, value);
    if (!data) {
        data = arena_alloc(machine->arena,
                           sizeof *data * (size_t)(machine->threads * machine_elements(value)));
        map_set(machine->arena, &machine->values, value, data);
    }
    return data;
}

static bool reaches_buffer(const Machine *machine, uint64_t address, size_t bytes)
{
    for (int i = 0; i < machine->buffer_count; i++) {
        const uint64_t base = (uint64_t)(uintptr_t)machine->buffers[i].base;
        if (address >= base && address + bytes <= base + machine->buffers[i].bytes) return true;
    }
    return false;
}

static void note_shared(Machine *machine, uint64_t at, size_t bytes, int thread, bool writes)
{
    for (uint64_t byte = at; byte < at + bytes; byte++) {
        const bool write_clash =
            machine->written[byte] == machine->phase && machine->writer[byte] != thread;
        const bool read_clash =
            machine->read[byte] == machine->phase && machine->reader[byte] != thread;
        machine->races += write_clash || (writes && read_clash);
        if (writes) {
            machine->writer[byte] = thread;
            machine->written[byte] = machine->phase;
            continue;
        }
        if (machine->written[byte] == 0) machine->faults++; /* nobody wrote it */
        machine->reader[byte] = read_clash ? -2 : thread;
        machine->read[byte] = machine->phase;
    }
}

static unsigned char *machine_memory(Machine *machine, const Value *pointer, uint64_t address,
                                     size_t bytes, int thread, bool writes)
{
    machine->misaligned += address % bytes != 0;
    if (pointer->type->space == SPACE_GLOBAL) {
        if (reaches_buffer(machine, address, bytes)) return (unsigned char *)(uintptr_t)address;
    } else if (address + bytes <= MACHINE_SHARED) {
        note_shared(machine, address, bytes, thread, writes);
        return machine->shared + address;
    }
    machine->faults++;
    return NULL;
}

/* Lanes of a warp are served 128 bytes at a time; different words of one bank then clash. */
static void count_conflicts(Machine *machine, const uint64_t *addresses, const uint64_t *predicate,
                            int step, size_t bytes)
{
    const int group = bytes < 4 ? 32 : (int)(128 / bytes);
    for (int first = 0; first < machine->threads; first += group) {
        int64_t word_of_bank[32];
        memset(word_of_bank, -1, sizeof word_of_bank);
        bool clash = false;
        for (int t = first; t < first + group; t++)
            for (size_t byte = 0; byte < bytes && (!predicate || predicate[t]); byte += 4) {
                const int64_t word = (int64_t)((addresses[t * step] + byte) / 4);
                clash |= word_of_bank[word % 32] >= 0 && word_of_bank[word % 32] != word;
                word_of_bank[word % 32] = word;
            }
        machine->conflicts += clash;
    }
}

static uint64_t extend_bits(DType dtype, uint64_t bits)
{
    return dtype_is_float(dtype) ? bits : (uint64_t)dtype_wrap(dtype, (int64_t)bits);
}

static void run_ld(Machine *machine, const Op *op)
{
    const Value *result = &op->results[0];
    const int count = machine_elements(result), size = dtype_bytes(result->type->dtype);
    const uint64_t *address = machine_value(machine, op->operands[0]);
    const uint64_t *predicate =
        op->operand_count > 1 ? machine_value(machine, op->operands[1]) : NULL;
    uint64_t *out = machine_value(machine, result);
    for (int t = 0; t < machine->threads; t++) {
        memset(out + t * count, 0, sizeof *out * (size_t)count);
        if (predicate && !predicate[t]) continue;
        const unsigned char *from =
            machine_memory(machine, op->operands[0], address[t], (size_t)(count * size), t, false);
        for (int i = 0; from && i < count; i++) {
            memcpy(&out[t * count + i], from + i * size, (size_t)size);
            out[t * count + i] = extend_bits(result->type->dtype, out[t * count + i]);
        }
    }
    if (op->operands[0]->type->space == SPACE_SHARED)
        count_conflicts(machine, address, predicate, 1, (size_t)(count * size));
}

static void run_st(Machine *machine, const Op *op)
{
    const Value *value = op->operands[1];
    const int count = machine_elements(value), size = dtype_bytes(value->type->dtype);
    const uint64_t *address = machine_value(machine, op->operands[0]),
                   *in = machine_value(machine, value);
    const uint64_t *predicate =
        op->operand_count > 2 ? machine_value(machine, op->operands[2]) : NULL;
    for (int t = 0; t < machine->threads; t++) {
        if (predicate && !predicate[t]) continue;
        unsigned char *to =
            machine_memory(machine, op->operands[0], address[t], (size_t)(count * size), t, true);
        for (int i = 0; to && i < count; i++)
            memcpy(to + i * size, &in[t * count + i], (size_t)size);
    }
    if (op->operands[0]->type->space == SPACE_SHARED)
        count_conflicts(machine, address, predicate, 1, (size_t)(count * size));
}

/* At once: what is copied is there earlier than it would be. */
static void run_cp_async(Machine *machine, const Op *op)
{
    const size_t bytes = (size_t)op_int(op, ATTR_bytes, 0);
    const uint64_t *shared = machine_value(machine, op->operands[0]),
                   *global = machine_value(machine, op->operands[1]),
                   *inside = machine_value(machine, op->operands[2]);
    const uint64_t *active = op->operand_count > 3 ? machine_value(machine, op->operands[3]) : NULL;
    for (int t = 0; t < machine->threads; t++) {
        if (active && !active[t]) continue;
        const unsigned char *from =
            inside[t] ? machine_memory(machine, op->operands[1], global[t], bytes, t, false) : NULL;
        unsigned char *to = machine_memory(machine, op->operands[0], shared[t], bytes, t, true);
        if (!to) continue;
        if (from)
            memcpy(to, from, bytes);
        else
            memset(to, 0, bytes);
    }
}

/* Thread l of a warp gets row l / 4, elements 2 (l % 4) and one more; transposed, the same of the
 * columns. */
static void run_ldmatrix(Machine *machine, const Op *op)
{
    const uint64_t *address = machine_value(machine, op->operands[0]);
    const bool transposed = op_int(op, ATTR_transposed, 0) != 0;
    for (int t = 0; t < machine->threads; t++)
        for (int m = 0; m < op->result_count; m++)
            for (int half = 0; half < 2; half++) {
                const int lane = t % 32, pair = lane % 4 * 2 + half;
                const int row = transposed ? pair : lane / 4, column = transposed ? lane / 4 : pair;
                const int giver = t - lane + m * 8 + row;
                uint64_t *out = machine_value(machine, &op->results[m]);
                const unsigned char *from = machine_memory(
                    machine, op->operands[0], address[giver] + (uint64_t)column * 2, 2, t, false);
                out[t * 2 + half] = 0;
                if (from) memcpy(&out[t * 2 + half], from, 2);
            }
    for (int t = 0; t < machine->threads; t++)
        machine->misaligned += t % 32 < 8 * op->result_count && address[t] % 16 != 0;
    for (int first = 0; first < machine->threads; first += 32)
        for (int m = 0; m < op->result_count; m++) {
            int seen = 0;
            for (int row = 0; row < 8; row++) seen |= 1 << (address[first + m * 8 + row] / 16 % 8);
            machine->conflicts += seen != 0xff;
        }
}

#endif
