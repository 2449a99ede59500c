/* thread_machine.h: runs the program of one thread for all threads of a block, op by op, so that
 * tests can see what a lowered kernel computes. Control flow is uniform in what the passes make of
 * tiles, so the threads go in step; races through shared memory, which that would hide, are found
 * by counting barriers. Accesses outside of the buffers, misaligned ones and bank conflicts are
 * counted too. */
#ifndef TILEC_TESTS_THREAD_MACHINE_H
#define TILEC_TESTS_THREAD_MACHINE_H

#include "passes/passes.h"

#include <math.h>
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

/* ---- scalars ---- */

static double machine_float(DType dtype, uint64_t bits)
{
    return dtype_decode(dtype, bits);
}

static double float_binary(OpCode code, double a, double b)
{
    switch ((int)code) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return a / b;
    case OP_min: return fmin(a, b);
    case OP_max: return fmax(a, b);
    default: abort();
    }
}

static int64_t floor_division(int64_t a, int64_t b)
{
    return b == 0 ? -1 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t int_binary(OpCode code, int64_t a, int64_t b)
{
    switch ((int)code) {
    case OP_add: return (int64_t)((uint64_t)a + (uint64_t)b);
    case OP_sub: return (int64_t)((uint64_t)a - (uint64_t)b);
    case OP_mul: return (int64_t)((uint64_t)a * (uint64_t)b);
    case OP_div: return b == 0 ? -1 : a / b;
    case OP_rem: return b == 0 ? a : a % b;
    case OP_floordiv: return floor_division(a, b);
    case OP_floormod: return a - floor_division(a, b) * b;
    case OP_min: return a < b ? a : b;
    case OP_max: return a > b ? a : b;
    case OP_and: return a & b;
    case OP_or: return a | b;
    case OP_xor: return a ^ b;
    case OP_shl: return (int64_t)((uint64_t)a << b);
    case OP_shr: return a >> b;
    default: abort();
    }
}

static bool compare(const char *predicate, double a, double b)
{
    if (strcmp(predicate, "eq") == 0) return a == b;
    if (strcmp(predicate, "ne") == 0) return a != b;
    if (strcmp(predicate, "lt") == 0) return a < b;
    if (strcmp(predicate, "le") == 0) return a <= b;
    if (strcmp(predicate, "gt") == 0) return a > b;
    return a >= b;
}

static double as_number(DType dtype, uint64_t bits)
{
    return dtype_is_float(dtype) ? machine_float(dtype, bits) : (double)(int64_t)bits;
}

static uint64_t cast_bits(DType from, DType to, uint64_t bits)
{
    if (to == DTYPE_b1) return as_number(from, bits) != 0;
    if (dtype_is_float(to)) return dtype_encode(to, as_number(from, bits));
    return (uint64_t)dtype_wrap(to, dtype_is_float(from) ? (int64_t)machine_float(from, bits)
                                                         : (int64_t)bits);
}

static uint64_t scalar_result(const Op *op, uint64_t a, uint64_t b, uint64_t c)
{
    const DType dtype = op->operands[0]->type->dtype;
    if (op->code == OP_cmp)
        return compare(op_attr(op, ATTR_predicate)->text, as_number(dtype, a), as_number(dtype, b));
    if (op->code == OP_select) return a ? b : c;
    if (op->code == OP_cast) return cast_bits(dtype, op->results[0].type->dtype, a);
    if (op->code == OP_bitcast) return a;
    if (op->code == OP_not)
        return dtype == DTYPE_b1 ? !a : (uint64_t)dtype_wrap(dtype, ~(int64_t)a);
    if (op->code == OP_neg && !dtype_is_float(dtype))
        return (uint64_t)dtype_wrap(dtype, -(int64_t)a);
    if (op->code == OP_neg) return dtype_encode(dtype, -machine_float(dtype, a));
    if (op->code == OP_fma)
        return dtype_encode(
            dtype, fma(machine_float(dtype, a), machine_float(dtype, b), machine_float(dtype, c)));
    if (dtype_is_float(dtype))
        return dtype_encode(
            dtype, float_binary(op->code, machine_float(dtype, a), machine_float(dtype, b)));
    return (uint64_t)dtype_wrap(dtype, int_binary(op->code, (int64_t)a, (int64_t)b));
}

static void run_scalar(Machine *machine, const Op *op)
{
    uint64_t *out = machine_value(machine, &op->results[0]);
    const uint64_t *in[3] = {0};
    for (int i = 0; i < op->operand_count; i++) in[i] = machine_value(machine, op->operands[i]);
    for (int t = 0; t < machine->threads; t++)
        out[t] = scalar_result(op, in[0][t], in[1] ? in[1][t] : 0, in[2] ? in[2][t] : 0);
}

/* ---- memory ---- */

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

/* Thread l of a warp gets row l / 4, elements 2 (l % 4) and one more; transposed, the same of the
 * columns. */
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

/* ---- mma: m16n8k16 and m16n8k32, by the manual's fragments ---- */

static void run_mma_warp(Machine *machine, const Op *op, int first)
{
    const DType dtype = op->operands[0]->type->dtype, sum = op->results[0].type->dtype;
    const int word = 32 / dtype_bits(dtype), depth = 8 * word;
    double a[16][32], b[32][8];
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < word; i++) {
            for (int r = 0; r < 4; r++)
                a[lane / 4 + r % 2 * 8][lane % 4 * word + i + r / 2 * 4 * word] = as_number(
                    dtype, machine_value(machine, op->operands[r])[(first + lane) * word + i]);
            for (int r = 0; r < 2; r++)
                b[lane % 4 * word + i + r * 4 * word][lane / 4] = as_number(
                    dtype, machine_value(machine, op->operands[4 + r])[(first + lane) * word + i]);
        }
    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < 4; r++) {
            const int row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
            double total =
                as_number(sum, machine_value(machine, op->operands[6 + r])[first + lane]);
            for (int k = 0; k < depth; k++) total += a[row][k] * b[k][column];
            machine_value(machine, &op->results[r])[first + lane] =
                dtype_is_float(sum) ? dtype_encode(sum, total) : (uint64_t)(int64_t)total;
        }
}

static void run_mma(Machine *machine, const Op *op)
{
    for (int first = 0; first < machine->threads; first += 32) run_mma_warp(machine, op, first);
}

/* ---- the rest ---- */

static void fill(Machine *machine, const Value *value, uint64_t bits)
{
    uint64_t *out = machine_value(machine, value);
    for (int t = 0; t < machine->threads; t++) out[t] = bits;
}

static void run_const(Machine *machine, const Op *op)
{
    const DType dtype = op->results[0].type->dtype;
    fill(machine, &op->results[0],
         dtype_is_float(dtype) ? dtype_encode(dtype, op_attr(op, ATTR_number)->number)
                               : (uint64_t)op_int(op, ATTR_value, 0));
}

static void run_ptr_add(Machine *machine, const Op *op)
{
    const uint64_t *pointer = machine_value(machine, op->operands[0]),
                   *index = machine_value(machine, op->operands[1]);
    uint64_t *out = machine_value(machine, &op->results[0]);
    for (int t = 0; t < machine->threads; t++)
        out[t] = pointer[t] + index[t] * (uint64_t)dtype_bytes(op->results[0].type->dtype);
}

static void copy_value(Machine *machine, const Value *from, const Value *to)
{
    memmove(machine_value(machine, to), machine_value(machine, from),
            sizeof(uint64_t) * (size_t)(machine->threads * machine_elements(from)));
}

static void run_vector(Machine *machine, const Op *op)
{
    uint64_t *out = machine_value(machine, &op->results[0]);
    for (int t = 0; t < machine->threads; t++) {
        if (op->code == OP_vec_get) {
            const int count = op->operands[0]->type->count;
            out[t] = machine_value(machine, op->operands[0])[t * count + op_int(op, ATTR_index, 0)];
            continue;
        }
        for (int i = 0; i < op->operand_count; i++)
            out[t * op->operand_count + i] = machine_value(machine, op->operands[i])[t];
    }
}

/* Values pass through temporaries, since a loop may swap what it carries. */
static void pass_on(Machine *machine, Value *const *from, int count, Value *const *to)
{
    uint64_t **copies = arena_alloc(machine->arena, sizeof *copies * (size_t)(count + 1));
    for (int i = 0; i < count; i++) {
        const size_t bytes =
            sizeof(uint64_t) * (size_t)(machine->threads * machine_elements(from[i]));
        copies[i] = arena_alloc(machine->arena, bytes);
        memcpy(copies[i], machine_value(machine, from[i]), bytes);
    }
    for (int i = 0; i < count; i++)
        memcpy(machine_value(machine, to[i]), copies[i],
               sizeof(uint64_t) * (size_t)(machine->threads * machine_elements(from[i])));
}

static void pass_to_results(Machine *machine, Value *const *from, const Op *op)
{
    for (int i = 0; i < op->result_count; i++) copy_value(machine, from[i], &op->results[i]);
}

static void run_region(Machine *machine, const Region *region);

static void run_for(Machine *machine, const Op *op)
{
    const Region *body = op->regions[0];
    int64_t at = (int64_t)machine_value(machine, op->operands[0])[0];
    const int64_t end = (int64_t)machine_value(machine, op->operands[1])[0];
    const int64_t step = (int64_t)machine_value(machine, op->operands[2])[0];
    Value *const *carried = op->operands + 3;
    if (at >= end) pass_to_results(machine, carried, op);
    for (; at < end; at += step) {
        pass_on(machine, carried, op->result_count, body->arguments + 1);
        fill(machine, body->arguments[0], (uint64_t)at);
        run_region(machine, body);
        if (op->result_count) carried = body->last->operands;
        pass_to_results(machine, carried, op);
    }
}

static void run_while(Machine *machine, const Op *op)
{
    pass_on(machine, op->operands, op->operand_count, op->regions[0]->arguments);
    for (;;) {
        run_region(machine, op->regions[0]);
        const Op *end = op->regions[0]->last;
        if (!machine_value(machine, end->operands[0])[0]) {
            pass_to_results(machine, end->operands + 1, op);
            return;
        }
        pass_on(machine, end->operands + 1, end->operand_count - 1, op->regions[1]->arguments);
        run_region(machine, op->regions[1]);
        end = op->regions[1]->last;
        pass_on(machine, end->operands, op->operand_count, op->regions[0]->arguments);
    }
}

static void run_if(Machine *machine, const Op *op)
{
    const Region *taken = op->regions[machine_value(machine, op->operands[0])[0] ? 0 : 1];
    run_region(machine, taken);
    if (op->result_count) pass_to_results(machine, taken->last->operands, op);
}

static void run_op(Machine *machine, const Op *op)
{
    machine->counts[op->code]++;
    switch ((int)op->code) {
    case OP_const: run_const(machine, op); return;
    case OP_ptr_add: run_ptr_add(machine, op); return;
    case OP_ptr_cast: copy_value(machine, op->operands[0], &op->results[0]); return;
    case OP_block_idx:
        fill(machine, &op->results[0], (uint64_t)machine->block[op_int(op, ATTR_dim, 0)]);
        return;
    case OP_grid_dim:
        fill(machine, &op->results[0], (uint64_t)machine->grid[op_int(op, ATTR_dim, 0)]);
        return;
    case OP_thread_id:
        for (int t = 0; t < machine->threads; t++)
            machine_value(machine, &op->results[0])[t] = (uint64_t)t;
        return;
    case OP_shared_base:
        fill(machine, &op->results[0], (uint64_t)op_int(op, ATTR_offset, 0));
        return;
    case OP_ld: run_ld(machine, op); return;
    case OP_st: run_st(machine, op); return;
    case OP_cp_async: run_cp_async(machine, op); return;
    case OP_copy_commit:
    case OP_copy_wait: return;
    case OP_vec_get:
    case OP_vec_pack: run_vector(machine, op); return;
    case OP_ldmatrix: run_ldmatrix(machine, op); return;
    case OP_mma: run_mma(machine, op); return;
    case OP_barrier: machine->phase++; return;
    case OP_for: run_for(machine, op); return;
    case OP_while: run_while(machine, op); return;
    case OP_if: run_if(machine, op); return;
    case OP_yield:
    case OP_condition: return;
    default: run_scalar(machine, op);
    }
}

static void run_region(Machine *machine, const Region *region)
{
    for (const Op *op = region->first; op; op = op->next) run_op(machine, op);
}

/* ---- blocks ---- */

static void machine_start(Machine *machine, int threads)
{
    memset(machine, 0, sizeof *machine);
    machine->arena = arena_new();
    machine->threads = threads;
    machine->shared = calloc(1, MACHINE_SHARED);
    machine->writer = calloc(MACHINE_SHARED, sizeof(int));
    machine->written = calloc(MACHINE_SHARED, sizeof(int));
    machine->reader = calloc(MACHINE_SHARED, sizeof(int));
    machine->read = calloc(MACHINE_SHARED, sizeof(int));
}

static void machine_stop(Machine *machine)
{
    arena_free(machine->arena);
    free(machine->shared);
    free(machine->writer);
    free(machine->written);
    free(machine->reader);
    free(machine->read);
}

static void machine_add_buffer(Machine *machine, const void *base, size_t bytes)
{
    machine->buffers[machine->buffer_count++] = (MachineBuffer){base, bytes};
}

/* Runs one block with the kernel's parameters set to `arguments`. */
static void machine_run_block(Machine *machine, const Kernel *kernel, const uint64_t *arguments,
                              int x, int y)
{
    const Op *launch = kernel->host->last;
    machine->block[0] = x;
    machine->block[1] = y;
    machine->phase++;
    memset(machine->written, 0, sizeof(int) * MACHINE_SHARED);
    memset(machine->read, 0, sizeof(int) * MACHINE_SHARED);
    for (int i = 0; i < kernel->parameter_count; i++)
        fill(machine, kernel->parameters[i].value, arguments[i]);
    run_region(machine, launch_region(launch));
}

#endif
