/* bits.h: linear algebra on bit vectors, private to the layout_*.c files.
 *
 * A vector is 64 bits wide, addition is exclusive or. Coordinates become vectors by concatenating
 * their bits, the last dimension lowest: within a block that is the row-major index. */
#ifndef TILEC_IR_LAYOUT_BITS_H
#define TILEC_IR_LAYOUT_BITS_H

#include "ir/layout/layout.h"

/* Vectors reduced to echelon form, each with the set of inputs whose sum it is. */
typedef struct Solver {
    uint64_t vector[64], inputs[64]; /* by the vector's highest bit; zero: none */
} Solver;

/* False, with nothing changed, if the vector is a sum of those added before. */
bool solver_add(Solver *solver, uint64_t vector, uint64_t inputs);
/* The inputs whose sum is `vector`; false if there are none. */
bool solver_solve(const Solver *solver, uint64_t vector, uint64_t *inputs);

int bits_log2_above(int64_t size); /* the smallest power of two that is not below has this log2 */

int layout_index_bits(const Layout *layout); /* of all axes together */
/* Coordinates within the block <-> vector. */
uint64_t layout_pack(const Layout *layout, const int32_t *coordinates);
void layout_unpack(const Layout *layout, uint64_t vector, int32_t *coordinates);
/* Which index repeat this is, dimension 0 slowest. */
int layout_repeat_index(const Layout *layout, const int32_t *repeats);

typedef struct Holder {
    int reg, lane, warp;
} Holder;
/* The holder of an element whose replica bits are zero. */
Holder layout_find_holder(const Layout *layout, const int32_t *coordinates);

/* What layout_intern asks for: see there. */
bool layout_is_valid(const Layout *layout);

#endif
