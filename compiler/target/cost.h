/* cost.h: what work costs on a GPU, and every number that was tuned (cost.def). Passes ask here
 * what a block may spend, and how long what they plan takes; they have no budgets of their own. */
#ifndef TILEC_COST_H
#define TILEC_COST_H

#include "target/target.h"

/* COST_STAGES, COST_PREFETCH_BYTES, ...: the tuned numbers. */
enum {
#define TUNED(name, value, what, gpu, measurement) COST_##name = (value),
#include "target/cost.def"
#undef TUNED
};

/* What a multiprocessor does its work by. TENSOR is wgmma, MMA mma.sync. */
typedef enum CostUnit {
    UNIT_TMA,
    UNIT_TENSOR,
    UNIT_MMA,
    UNIT_SFU,
    UNIT_ALU,
    UNIT_SHARED,
    UNIT_L2,
    UNIT_DRAM,
    UNITS
} CostUnit;

/* Cycles from the start of a piece of work to its first result; 0: the target has no such unit. */
int cost_latency(const Target *target, CostUnit unit);
/* Cycles, rounded up, for which a multiprocessor's unit is busy with so much of the unit's work
 * (bytes, f16 operations, results: cost.def says which); 0: the target has no such unit. */
int64_t cost_cycles(const Target *target, CostUnit unit, int64_t work);

/* Registers that each thread may have where `blocks` blocks of `warps`
 * warps share a multiprocessor. Its partitions have whole warps. */
int cost_registers_per_thread(const Target *target, int warps, int blocks);
/* So many of a thread, in the whole units that they are dealt in. */
int cost_register_units(const Target *target, int registers);
/* Blocks that a multiprocessor runs at a time, of so many warps, registers a thread and bytes of
 * shared memory. */
int cost_blocks_per_sm(const Target *target, int warps, int registers, int64_t shared_bytes);
/* How many times `blocks` blocks fill the whole GPU, which runs `per_sm` on each multiprocessor. */
int64_t cost_waves(const Target *target, int64_t blocks, int per_sm);

#endif
