/* mma.c: mma.sync from the fragment layouts of the PTX ISA manual, sections "Matrix Fragments for
 * mma.m16n8k16 with floating point type" (f16, bf16), "for mma.m16n8k8" (tf32, f64) and "for
 * mma.m16n8k32" (s8, u8, fp8). Fragments are gathered into dense matrices, multiplied, and dealt
 * out again.
 *
 * Every element is c + a0 b0 + a1 b1 + ..., each product and each sum rounded to f32, or f64
 * (products of f16 are exact; those of f64 a GPU does not round), in ascending k; an f16 result is
 * rounded once, at the end. The manual leaves order and rounding open. A NaN comes out as
 * 0x7fffffff, in f16 as 0x7fff. So the wide and the portable version, one text compiled twice, give
 * the same bits: no fused multiply-add in either, by name (the wide target lacks it) and by
 * -std=c11 (which does not contract). */
#include <string.h>

#include "emulator/emulator.h"

enum { ROWS = 16, COLUMNS = 8 };

/* One row of the result, a register of 256 bits where there is one. */
typedef float Row __attribute__((vector_size(32)));
typedef uint32_t Words __attribute__((vector_size(32)));
typedef uint16_t Halves __attribute__((vector_size(16)));

#define INLINE static inline __attribute__((always_inline))

/* ---- numbers: by pointer, since no ABI for wide registers may be assumed ---- */

/* Eight f16 to f32, exactly: rebias the exponent, and let a subtraction normalise subnormals. */
INLINE void widen_f16(float *out, const uint16_t *in)
{
    Halves halves;
    memcpy(&halves, in, sizeof halves);
    Words word = __builtin_convertvector(halves, Words);
    Words magnitude = (word & 0x7fff) << 13;
    Words exponent = magnitude & 0x0f800000;
    Words bits = magnitude + (112u << 23);
    bits += (Words)(exponent == 0x0f800000) & (112u << 23);
    Words small = (Words)(exponent == 0), raised = bits + (1u << 23);
    Words least = (Words){0} + (113u << 23);
    Row normal = (Row)raised - (Row)least;
    bits = (bits & ~small) | ((Words)normal & small);
    bits |= (word & 0x8000) << 16;
    memcpy(out, &bits, sizeof bits);
}

INLINE void widen_bf16(float *out, const uint16_t *in)
{
    Halves halves;
    memcpy(&halves, in, sizeof halves);
    Words bits = __builtin_convertvector(halves, Words) << 16;
    memcpy(out, &bits, sizeof bits);
}

/* Eight f32 to f16, to nearest, ties to even: subnormals by the rounding of an addition. */
INLINE void narrow_f16(uint16_t *out, const float *in)
{
    Words word;
    memcpy(&word, in, sizeof word);
    Words sign = word >> 16 & 0x8000;
    Words bits = word & 0x7fffffff;
    Words normal = (bits + 0xc8000fff + (bits >> 13 & 1)) >> 13;
    Words half = (Words){0} + (126u << 23);
    Row raised = (Row)bits + (Row)half;
    Words subnormal = (Words)raised - half;
    Words small = (Words)(bits < (113u << 23)), big = (Words)(bits >= (143u << 23));
    Words nan = (Words)(bits > 0x7f800000);
    Words result = (normal & ~small) | (subnormal & small);
    result = (result & ~big) | (big & 0x7c00);
    result = ((result | sign) & ~nan) | (nan & 0x7fff);
    Halves halves = __builtin_convertvector(result, Halves);
    memcpy(out, &halves, sizeof halves);
}

INLINE void widen(float *out, const uint16_t *in, int count, bool bf16)
{
    for (int i = 0; i < count; i += 8) {
        if (bf16)
            widen_bf16(out + i, in + i);
        else
            widen_f16(out + i, in + i);
    }
}

/* ---- the product ---- */

INLINE void store_row(float *out, const Row *sum)
{
    Words nan = (Words)(*sum != *sum), bits = (Words)*sum;
    bits = (bits & ~nan) | (nan & 0x7fffffff);
    memcpy(out, &bits, sizeof bits);
}

/* Eight rows of d += a b: as many sums as registers hold. */
INLINE void multiply_rows(float *d, const float *a, const float *b, int depth)
{
    Row sum[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) memcpy(&sum[i], d + i * COLUMNS, sizeof sum[i]);
    for (int k = 0; k < depth; k++) {
        Row right;
        memcpy(&right, b + k * COLUMNS, sizeof right);
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            Row product = right * a[i * depth + k];
            sum[i] += product;
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) store_row(d + i * COLUMNS, &sum[i]);
}

INLINE void multiply(float *d, const float *a, const float *b, int depth)
{
    multiply_rows(d, a, b, depth);
    multiply_rows(d + 8 * COLUMNS, a + 8 * depth, b, depth);
}

/* ---- fragments: a lane is group g = lane / 4 and thread t = lane mod 4 of it ---- */

/* A of 16-bit elements, 16 x 16, seen as 16 x 8 words; also of 8-bit ones, 16 x 32: word 0 is row
 * g, word 1 row g + 8, words 2 and 3 the same four words to the right. */
INLINE void gather_a_words(uint32_t out[ROWS * 8], const Thread *lanes)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t *in = lanes[lane].abi.in;
        uint32_t g = lane / 4, t = lane % 4;
        out[g * 8 + t] = in[0];
        out[(g + 8) * 8 + t] = in[1];
        out[g * 8 + t + 4] = in[2];
        out[(g + 8) * 8 + t + 4] = in[3];
    }
}

/* B of 16-bit elements, 16 x 8: word 0 is rows 2t and 2t + 1 of column g, word 1 those 8 below. */
INLINE void gather_b_halves(uint16_t out[16 * COLUMNS], const Thread *lanes)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t *in = lanes[lane].abi.in + 4;
        uint16_t *column = out + lane % 4 * 2 * COLUMNS + lane / 4;
        column[0] = (uint16_t)in[0];
        column[COLUMNS] = (uint16_t)(in[0] >> 16);
        column[8 * COLUMNS] = (uint16_t)in[1];
        column[9 * COLUMNS] = (uint16_t)(in[1] >> 16);
    }
}

/* C of 32-bit elements, 16 x 8: words 0 and 1 are columns 2t and 2t + 1 of row g, 2 and 3 of g + 8.
 */
INLINE void gather_c_words(void *out, const Thread *lanes)
{
    uint32_t *words = out;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t *row = words + lane / 4 * COLUMNS + lane % 4 * 2;
        memcpy(row, lanes[lane].abi.in + 6, 8);
        memcpy(row + 8 * COLUMNS, lanes[lane].abi.in + 8, 8);
    }
}

INLINE void deal_d_words(Thread *lanes, const void *in)
{
    const uint32_t *words = in;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t *row = words + lane / 4 * COLUMNS + lane % 4 * 2;
        memcpy(lanes[lane].abi.out, row, 8);
        memcpy(lanes[lane].abi.out + 2, row + 8 * COLUMNS, 8);
    }
}

/* C of 16-bit elements: word 0 is columns 2t and 2t + 1 of row g, word 1 of row g + 8. */
INLINE void gather_c_halves(uint16_t out[ROWS * COLUMNS], const Thread *lanes)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint16_t *row = out + lane / 4 * COLUMNS + lane % 4 * 2;
        memcpy(row, lanes[lane].abi.in + 6, 4);
        memcpy(row + 8 * COLUMNS, lanes[lane].abi.in + 7, 4);
    }
}

INLINE void deal_d_halves(Thread *lanes, const uint16_t in[ROWS * COLUMNS])
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint16_t *row = in + lane / 4 * COLUMNS + lane % 4 * 2;
        memcpy(lanes[lane].abi.out, row, 4);
        memcpy(lanes[lane].abi.out + 1, row + 8 * COLUMNS, 4);
    }
}

/* ---- the shapes ---- */

INLINE void gather_halves(float *a, float *b, const Thread *lanes, bool bf16)
{
    uint32_t words[ROWS * 8];
    uint16_t halves[ROWS * 16], columns[16 * COLUMNS];
    gather_a_words(words, lanes);
    memcpy(halves, words, sizeof halves);
    gather_b_halves(columns, lanes);
    widen(a, halves, ROWS * 16, bf16);
    widen(b, columns, 16 * COLUMNS, bf16);
}

INLINE void multiply_halves(Thread *lanes, bool bf16)
{
    float a[ROWS * 16], b[16 * COLUMNS], d[ROWS * COLUMNS];
    gather_halves(a, b, lanes, bf16);
    gather_c_words(d, lanes);
    multiply(d, a, b, 16);
    deal_d_words(lanes, d);
}

INLINE void multiply_f16_to_f16(Thread *lanes)
{
    float a[ROWS * 16], b[16 * COLUMNS], d[ROWS * COLUMNS];
    uint16_t halves[ROWS * COLUMNS];
    gather_halves(a, b, lanes, false);
    gather_c_halves(halves, lanes);
    widen(d, halves, ROWS * COLUMNS, false);
    multiply(d, a, b, 16);
    for (int i = 0; i < ROWS * COLUMNS; i += 8) narrow_f16(halves + i, d + i);
    deal_d_halves(lanes, halves);
}

/* tf32: f32 of which the last 13 bits do not count. A is 16 x 8, word by word as above but one
 * element each; B's words are rows t and t + 4 of column g. */
INLINE void multiply_tf32(Thread *lanes)
{
    uint32_t a_words[ROWS * 8], b_words[8 * COLUMNS];
    float a[ROWS * 8], b[8 * COLUMNS], d[ROWS * COLUMNS];
    gather_a_words(a_words, lanes);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        b_words[lane % 4 * COLUMNS + lane / 4] = lanes[lane].abi.in[4];
        b_words[(lane % 4 + 4) * COLUMNS + lane / 4] = lanes[lane].abi.in[5];
    }
    for (int i = 0; i < ROWS * 8; i++) a_words[i] &= 0xffffe000;
    for (int i = 0; i < 8 * COLUMNS; i++) b_words[i] &= 0xffffe000;
    memcpy(a, a_words, sizeof a);
    memcpy(b, b_words, sizeof b);
    gather_c_words(d, lanes);
    multiply(d, a, b, 8);
    deal_d_words(lanes, d);
}

/* Elements of 8 bits: four a word. B's words are rows 4t to 4t + 3 of column g, and those 16 below.
 */
INLINE void gather_bytes(void *a, uint8_t column[COLUMNS][32], const Thread *lanes)
{
    gather_a_words(a, lanes);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        memcpy(&column[lane / 4][lane % 4 * 4], &lanes[lane].abi.in[4], 4);
        memcpy(&column[lane / 4][lane % 4 * 4 + 16], &lanes[lane].abi.in[5], 4);
    }
}

/* Sums wrap around, there is no .satfinite here. */
INLINE void multiply_bytes(Thread *lanes, bool is_signed)
{
    uint32_t words[ROWS * 8], d[ROWS * COLUMNS];
    uint8_t a[ROWS * 32], column[COLUMNS][32];
    gather_bytes(words, column, lanes);
    memcpy(a, words, sizeof a);
    gather_c_words(d, lanes);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            int32_t sum = 0; /* at most 32 * 2^16 */
            for (int k = 0; k < 32; k++)
                sum += is_signed ? (int8_t)a[i * 32 + k] * (int8_t)column[j][k]
                                 : a[i * 32 + k] * column[j][k];
            d[i * COLUMNS + j] += (uint32_t)sum;
        }
    }
    deal_d_words(lanes, d);
}

/* fp8 to f16, exactly: e5m2 is the upper half of an f16; e4m3 has 3 bits of exponent less range and
 * one NaN instead of infinities and NaNs. */
INLINE uint16_t widen_e4m3(uint8_t byte)
{
    const uint16_t sign = (uint16_t)((byte & 0x80) << 8);
    const uint16_t magnitude = byte & 0x7f, exponent = magnitude >> 3;
    if (magnitude == 0x7f) return sign | 0x7e00;
    if (exponent) return (uint16_t)(sign | ((magnitude << 7) + (8 << 10)));
    static const uint16_t SUBNORMALS[8] = {0,      0x1800, 0x1c00, 0x1e00,
                                           0x2000, 0x2100, 0x2200, 0x2300}; /* n / 512 */
    return sign | SUBNORMALS[magnitude];
}

INLINE void widen_bytes(float *out, const uint8_t *in, int count, bool e5m2)
{
    uint16_t halves[ROWS * 32];
    for (int i = 0; i < count; i++) halves[i] = e5m2 ? (uint16_t)(in[i] << 8) : widen_e4m3(in[i]);
    widen(out, halves, count, false);
}

INLINE void multiply_fp8(Thread *lanes, bool e5m2)
{
    uint32_t words[ROWS * 8];
    uint8_t bytes[ROWS * 32], column[COLUMNS][32], b_bytes[32 * COLUMNS];
    float a[ROWS * 32], b[32 * COLUMNS], d[ROWS * COLUMNS];
    gather_bytes(words, column, lanes);
    memcpy(bytes, words, sizeof bytes);
    for (int k = 0; k < 32; k++)
        for (int j = 0; j < COLUMNS; j++) b_bytes[k * COLUMNS + j] = column[j][k];
    widen_bytes(a, bytes, ROWS * 32, e5m2);
    widen_bytes(b, b_bytes, 32 * COLUMNS, e5m2);
    gather_c_words(d, lanes);
    multiply(d, a, b, 32);
    deal_d_words(lanes, d);
}

/* ---- f64: elements of two words, at the places of tf32 ---- */

INLINE double wide_in(const Thread *lane, int element)
{
    double number;
    memcpy(&number, lane->abi.in + 2 * element, sizeof number);
    return number;
}

INLINE void gather_f64(double *a, double *b, double *d, const Thread *lanes)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t g = lane / 4, t = lane % 4;
        for (uint32_t i = 0; i < 4; i++) {
            a[(g + i % 2 * 8) * 8 + t + i / 2 * 4] = wide_in(&lanes[lane], (int)i);
            d[(g + i / 2 * 8) * COLUMNS + 2 * t + i % 2] = wide_in(&lanes[lane], (int)i + 6);
        }
        for (uint32_t i = 0; i < 2; i++)
            b[(t + i * 4) * COLUMNS + g] = wide_in(&lanes[lane], (int)i + 4);
    }
}

INLINE void deal_f64(Thread *lanes, const double *d)
{
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t i = 0; i < 4; i++)
            memcpy(lanes[lane].abi.out + 2 * i,
                   d + (lane / 4 + i / 2 * 8) * COLUMNS + lane % 4 * 2 + i % 2, sizeof *d);
}

INLINE void multiply_f64(Thread *lanes)
{
    double a[ROWS * 8], b[8 * COLUMNS], d[ROWS * COLUMNS];
    gather_f64(a, b, d, lanes);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 8; k++)
            for (int j = 0; j < COLUMNS; j++)
                d[i * COLUMNS + j] += a[i * 8 + k] * b[k * COLUMNS + j];
    deal_f64(lanes, d);
}

INLINE void multiply_matrices(Thread *lanes, uint32_t mode)
{
    switch ((tile_emu_mma)mode) {
    case TILE_EMU_MMA_M16N8K16_F32_F16: multiply_halves(lanes, false); return;
    case TILE_EMU_MMA_M16N8K16_F32_BF16: multiply_halves(lanes, true); return;
    case TILE_EMU_MMA_M16N8K16_F16_F16: multiply_f16_to_f16(lanes); return;
    case TILE_EMU_MMA_M16N8K8_F32_TF32: multiply_tf32(lanes); return;
    case TILE_EMU_MMA_M16N8K32_S32_S8: multiply_bytes(lanes, true); return;
    case TILE_EMU_MMA_M16N8K32_S32_U8: multiply_bytes(lanes, false); return;
    case TILE_EMU_MMA_M16N8K32_F32_E4M3: multiply_fp8(lanes, false); return;
    case TILE_EMU_MMA_M16N8K32_F32_E5M2: multiply_fp8(lanes, true); return;
    case TILE_EMU_MMA_M16N8K8_F64_F64: multiply_f64(lanes); return;
    }
}

void tile_emu_matrix_portable(Thread *lanes, uint32_t mode)
{
    multiply_matrices(lanes, mode);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void matrix_avx2(Thread *lanes, uint32_t mode)
{
    multiply_matrices(lanes, mode);
}
#endif

MatrixFunction *tile_emu_choose_matrix(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return matrix_avx2;
#endif
    return tile_emu_matrix_portable;
}
