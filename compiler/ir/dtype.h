/* dtype.h: the element types (dtypes.def). A part of ir.h. */
#ifndef TILEC_DTYPE_H
#define TILEC_DTYPE_H

#include "base/base.h"

typedef enum DType {
#define DTYPE(name, class, bits, exponent, mantissa) DTYPE_##name,
#include "ir/dtypes.def"
#undef DTYPE
    DTYPE_COUNT
} DType;

typedef enum DTypeClass {
    DTYPE_CLASS_BOOL,
    DTYPE_CLASS_INT,
    DTYPE_CLASS_UINT,
    DTYPE_CLASS_FLOAT
} DTypeClass;

const char *dtype_name(DType dtype);      /* "f16" */
const char *dtype_user_name(DType dtype); /* as programs name it: "float16" */
bool dtype_find(const char *name, DType *out);
DTypeClass dtype_class(DType dtype);
int dtype_bits(DType dtype);
bool dtype_is_packed(DType dtype);                      /* several to a byte of memory */
int dtype_memory_bits(DType dtype);                     /* of an element in memory: a bool has 8 */
int dtype_bytes(DType dtype);                           /* likewise: at least 1 */
int64_t dtype_memory_bytes(DType dtype, int64_t count); /* of so many elements in a row */
bool dtype_is_float(DType dtype);
bool dtype_is_fp8(DType dtype);             /* e4m3 or e5m2 */
bool dtype_holds(DType dtype, DType other); /* memory of the one is memory of the other */
bool dtype_is_integer(DType dtype);         /* INT or UINT */
bool dtype_is_signed(DType dtype);          /* INT */
/* The bits of a number rounded to the type (to nearest even), and back. */
uint64_t dtype_encode(DType dtype, double number);
double dtype_decode(DType dtype, uint64_t bits);
/* DLPack's code, bits and lanes as one number (TILE_DTYPE): a key that says a tensor's type. */
int64_t dtype_code(DType dtype);
const char *dtype_code_name(int64_t code); /* of the type with that code; NULL: there is none */
/* The unsigned integer of the same width; of a bool, whose bits nobody sees, u8. */
DType dtype_unsigned(DType dtype);
/* An integer brought into the type's range by wrapping. */
int64_t dtype_wrap(DType dtype, int64_t value);
/* Whether an integer type has the number; one below 0 stands for the same bits without a sign. */
bool dtype_takes(DType dtype, int64_t number);
/* Of a float type: how many binary digits of an integer it holds. */
int dtype_digits(DType dtype);
/* Of an integer none. */
int dtype_exponent_bits(DType dtype);

#endif
