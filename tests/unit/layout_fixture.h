/* layout_fixture.h: layouts at random and what they hold, by enumeration; for the layout tests. */
#ifndef LAYOUT_FIXTURE_H
#define LAYOUT_FIXTURE_H

#include "ir/layout/layout.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Fixture {
    Arena *arena;
    LayoutTable *table;
    uint32_t seed;
} Fixture;

static inline int set_up(void **state)
{
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_new();
    fixture->table = layout_table_new(fixture->arena);
    fixture->seed = 12345;
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    Fixture *fixture = *state;
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static inline int random_below(Fixture *fixture, int limit)
{
    fixture->seed = fixture->seed * 1664525u + 1013904223u;
    return (int)((fixture->seed >> 8) % (uint32_t)limit);
}

static const int32_t EXTENTS[] = {1, 2, 3, 4, 8, 16, 32, 33, 48, 64, 96, 100};
enum { EXTENT_COUNT = sizeof EXTENTS / sizeof *EXTENTS };

static inline void random_order(Fixture *fixture, int rank, int *order)
{
    for (int i = 0; i < rank; i++) {
        int at = random_below(fixture, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

static inline int64_t linear_index(const Layout *layout, const int32_t *coordinates)
{
    int64_t index = 0;
    for (int d = 0; d < layout->rank; d++) index = index * layout->shape[d] + coordinates[d];
    return index;
}

static inline int64_t element_count(const Layout *layout)
{
    int64_t count = 1;
    for (int d = 0; d < layout->rank; d++) count *= layout->shape[d];
    return count;
}

static inline void split_index(const Layout *layout, int64_t index, int32_t *coordinates)
{
    for (int d = layout->rank - 1; d >= 0; d--) {
        coordinates[d] = (int32_t)(index % layout->shape[d]);
        index /= layout->shape[d];
    }
}

/* The element that a register holds; -1 for padding. */
static inline int64_t element_of(const Layout *layout, int reg, int thread)
{
    int32_t coordinates[LAYOUT_RANK];
    int lanes = layout->bits[LAYOUT_LANE];
    layout_coordinates(layout, reg, thread & ((1 << lanes) - 1), thread >> lanes, coordinates);
    return layout_is_inside(layout, coordinates) ? linear_index(layout, coordinates) : -1;
}

/* Block (too large at times), bits and vectors at random: products of elementary steps keep the
 * vectors independent. */
static inline const Layout *random_registers(Fixture *fixture, int rank, const int32_t *shape)
{
    Layout layout = {.rank = (uint8_t)rank, .bits = {0, 5, 2}};
    int32_t units[LAYOUT_BITS][LAYOUT_RANK] = {0};
    int count = 0;
    for (int d = 0; d < rank; d++) {
        layout.shape[d] = shape[d];
        layout.block[d] = 1;
        while (layout.block[d] < 2 * shape[d] && layout.block[d] < 32 &&
               random_below(fixture, 5) > 0) {
            units[count++][d] = layout.block[d];
            layout.block[d] *= 2;
        }
    }
    for (int step = 0; count > 1 && step < random_below(fixture, 3) * 4; step++) {
        int into = random_below(fixture, count), from = random_below(fixture, count);
        for (int d = 0; into != from && d < rank; d++) units[into][d] ^= units[from][d];
    }
    /* Register bits until the units fit into 7 thread bits, and sometimes more. */
    int registers = random_below(fixture, count + 1);
    registers = count - registers > 7 ? count - 7 : registers;
    layout.bits[LAYOUT_REGISTER] = (uint8_t)registers;
    int slots[LAYOUT_BITS], order[LAYOUT_BITS];
    random_order(fixture, 7, slots);
    random_order(fixture, count, order);
    for (int i = 0; i < count; i++)
        memcpy(layout.basis[i < registers ? i : registers + slots[i - registers]], units[order[i]],
               sizeof units[0]);
    return layout_intern(fixture->table, &layout);
}

static inline const Layout *random_blocked(Fixture *fixture, int rank, const int32_t *shape)
{
    int order[LAYOUT_RANK];
    random_order(fixture, rank, order);
    return layout_blocked(fixture->table, rank, shape, order, 1 << random_below(fixture, 4),
                          1 << random_below(fixture, 4));
}

static inline const Layout *random_mma(Fixture *fixture, int rank, const int32_t *shape)
{
    static const MmaShape instructions[] = {{16, 8, 16, 16}, {16, 8, 8, 32}, {16, 8, 32, 8}};
    if (rank != 2) return random_blocked(fixture, rank, shape);
    DotOperand operand = (DotOperand)random_below(fixture, 3);
    int m = operand == DOT_B ? 16 : shape[0], n = operand == DOT_A ? 8 : shape[1];
    int k = operand == DOT_A ? shape[1] : operand == DOT_B ? shape[0] : 16;
    return layout_mma(fixture->table, operand, instructions[random_below(fixture, 3)], m, n, k, 2,
                      2);
}

static inline void random_shape(Fixture *fixture, int rank, int32_t *shape)
{
    for (int d = 0; d < rank; d++)
        shape[d] = EXTENTS[random_below(fixture, d > 1 ? 4 : EXTENT_COUNT)];
}

static inline const Layout *random_layout(Fixture *fixture, int rank, const int32_t *shape)
{
    switch (random_below(fixture, 3)) {
    case 0: return random_registers(fixture, rank, shape);
    case 1: return random_mma(fixture, rank, shape);
    default: return random_blocked(fixture, rank, shape);
    }
}

static inline const Layout *random_shared(Fixture *fixture, int rank, const int32_t *shape)
{
    int order[LAYOUT_RANK];
    random_order(fixture, rank, order);
    if (random_below(fixture, 2)) return layout_row_major(fixture->table, rank, shape, order);
    return layout_swizzled(fixture->table, rank, shape, order, 8 << random_below(fixture, 3));
}

static inline void check_covers(const Layout *layout)
{
    int64_t count = element_count(layout);
    int *held = calloc((size_t)count, sizeof *held);
    uint32_t replicas = layout_replica_mask(layout);
    for (int thread = 0; thread < layout_threads(layout); thread++)
        for (int reg = 0; reg < layout_registers(layout) && (thread & replicas) == 0; reg++) {
            int64_t element = element_of(layout, reg, thread);
            if (element >= 0) held[element]++;
            for (uint32_t copy = replicas; copy != 0; copy = (copy - 1) & replicas)
                assert_int_equal(element_of(layout, reg, thread | (int)copy), element);
        }
    for (int64_t i = 0; i < count; i++) assert_int_equal(held[i], 1);
    free(held);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
