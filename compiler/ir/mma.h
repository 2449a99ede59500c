/* mma.h: the matrix instructions, and how the operands of a dot by one of them lie. */
#ifndef TILEC_IR_MMA_H
#define TILEC_IR_MMA_H

#include "ir/ir.h"

enum {
    MMA_INPUTS =
        6, /* words of a and b, or elements of f64, that a thread gives an mma.sync: 4 and 2 */
    MMA_SUMS = 4,                         /* and sums, which it gets back */
    MMA_MOST = 4 * MMA_INPUTS + MMA_SUMS, /* elements, of bytes */
    WGMMA_ROWS = 64
};

/* A row of mma.def. */
typedef struct MmaKind {
    const char *name; /* of mma.sync */
    DType operand, accumulator;
    MmaShape shape;
} MmaKind;

/* The row of that index; NULL: there are no more. */
const MmaKind *mma_kind_at(int index);
int mma_kind_index(const MmaKind *kind);
/* The kind of an instruction, of mma.sync or wgmma, by its name from `k` on; NULL: it is none. */
const MmaKind *mma_kind(const char *instruction);
/* The elements of an operand that a thread has. */
int mma_elements(const MmaKind *kind, DotOperand operand);
/* Whether elements of that type are what it multiplies; f32 stands for tf32. */
bool mma_takes(const MmaKind *kind, DType dtype);
/* Whether it multiplies what the dot does; tf32 is for f32 too, where `tf32` says so. */
bool mma_multiplies(const MmaKind *kind, const Op *dot, bool tf32);
/* Whether the sizes of the dot, of two dimensions, are multiples of the instruction's. */
bool mma_divides(const MmaKind *kind, const Op *dot);
/* The columns of a wgmma by its name, "wgmma.m64n<columns>k..."; 0: it is none. */
int wgmma_columns(const char *instruction);
/* Whether wgmma multiplies these types, too. */
bool wgmma_multiplies(const MmaKind *kind);
/* Whether there is one of so many: the manual's table. */
bool wgmma_has_columns(const MmaKind *kind, int64_t columns);

/* The kind of the instruction that is chosen for a dot; NULL: none so far, or fma. */
const MmaKind *dot_kind(const Op *dot);
/* The layout of an operand, in registers, of a dot that has a kind, among so many warps. */
const Layout *dot_layout(LayoutTable *table, const Op *dot, DotOperand operand, int warps);

#endif
