/* dtype.c: element types: their facts, and numbers to bits and back. Floats are built from the
 * widths in dtypes.def, so that a constant has the same bits whatever machine compiles it. */
#include "ir/ir.h"

#include <math.h>
#include <string.h>

typedef struct DTypeRow {
    const char *name;
    DTypeClass class;
    int bits, exponent, mantissa;
} DTypeRow;

static const DTypeRow dtype_rows[DTYPE_COUNT] = {
#define DTYPE(name, class, bits, exponent, mantissa)                                               \
    {#name, DTYPE_CLASS_##class, bits, exponent, mantissa},
#include "ir/dtypes.def"
#undef DTYPE
};

static const DTypeRow *row_of(DType dtype)
{
    CHECK((unsigned)dtype < DTYPE_COUNT);
    return &dtype_rows[dtype];
}

const char *dtype_name(DType dtype)
{
    return row_of(dtype)->name;
}

const char *dtype_user_name(DType dtype)
{
    static const char *const NAMES[DTYPE_COUNT] = {
        [DTYPE_b1] = "boolean",
        [DTYPE_i8] = "int8",
        [DTYPE_i16] = "int16",
        [DTYPE_i32] = "int32",
        [DTYPE_i64] = "int64",
        [DTYPE_u8] = "uint8",
        [DTYPE_u16] = "uint16",
        [DTYPE_u32] = "uint32",
        [DTYPE_u64] = "uint64",
        [DTYPE_f16] = "float16",
        [DTYPE_bf16] = "bfloat16",
        [DTYPE_tf32] = "tfloat32",
        [DTYPE_f32] = "float32",
        [DTYPE_f64] = "float64",
        [DTYPE_f8e4m3] = "float8_e4m3",
        [DTYPE_f8e5m2] = "float8_e5m2",
        [DTYPE_f8e8m0] = "float8_e8m0",
        [DTYPE_i1] = "int1",
        [DTYPE_i2] = "int2",
        [DTYPE_i4] = "int4",
        [DTYPE_u1] = "uint1",
        [DTYPE_u2] = "uint2",
        [DTYPE_u4] = "uint4",
        [DTYPE_f4e2m1] = "float4_e2m1",
    };
    return NAMES[dtype] != NULL ? NAMES[dtype] : dtype_name(dtype);
}

bool dtype_find(const char *name, DType *out)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (strcmp(dtype_rows[i].name, name) == 0) {
            *out = (DType)i;
            return true;
        }
    return false;
}

DTypeClass dtype_class(DType dtype)
{
    return row_of(dtype)->class;
}

int dtype_bits(DType dtype)
{
    return row_of(dtype)->bits;
}

bool dtype_is_packed(DType dtype)
{
    return row_of(dtype)->bits < 8 && row_of(dtype)->class != DTYPE_CLASS_BOOL;
}

int dtype_memory_bits(DType dtype)
{
    return dtype_class(dtype) == DTYPE_CLASS_BOOL ? 8 : row_of(dtype)->bits;
}

int dtype_bytes(DType dtype)
{
    return (row_of(dtype)->bits + 7) / 8;
}

int64_t dtype_memory_bytes(DType dtype, int64_t count)
{
    return (count * dtype_memory_bits(dtype) + 7) / 8;
}

/* A tf32 in memory is an f32, of which some bits will not count. */
bool dtype_holds(DType dtype, DType other)
{
    return dtype == other || (dtype == DTYPE_tf32 && other == DTYPE_f32);
}

bool dtype_is_fp8(DType dtype)
{
    return dtype == DTYPE_f8e4m3 || dtype == DTYPE_f8e5m2;
}

bool dtype_is_float(DType dtype)
{
    return dtype_class(dtype) == DTYPE_CLASS_FLOAT;
}

bool dtype_is_integer(DType dtype)
{
    return dtype_class(dtype) == DTYPE_CLASS_INT || dtype_class(dtype) == DTYPE_CLASS_UINT;
}

bool dtype_is_signed(DType dtype)
{
    return dtype_class(dtype) == DTYPE_CLASS_INT;
}

/* ---- floats ---- */

enum { DOUBLE_MANTISSA = 52, DOUBLE_BIAS = 1023 };

static uint64_t bits_of_double(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double double_of_bits(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* tf32 lies in the upper bits of an f32. */
static int padding_bits(const DTypeRow *row)
{
    return row->bits - 1 - row->exponent - row->mantissa;
}

int dtype_digits(DType dtype)
{
    return row_of(dtype)->mantissa + 1;
}

int dtype_exponent_bits(DType dtype)
{
    return row_of(dtype)->exponent;
}

/* f8e4m3 spends its largest exponent on numbers: no infinity, one NaN. */
static bool has_infinity(const DTypeRow *row)
{
    return row->bits > 4 && !(row->exponent == 4 && row->mantissa == 3);
}

/* Floats of less than a byte are numbers all of them. */
static bool has_nan(const DTypeRow *row)
{
    return row->bits >= 8;
}

static uint64_t exponent_mask(const DTypeRow *row)
{
    return ((1ull << row->exponent) - 1) << row->mantissa;
}

/* What a magnitude beyond the largest number becomes: floats of 8 bits and less saturate, as the
 * GPU's conversions do. */
static uint64_t overflow_bits(const DTypeRow *row)
{
    uint64_t infinity = exponent_mask(row), all = infinity | ((1ull << row->mantissa) - 1);
    if (!has_infinity(row)) return has_nan(row) ? all - 1 : all;
    return row->bits == 8 ? infinity - 1 : infinity;
}

/* A NaN keeps the upper bits of its payload; where there is none it is the largest number. */
static uint64_t nan_bits(const DTypeRow *row, uint64_t payload)
{
    uint64_t all = (1ull << row->mantissa) - 1;
    if (!has_nan(row)) return overflow_bits(row);
    uint64_t kept = payload >> (DOUBLE_MANTISSA - row->mantissa);
    if (!has_infinity(row)) kept = all;
    if (kept == 0) kept = 1ull << (row->mantissa - 1);
    return exponent_mask(row) | kept;
}

static uint64_t shift_to_even(uint64_t value, int shift)
{
    if (shift == 0) return value;
    if (shift > DOUBLE_MANTISSA + 2) return 0;
    uint64_t half = 1ull << (shift - 1), rest = value & ((1ull << shift) - 1);
    uint64_t result = value >> shift;
    return result + (rest > half || (rest == half && (result & 1)));
}

/* The magnitude's bits; the significand's carry into the exponent does itself. */
static uint64_t finite_bits(const DTypeRow *row, int exponent, uint64_t significand)
{
    int bias = (1 << (row->exponent - 1)) - 1, lowest = 1 - bias;
    int shift = DOUBLE_MANTISSA - row->mantissa + (exponent < lowest ? lowest - exponent : 0);
    uint64_t rounded = shift_to_even(significand, shift);
    if (exponent > lowest) rounded += (uint64_t)(exponent - lowest) << row->mantissa;
    uint64_t most = overflow_bits(row);
    return rounded > most ? most : rounded;
}

/* ---- powers of two ---- */

enum { SCALE_BIAS = 127, SCALE_MOST = 254, SCALE_NAN = 255 };

/* The next power that is not less than the number's size, as CUDA's conversions for scales are. */
static uint64_t encode_scale(double number)
{
    int exponent;
    if (isnan(number)) return SCALE_NAN;
    if (isinf(number)) return SCALE_MOST;
    double half = frexp(fabs(number), &exponent); /* 0, or from 0.5 below 1 */
    int64_t code = half == 0 ? 0 : exponent - (half == 0.5) + SCALE_BIAS;
    return (uint64_t)(code < 0 ? 0 : code > SCALE_MOST ? SCALE_MOST : code);
}

static double decode_scale(uint64_t bits)
{
    return bits == SCALE_NAN ? NAN : ldexp(1, (int)bits - SCALE_BIAS);
}

/* ---- floats of a sign, an exponent and a fraction ---- */

static uint64_t encode_float(const DTypeRow *row, double number)
{
    uint64_t bits = bits_of_double(number);
    uint64_t fraction = bits & ((1ull << DOUBLE_MANTISSA) - 1);
    int exponent = (int)(bits >> DOUBLE_MANTISSA & 0x7ff);
    uint64_t magnitude;
    if (exponent == 0x7ff)
        magnitude = fraction != 0 ? nan_bits(row, fraction) : overflow_bits(row);
    else if (exponent == 0)
        magnitude = finite_bits(row, 1 - DOUBLE_BIAS, fraction);
    else
        magnitude = finite_bits(row, exponent - DOUBLE_BIAS, fraction | 1ull << DOUBLE_MANTISSA);
    uint64_t sign = bits >> 63 << (row->exponent + row->mantissa);
    return (sign | magnitude) << padding_bits(row);
}

static double decode_float(const DTypeRow *row, uint64_t bits)
{
    bits >>= padding_bits(row);
    uint64_t fraction = bits & ((1ull << row->mantissa) - 1);
    int exponent = (int)((bits & exponent_mask(row)) >> row->mantissa);
    uint64_t sign = bits >> (row->exponent + row->mantissa) & 1;
    int bias = (1 << (row->exponent - 1)) - 1;
    bool top = has_nan(row) && exponent == (1 << row->exponent) - 1;
    if (top && (has_infinity(row) || fraction == (1ull << row->mantissa) - 1))
        return double_of_bits(sign << 63 | 0x7ffull << DOUBLE_MANTISSA |
                              fraction << (DOUBLE_MANTISSA - row->mantissa));
    double magnitude = exponent == 0 ? ldexp((double)fraction, 1 - bias - row->mantissa)
                                     : ldexp((double)(fraction | 1ull << row->mantissa),
                                             exponent - bias - row->mantissa);
    return sign ? -magnitude : magnitude;
}

/* ---- all ---- */

/* To the nearest even, then to the nearest end of the range; a NaN is 0. */
static uint64_t encode_integer(const DTypeRow *row, double number)
{
    double rounded = nearbyint(number);
    bool is_signed = row->class == DTYPE_CLASS_INT;
    double above = ldexp(1, row->bits - is_signed), below = is_signed ? -above : 0;
    uint64_t mask = row->bits == 64 ? UINT64_MAX : (1ull << row->bits) - 1;
    if (isnan(number)) return 0;
    if (rounded >= above) return mask >> is_signed;
    if (rounded <= below) return is_signed ? 1ull << (row->bits - 1) : 0;
    return (is_signed ? (uint64_t)(int64_t)rounded : (uint64_t)rounded) & mask;
}

uint64_t dtype_encode(DType dtype, double number)
{
    const DTypeRow *row = row_of(dtype);
    switch (row->class) {
    case DTYPE_CLASS_BOOL: return number != 0;
    case DTYPE_CLASS_INT:
    case DTYPE_CLASS_UINT: return encode_integer(row, number);
    case DTYPE_CLASS_FLOAT:
        return dtype == DTYPE_f8e8m0 ? encode_scale(number) : encode_float(row, number);
    }
    ICE("no such class of element type");
}

double dtype_decode(DType dtype, uint64_t bits)
{
    const DTypeRow *row = row_of(dtype);
    switch (row->class) {
    case DTYPE_CLASS_BOOL: return (double)(bits & 1);
    case DTYPE_CLASS_INT: return (double)dtype_wrap(dtype, (int64_t)bits);
    case DTYPE_CLASS_UINT: return (double)(uint64_t)dtype_wrap(dtype, (int64_t)bits);
    case DTYPE_CLASS_FLOAT:
        return dtype == DTYPE_f8e8m0 ? decode_scale(bits) : decode_float(row, bits);
    }
    ICE("no such class of element type");
}

/* Codes of DLPack's interface, which other libraries know too. */
int64_t dtype_code(DType dtype)
{
    static const uint8_t of_class[] = {[DTYPE_CLASS_BOOL] = 6,
                                       [DTYPE_CLASS_INT] = 0,
                                       [DTYPE_CLASS_UINT] = 1,
                                       [DTYPE_CLASS_FLOAT] = 2};
    static const uint8_t of_type[DTYPE_COUNT] = {[DTYPE_bf16] = 4,
                                                 [DTYPE_f8e4m3] = 10,
                                                 [DTYPE_f8e5m2] = 12,
                                                 [DTYPE_f8e8m0] = 14,
                                                 [DTYPE_f4e2m1] = 17};
    int code = of_type[dtype] != 0 ? of_type[dtype] : of_class[dtype_class(dtype)];
    return (int64_t)code << 24 | (int64_t)dtype_memory_bits(dtype) << 16 | 1;
}

DType dtype_unsigned(DType dtype)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (dtype_rows[i].class == DTYPE_CLASS_UINT &&
            dtype_rows[i].bits == dtype_memory_bits(dtype))
            return (DType)i;
    ICE("no unsigned integer of %s's width", dtype_name(dtype));
}

int64_t dtype_wrap(DType dtype, int64_t value)
{
    const DTypeRow *row = row_of(dtype);
    if (row->class == DTYPE_CLASS_FLOAT || row->bits == 64) return value;
    uint64_t mask = (1ull << row->bits) - 1, low = (uint64_t)value & mask;
    bool negative = row->class == DTYPE_CLASS_INT && low >> (row->bits - 1);
    return (int64_t)(negative ? low | ~mask : low);
}

bool dtype_takes(DType dtype, int64_t number)
{
    const int bits = dtype_bits(dtype);
    if (dtype == DTYPE_b1 || bits == 64 || dtype_wrap(dtype, number) == number) return true;
    return !dtype_is_signed(dtype) && number < 0 && number >= -(INT64_C(1) << (bits - 1));
}
