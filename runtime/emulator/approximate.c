/* approximate.c: the quick instructions of PTX on f32: ex2.approx.ftz, lg2, rcp, sqrt, rsqrt, sin,
 * cos, div, and tanh.approx. What they give is nowhere defined bit for bit; the manual has bounds,
 * and what is computed here, in double and without a library, lies within them. sin, cos and tanh
 * are made as coarse as they may be on the machine, so that a program that needs more shows it. */
#include <string.h>

#include "emulator/emulator.h"

static const double LN2 = 0.6931471805599453, LOG2_E = 1.4426950408889634;
static const double HALF_PI = 1.5707963267948966, HALF_PI_LOW = 6.123233995736766e-17;

/* To the nearest, where |x| is below 2^51. */
static double whole(double x)
{
    const double magic = 0x1.8p52;
    volatile double sum = x + magic; /* not simplified to x */
    return sum - magic;
}

/* x * 2 ** k for a normal result. */
static double scaled(double x, int k)
{
    uint64_t bits;
    double factor;
    bits = (uint64_t)(k + 1023) << 52;
    memcpy(&factor, &bits, sizeof factor);
    return x * factor;
}

/* Taylor's series of exp, whose argument is at most log(2) / 2. */
static double power_of_two(double x)
{
    if (x != x) return x;
    if (x > 200) return (double)__builtin_inff();
    if (x < -200) return 0;
    const double k = whole(x), y = (x - k) * LN2;
    double sum = 1;
    for (int n = 13; n > 0; n--) sum = 1 + sum * y / n;
    return scaled(sum, (int)k);
}

/* By 2 atanh((m - 1) / (m + 1)), m from sqrt(1/2) to sqrt(2). */
static double logarithm(double x)
{
    if (x == 0) return -(double)__builtin_inff();
    if (!(x > 0)) return (double)__builtin_nanf("");
    if (x == (double)__builtin_inff()) return x;
    uint64_t bits;
    double m;
    memcpy(&bits, &x, sizeof bits);
    int k = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffu) | (uint64_t)1023 << 52;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m /= 2;
        k++;
    }
    const double s = (m - 1) / (m + 1), w = s * s;
    double sum = 0;
    for (int n = 23; n > 0; n -= 2) sum = sum * w + 1.0 / n;
    return k + 2 * s * sum * LOG2_E;
}

/* By Newton's method, from a guess by the exponent. */
static double root(double x)
{
    if (x == 0 || x != x || x == (double)__builtin_inff()) return x;
    if (x < 0) return (double)__builtin_nanf("");
    uint64_t bits;
    double y;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits >> 1) + ((uint64_t)1023 << 51);
    memcpy(&y, &bits, sizeof y);
    for (int i = 0; i < 6; i++) y = (y + x / y) / 2;
    return y;
}

/* sin(x + quarters * pi / 2). Beyond 2^48 the quick instructions have no digit left, nor has this.
 */
static double circular(double x, int quarters)
{
    if (!(x < (double)__builtin_inff()) || !(x > -(double)__builtin_inff()))
        return (double)__builtin_nanf("");
    if (x > 0x1p48 || x < -0x1p48) x = 0;
    const double k = whole(x / HALF_PI), r = (x - k * HALF_PI) - k * HALF_PI_LOW;
    const int quadrant = (int)((int64_t)k & 3) + quarters;
    double term = quadrant & 1 ? 1 : r, sum = 0;
    for (int n = quadrant & 1 ? 0 : 1; n < 20; n += 2) {
        sum += term;
        term *= -r * r / ((n + 1) * (n + 2));
    }
    return quadrant & 2 ? -sum : sum;
}

static double hyperbolic_tangent(double x)
{
    if (x != x) return x;
    if (x > 20) return 1;
    if (x < -20) return -1;
    if (x < 1e-4 && x > -1e-4) return x;
    const double e = power_of_two(2 * x * LOG2_E);
    return (e - 1) / (e + 1);
}

/* The first `digits` binary digits: a relative error of 2 ** -digits. */
static double leading(double x, int digits)
{
    uint64_t bits;
    const uint64_t half = (uint64_t)1 << (52 - digits);
    if (x != x || x == 0) return x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + half) & ~(2 * half - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double multiple_of(double x, double unit)
{
    return x != x ? x : whole(x / unit) * unit;
}

static float flush(float x)
{
    const float least = 0x1p-126f;
    return x < least && x > -least ? x * 0.0f : x;
}

TILE_API float tile_emu_approximate(uint32_t function, float first, float second)
{
    const float x = flush(first), y = flush(second);
    switch ((tile_emu_function)function) {
    case TILE_EMU_EX2: return flush((float)power_of_two((double)x));
    case TILE_EMU_LG2: return flush((float)logarithm((double)x));
    case TILE_EMU_RCP: return flush(1.0f / x);
    case TILE_EMU_SQRT: return (float)root((double)x);
    case TILE_EMU_RSQRT: return (float)(1.0 / root((double)x));
    case TILE_EMU_SIN: return x == 0 ? x : (float)multiple_of(circular((double)x, 0), 0x1p-20);
    case TILE_EMU_COS: return (float)multiple_of(circular((double)x, 1), 0x1p-20);
    case TILE_EMU_TANH: return (float)leading(hyperbolic_tangent((double)first), 11);
    case TILE_EMU_DIV: /* the manual: a quotient by more than 2^126 is 0, of an infinity NaN */
        if (y > 0x1p126f && y < __builtin_inff()) return x * 0.0f;
        if (y < -0x1p126f && y > -__builtin_inff()) return -(x * 0.0f);
        return flush(x / y);
    case TILE_EMU_EXP: return (float)power_of_two((double)first * LOG2_E);
    case TILE_EMU_EXP2: return (float)power_of_two((double)first);
    }
    return __builtin_nanf("");
}
