/* matrix.h: what is chosen for a dot, as its attributes say it; private to this folder. */
#ifndef TILEC_PASSES_LAYOUT_MATRIX_H
#define TILEC_PASSES_LAYOUT_MATRIX_H

#include "ir/mma.h"
#include "passes/pass.h"

/* The matrix instruction for the dot's types; NULL: the target has none. */
const MmaKind *matrix_kind(const Op *dot, const Target *target);

/* A matrix of a shared tile, as it is when the dot runs. */
typedef struct InPlace {
    Value *tile; /* loaded, [k, m] and so on, if it is transposed behind that */
    bool transposed;
} InPlace;
bool find_in_place(const Op *dot, DotOperand operand, InPlace *out);
/* The tile as the dot sees it. */
Value *build_in_place(const Kernel *kernel, Builder *builder, const InPlace *place);
/* A dot by fma whose operands both lie in shared memory reads them there, or, where they are more
 * than a thread has registers, are stored there; true if it does. */
bool choose_slices(Kernel *kernel, const Target *target, Op *dot);

/* A matrix product, by registers or in shared memory. */
bool is_dot(const Op *op);
/* Whether the target has a matrix instruction for it. */
bool dot_has_instruction(const Op *dot, const Target *target);
/* Whether it can be one in shared memory, for wgmma; and whether it can if its left operand may
 * come from registers. */
bool wgmma_fits(const Kernel *kernel, const Target *target, const Op *dot);
bool wgmma_can(const Kernel *kernel, const Target *target, const Op *dot);
/* Whether so many threads can share it, for wgmma, if it finds its operands in shared memory; and
 * whether its sums fit into their registers. */
bool wgmma_divides(const Kernel *kernel, const Target *target, const Op *dot, int threads);
bool sums_fit(const Target *target, const Type *c, int threads);
/* Warps above a power of two do what those below do. */
int power_of_two_below(int number);
/* Gives a shared tile the layout that wgmma reads, and TMA fills. */
void wgmma_lay_out(const Kernel *kernel, Value *tile);
/* Makes it one in shared memory, for wgmma: NULL, or why that cannot be. */
const char *choose_wgmma(Kernel *kernel, const Target *target, Op *dot);

#endif
