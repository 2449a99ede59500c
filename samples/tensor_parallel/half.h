/* half.h: half precision on the CPU. */
#ifndef HALF_H
#define HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float float_of_half(uint16_t half)
{
    const uint32_t shifted = (uint32_t)(half & 0x7fff) << 13;
    float value;
    memcpy(&value, &shifted, sizeof value);
    value *= 0x1p112f; /* the exponents' difference; infinities are caught below */
    if ((half & 0x7c00) == 0x7c00) value = half & 0x3ff ? NAN : INFINITY;
    return half & 0x8000 ? -value : value;
}

/* The nearest one, to even. */
static inline uint16_t half_of_float(float value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const float magnitude = fabsf(value);
    if (isnan(value)) return 0x7e00;
    if (magnitude >= 65520) return sign | 0x7c00;
    if (magnitude < 0x1p-14f) return (uint16_t)(sign | (uint16_t)nearbyintf(magnitude * 0x1p24f));
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits += 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | (bits - ((127 - 15) << 23)) >> 13);
}

#endif
