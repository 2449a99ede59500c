/* interpret.h: a reference interpreter of tile-level IR, TYPED to PIPELINED, written apart from the
 * passes and the code generators. Tiles are dense arrays, blocks run one after the other; what is
 * computed is rounded to its type after every op. Layouts are ignored, but for parts of shared
 * tiles that are said to lie as tiles of their own: whether they do is looked at. Of the compiler
 * it uses ir/ (the reader and the rounding of element types) alone. */
#ifndef REFERENCE_INTERPRET_H
#define REFERENCE_INTERPRET_H

#include "ir/ir.h"

typedef union Number { /* integers of every width in i, wrapped; floats in f, rounded */
    int64_t i;
    double f;
} Number;

typedef struct Buffer { /* memory behind a pointer parameter */
    Name name;
    DType dtype;
    int64_t elements;
    char *bytes;
    int64_t size;
} Buffer;

typedef struct Argument { /* of the kernel, one a parameter */
    Number number;
    Buffer *buffer; /* of a pointer */
} Argument;

/* ---- arithmetic.c ---- */
double number_round(DType dtype, double number);
Number number_decode(DType dtype, uint64_t bits);
uint64_t number_encode(DType dtype, Number number);
Number number_cast(DType from, DType to, Number number);
Number number_add(DType dtype, Number a, Number b);
/* The neutral element of a reduction and one step of it; false: no such mode. */
bool reduction_start(const char *mode, DType dtype, Number *out);
Number reduction_step(const char *mode, DType dtype, Number a, Number b);
/* One element of an elementwise op; false: the op is none that is known here. `dtype` is that of
 * the last operand, `result` that of the result. */
bool compute_element(const Op *op, DType dtype, DType result, const Number *operands, Number *out);

/* ---- interpret.c ---- */
/* Runs a kernel; a message goes to stderr if it cannot be, or does what it must not. *broken, if it
 * is given: what an op promises ({bounds}, {aligned}, an assume) does not hold. */
bool interpret_kernel(Kernel *kernel, const Argument *arguments, bool *broken);

#endif
