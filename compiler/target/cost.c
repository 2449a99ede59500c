/* cost.c: cost.h's answers, from the rows of cost.def and targets.def. */
#include "target/cost.h"

/* A row of cost.def. */
typedef struct UnitRow {
    CostUnit unit;
    int from, latency, work; /* the target's number; cycles; work each 1000 cycles */
} UnitRow;

static const UnitRow *unit_row(const Target *target, CostUnit unit)
{
    static const UnitRow rows[] = {
#define UNIT(name, from, latency, work, what, gpu, source) {UNIT_##name, from, latency, work},
#include "target/cost.def"
#undef UNIT
    };
    const UnitRow *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].unit == unit && rows[i].from <= target->number) found = &rows[i];
    if (unit == UNIT_TMA && !target_has(target, HAS_TMA)) return NULL;
    if (unit == UNIT_TENSOR && !target_has(target, HAS_WGMMA)) return NULL;
    return found;
}

static int64_t ratio_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

int cost_latency(const Target *target, CostUnit unit)
{
    const UnitRow *row = unit_row(target, unit);
    return row ? row->latency : 0;
}

int64_t cost_cycles(const Target *target, CostUnit unit, int64_t work)
{
    enum { CYCLES = 1000 };
    const UnitRow *row = unit_row(target, unit);
    return row ? ratio_up(work * CYCLES, row->work) : 0;
}

int cost_registers_per_thread(const Target *target, int warps, int blocks)
{
    const int each = (int)ratio_up((int64_t)warps * blocks, target->partitions),
              all = target->registers / target->partitions / WARP_SIZE / each,
              dealt = all / target->register_unit * target->register_unit;
    return dealt < target->registers_per_thread ? dealt : target->registers_per_thread;
}

int cost_register_units(const Target *target, int registers)
{
    return (int)ratio_up(registers, target->register_unit) * target->register_unit;
}

int cost_blocks_per_sm(const Target *target, int warps, int registers, int64_t shared_bytes)
{
    const int64_t all = target->shared_bytes + target->shared_reserved,
                  each = cost_register_units(target, registers),
                  partition = target->registers / target->partitions,
                  resident = partition / (each * WARP_SIZE) * target->partitions;
    int64_t blocks = lesser_of(target->blocks_per_sm, target->threads_per_sm / (warps * WARP_SIZE));
    blocks = lesser_of(blocks, resident / warps);
    return (int)lesser_of(blocks, all / (shared_bytes + target->shared_reserved));
}

static int64_t cost_blocks_at_a_time(const Target *target, int per_sm)
{
    return (int64_t)target->sm_count * per_sm;
}

int64_t cost_waves(const Target *target, int64_t blocks, int per_sm)
{
    return ratio_up(blocks, cost_blocks_at_a_time(target, per_sm));
}
