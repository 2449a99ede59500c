# Arithmetic rounded up, down and towards zero, beside the processor's own: bits agree, subnormal, overflowing, and signed zeros
# included.
cd $TMP
cat > make.c <<'C'
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 4096 };

static uint64_t state = 1;
static uint64_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 11 ^ state << 40;
}

#define MAKE(REAL, WORD, NAME, SQRT, FMA, MANTISSA, EXPONENT)                                                      \
    static REAL some_##NAME(void)                                                                                  \
    {                                                                                                              \
        static const REAL special[] = {0, -0.0, 1, -1, 3, INFINITY, -INFINITY, 1e-30, -1e30};                      \
        WORD bits = (WORD)draw();                                                                                  \
        REAL value;                                                                                                \
        int kind = draw() % 8, bias = (1 << (EXPONENT - 1)) - 1;                                                   \
        if (kind == 0) return special[draw() % (sizeof special / sizeof *special)];                                \
        if (kind > 3) /* near 1 */                                                                                 \
            bits = (bits & ~((WORD)((1 << EXPONENT) - 1) << MANTISSA)) |                                           \
                   (WORD)(bias - 3 + (int)(draw() % 8)) << MANTISSA;                                               \
        if (kind == 3) bits &= ~((WORD)((1 << EXPONENT) - 1) << MANTISSA); /* subnormal */                         \
        memcpy(&value, &bits, sizeof value);                                                                       \
        return value != value ? 2 : value;                                                                         \
    }                                                                                                              \
    static void save_##NAME(const char *name, const char *what, const REAL *values, int rows)                      \
    {                                                                                                              \
        char path[64], header[128];                                                                                \
        snprintf(path, sizeof path, "%s_%s.npy", name, what);                                                      \
        FILE *file = fopen(path, "wb");                                                                            \
        int length = snprintf(header, sizeof header,                                                               \
                              "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }",                    \
                              (int)sizeof(REAL), rows, COUNT);                                                     \
        memset(header + length, ' ', 117 - length);                                                                \
        header[117] = '\n';                                                                                        \
        fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);                                                          \
        fwrite(header, 1, 118, file);                                                                              \
        fwrite(values, sizeof(REAL), (size_t)rows * COUNT, file);                                                  \
        fclose(file);                                                                                              \
    }                                                                                                              \
    static void make_##NAME(void)                                                                                  \
    {                                                                                                              \
        static REAL in[3 * COUNT], out[6 * COUNT];                                                                 \
        static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};                                        \
        static const char *const names[] = {"ru", "rd", "rz"};                                                     \
        for (int i = 0; i < 3 * COUNT; i++) in[i] = some_##NAME();                                                 \
        for (int i = 0; i < COUNT; i += 16) in[COUNT + i] = -in[i];                                                \
        save_##NAME(#NAME, "in", in, 3);                                                                           \
        for (int m = 0; m < 3; m++) {                                                                              \
            fesetround(modes[m]);                                                                                  \
            for (int i = 0; i < COUNT; i++) {                                                                      \
                volatile REAL x = in[i], y = in[COUNT + i], z = in[2 * COUNT + i];                                 \
                out[i] = x + y, out[COUNT + i] = x - y, out[2 * COUNT + i] = x * y;                                \
                out[3 * COUNT + i] = x / y, out[4 * COUNT + i] = SQRT(x);                                          \
                out[5 * COUNT + i] = sizeof(REAL) == 4 ? FMA(x, y, z) : 1 / x;                                     \
            }                                                                                                      \
            fesetround(FE_TONEAREST);                                                                              \
            save_##NAME(#NAME, names[m], out, 6);                                                                  \
        }                                                                                                          \
    }
MAKE(float, uint32_t, single, sqrtf, fmaf, 23, 8)
MAKE(double, uint64_t, twice, sqrt, fma, 52, 11)

int main(void)
{
    make_single();
    make_twice();
}
C
${TILE_CC:-gcc} -O1 -frounding-math -w make.c -lm -o make && ./make || exit 1
cat > rounded.tile <<'T'
from typing import Any

import tilelang
import tilelang.language as T


# How many results are not the same bits, by operation.
@tilelang.lazy_jit
def differing(X: T.Tensor[[3, int], Any], R: T.Tensor[[6, int], Any], mode: str):
    _, N = X.shape
    D = T.empty((6,), T.int32)
    with T.Kernel(6, threads=128) as bx:
        d = T.alloc_reducer((1,), T.int32)
        T.reducer_init(d)
        for i in T.Parallel(N):
            x = X[0, i]
            y = X[1, i]
            z = X[2, i]
            if bx == 0:
                r = T.ieee_add(x, y, rounding_mode=mode)
            elif bx == 1:
                r = T.ieee_sub(x, y, rounding_mode=mode)
            elif bx == 2:
                r = T.ieee_mul(x, y, rounding_mode=mode)
            elif bx == 3:
                r = T.ieee_fdiv(x, y, rounding_mode=mode)
            elif bx == 4:
                r = T.ieee_fsqrt(x, rounding_mode=mode)
            else:
                r = T.ieee_fmaf(x, y, z, rounding_mode=mode) if X.dtype == T.float32 else T.ieee_frcp(x, rounding_mode=mode)
            word = "int32" if X.dtype == T.float32 else "int64"
            same = (T.reinterpret(r, word) == T.reinterpret(R[bx, i], word)) or (r != r and R[bx, i] != R[bx, i])
            d[0] += T.if_then_else(same, 0, 1)
        T.finalize_reducer(d)
        D[bx] = d[0]
    return D
T
for mode in ru rd rz; do
    for type in single twice; do
        $TILEC run rounded.tile "d = differing(load('${type}_in.npy'), load('${type}_$mode.npy'), '$mode'); print('$type $mode', [d[i] for i in range(6)])" 2>&1
    done
done
