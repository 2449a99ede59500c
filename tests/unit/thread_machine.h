/* thread_machine.h: runs the program of one thread for all threads of a block, op by op, so that
 * tests can see what a lowered kernel computes. Control flow is uniform in what the passes make of
 * tiles, so the threads go in step; races through shared memory, which that would hide, are found
 * by counting barriers. Accesses outside of the buffers, misaligned ones and bank conflicts are
 * counted too. */
#ifndef TILEC_TESTS_THREAD_MACHINE_H
#define TILEC_TESTS_THREAD_MACHINE_H

#include "thread_memory.h"
#include "thread_scalars.h"

static void run_scalar(Machine *machine, const Op *op)
{
    uint64_t *out = machine_value(machine, &op->results[0]);
    const uint64_t *in[3] = {0};
    for (int i = 0; i < op->operand_count; i++) in[i] = machine_value(machine, op->operands[i]);
    for (int t = 0; t < machine->threads; t++)
        out[t] = scalar_result(op, in[0][t], in[1] ? in[1][t] : 0, in[2] ? in[2][t] : 0);
}

/* ---- mma, by the manual's fragments: those of f64 are those of elements of one word ---- */

static void run_mma_warp(Machine *machine, const Op *op, int first)
{
    const DType dtype = op->operands[0]->type->dtype, sum = op->results[0].type->dtype;
    const int word = dtype_bits(dtype) < 32 ? 32 / dtype_bits(dtype) : 1, depth = 8 * word;
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

static void run_bitcast(Machine *machine, const Op *op)
{
    const Value *value = op->operands[0], *result = &op->results[0];
    const int from = machine_elements(value), to = machine_elements(result),
              size = dtype_bytes(value->type->dtype), size_to = dtype_bytes(result->type->dtype);
    const uint64_t *in = machine_value(machine, value);
    uint64_t *out = machine_value(machine, result);
    for (int t = 0; t < machine->threads; t++) {
        unsigned char bytes[64];
        for (int i = 0; i < from; i++) memcpy(bytes + i * size, &in[t * from + i], (size_t)size);
        for (int i = 0; i < to; i++) {
            uint64_t bits = 0;
            memcpy(&bits, bytes + i * size_to, (size_t)size_to);
            out[t * to + i] = extend_bits(result->type->dtype, bits);
        }
    }
}

static void run_shuffle(Machine *machine, const Op *op)
{
    const uint64_t *in = machine_value(machine, op->operands[0]),
                   *lane = machine_value(machine, op->operands[1]);
    const bool is_xor = strcmp(op_attr(op, ATTR_mode)->text, "xor") == 0;
    uint64_t *out = machine_value(machine, &op->results[0]);
    for (int t = 0; t < machine->threads; t++)
        out[t] = in[is_xor ? t ^ (int)lane[t] : (t & ~31) | (int)lane[t]];
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
    case OP_bitcast: run_bitcast(machine, op); return;
    case OP_shuffle: run_shuffle(machine, op); return;
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
