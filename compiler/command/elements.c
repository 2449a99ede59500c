/* elements.c: between an element type's bytes and the Elements that arithmetic is done on: one loop
 * a type, since arrays are large. */
#include "command/array/arrays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef void Decoder(const void *bytes, int64_t count, Element *out);
typedef void Encoder(const Element *elements, int64_t count, void *bytes);

/* Types that C has. */
#define NATIVE(name, type, field)                                                                  \
    static void decode_##name(const void *bytes, int64_t count, Element *out)                      \
    {                                                                                              \
        const type *in = bytes;                                                                    \
        for (int64_t i = 0; i < count; i++) out[i].field = in[i];                                  \
    }                                                                                              \
    static void encode_##name(const Element *elements, int64_t count, void *bytes)                 \
    {                                                                                              \
        type *out = bytes;                                                                         \
        for (int64_t i = 0; i < count; i++) out[i] = (type)elements[i].field;                      \
    }
NATIVE(i8, int8_t, i)
NATIVE(i16, int16_t, i)
NATIVE(i32, int32_t, i)
NATIVE(i64, int64_t, i)
NATIVE(u8, uint8_t, i)
NATIVE(u16, uint16_t, i)
NATIVE(u32, uint32_t, i)
NATIVE(f32, float, f)
NATIVE(f64, double, f)
#undef NATIVE

static void decode_u64(const void *bytes, int64_t count, Element *out)
{
    memcpy(out, bytes, sizeof *out * (size_t)count);
}

static void encode_u64(const Element *elements, int64_t count, void *bytes)
{
    memcpy(bytes, elements, sizeof *elements * (size_t)count);
}

static void decode_b1(const void *bytes, int64_t count, Element *out)
{
    const uint8_t *in = bytes;
    for (int64_t i = 0; i < count; i++) out[i].i = in[i] & 1;
}

static void encode_b1(const Element *elements, int64_t count, void *bytes)
{
    uint8_t *out = bytes;
    for (int64_t i = 0; i < count; i++) out[i] = elements[i].i != 0;
}

/* ---- the narrow floats: sign, exponent and mantissa moved as integers ---- */

static inline double widen(uint16_t bits, int mantissa, int bias)
{
    uint64_t rest = (uint64_t)(bits & 0x7fff) << (52 - mantissa);
    uint64_t top = (uint64_t)((1 << (15 - mantissa)) - 1) << 52;
    if (rest >= top) rest |= UINT64_C(0x7ff) << 52;
    double magnitude;
    memcpy(&magnitude, &rest, sizeof magnitude);
    /* Scaling by a power of two brings the bias right, for subnormal numbers too. */
    if (rest < UINT64_C(0x7ff) << 52) magnitude *= ldexp(1, 1023 - bias);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* Rounds to the nearest, ties to even; NaN is left to the caller. */
static inline uint16_t narrow(double number, int mantissa, int bias)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t magnitude = bits & ~(UINT64_C(1) << 63), least = (uint64_t)(1023 - bias + 1) << 52;
    uint64_t infinity = (uint64_t)((1 << (15 - mantissa)) - 1) << mantissa;
    if (magnitude < least) {
        double scaled = fabs(number) * ldexp(1, bias - 1 + mantissa) + 0x1p52;
        memcpy(&magnitude, &scaled, sizeof magnitude);
        return (uint16_t)(sign | (magnitude & 0xffff));
    }
    int shift = 52 - mantissa;
    magnitude += (UINT64_C(1) << (shift - 1)) - 1 + (magnitude >> shift & 1);
    magnitude = (magnitude >> shift) - ((uint64_t)(1023 - bias) << mantissa);
    return (uint16_t)(sign | (magnitude < infinity ? magnitude : infinity));
}

#define NARROW(name, mantissa, bias)                                                               \
    static void decode_##name(const void *bytes, int64_t count, Element *out)                      \
    {                                                                                              \
        const uint16_t *in = bytes;                                                                \
        for (int64_t i = 0; i < count; i++) out[i].f = widen(in[i], mantissa, bias);               \
    }                                                                                              \
    static void encode_##name(const Element *elements, int64_t count, void *bytes)                 \
    {                                                                                              \
        uint16_t *out = bytes;                                                                     \
        for (int64_t i = 0; i < count; i++)                                                        \
            out[i] = isnan(elements[i].f) ? (uint16_t)dtype_encode(DTYPE_##name, elements[i].f)    \
                                          : narrow(elements[i].f, mantissa, bias);                 \
    }
NARROW(f16, 10, 15)
NARROW(bf16, 7, 127)
#undef NARROW

/* ---- all ---- */

#define CODEC(name) [DTYPE_##name] = {decode_##name, encode_##name}
static const struct {
    Decoder *decode;
    Encoder *encode;
} codecs[DTYPE_COUNT] = {CODEC(b1),   CODEC(i8),  CODEC(i16), CODEC(i32), CODEC(i64),
                         CODEC(u8),   CODEC(u16), CODEC(u32), CODEC(u64), CODEC(f16),
                         CODEC(bf16), CODEC(f32), CODEC(f64)};
#undef CODEC

Element element_decode(DType dtype, const void *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, (size_t)dtype_bytes(dtype));
    if (dtype_is_float(dtype)) return (Element){.f = dtype_decode(dtype, bits)};
    return (Element){.i = dtype_wrap(dtype, (int64_t)bits)};
}

void element_encode(DType dtype, Element element, void *bytes)
{
    uint64_t bits = dtype_is_float(dtype) ? dtype_encode(dtype, element.f) : (uint64_t)element.i;
    if (dtype == DTYPE_b1) bits = element.i != 0; /* a GPU looks at the lowest bit alone */
    memcpy(bytes, &bits, (size_t)dtype_bytes(dtype));
}

void elements_decode(DType dtype, const char *bytes, int64_t count, Element *out)
{
    if (codecs[dtype].decode) {
        codecs[dtype].decode(bytes, count, out);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = element_decode(dtype, bytes + i * dtype_bytes(dtype));
}

void elements_encode(DType dtype, const Element *elements, int64_t count, char *bytes)
{
    if (codecs[dtype].encode) {
        codecs[dtype].encode(elements, count, bytes);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        element_encode(dtype, elements[i], bytes + i * dtype_bytes(dtype));
}

bool element_of(DType dtype, const HostValue *number, Element *out)
{
    const bool is_float = number->kind == HOST_FLOAT;
    if (dtype_is_float(dtype)) {
        out->f = value_number(number);
        return true;
    }
    if (dtype == DTYPE_b1) {
        out->i = value_number(number) != 0;
        return true;
    }
    if (is_float && dtype == DTYPE_u64 && number->number >= 0x1p63 && number->number < 0x1p64) {
        out->i = (int64_t)(uint64_t)number->number;
        return true;
    }
    if (is_float && !(number->number >= -0x1p63 && number->number < 0x1p63)) return false;
    out->i = is_float ? (int64_t)number->number : number->integer;
    return dtype_takes(dtype, out->i);
}

void element_text(DType dtype, Element element, char text[ELEMENT_TEXT])
{
    if (dtype_is_float(dtype))
        snprintf(text, ELEMENT_TEXT, "%.9g", element.f);
    else if (dtype == DTYPE_b1)
        snprintf(text, ELEMENT_TEXT, "%s", element.i ? "True" : "False");
    else if (dtype == DTYPE_u64)
        snprintf(text, ELEMENT_TEXT, "%llu", (unsigned long long)element.i);
    else
        snprintf(text, ELEMENT_TEXT, "%lld", (long long)element.i);
}

double element_number(DType dtype, Element element)
{
    if (dtype_is_float(dtype)) return element.f;
    return dtype == DTYPE_u64 ? (double)(uint64_t)element.i : (double)element.i;
}

/* A float becomes an integer toward zero; what no integer holds becomes 0. */
static Element integer_of(double number)
{
    bool fits = number > -9.2e18 && number < 9.2e18;
    return (Element){.i = fits ? (int64_t)number : 0};
}

void elements_convert(DType from, DType to, int64_t count, Element *elements)
{
    bool was_float = dtype_is_float(from), becomes_float = dtype_is_float(to);
    if (was_float == becomes_float && to != DTYPE_b1) return;
    if (to == DTYPE_b1)
        for (int64_t i = 0; i < count; i++)
            elements[i].i = was_float ? elements[i].f != 0 : elements[i].i != 0;
    else if (was_float)
        for (int64_t i = 0; i < count; i++) elements[i] = integer_of(elements[i].f);
    else if (from == DTYPE_u64)
        for (int64_t i = 0; i < count; i++) elements[i].f = (double)(uint64_t)elements[i].i;
    else
        for (int64_t i = 0; i < count; i++) elements[i].f = (double)elements[i].i;
}
