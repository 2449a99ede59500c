# How eight int4 of a word become f16 on the GPU: a byte twice (prmt), of each the bits that count below an exponent (lop3), and both
# less what that adds, the upper one sixteenfold (fma).
cd $TMP
cat > widen.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def widen(A: T.Tensor[[1024], T.int4]):
    B = T.empty((1024,), T.float16)
    with T.Kernel(1, threads=128):
        packed = T.alloc_fragment((1024,), T.int4)
        wide = T.alloc_fragment((1024,), T.float16)
        T.copy(A, packed)
        T.copy(packed, wide)
        T.copy(wide, B)
    return B


# One element a thread: its bits of a word, and no others, are changed. A number comes in a byte.
@tilelang.jit
def one(A: T.Tensor[[32], T.int8], x: T.int4):
    B = T.empty((32,), T.int4)
    with T.Kernel(1, threads=32):
        i = T.get_thread_binding()
        B[i] = T.Cast("int4", A[i]) + x
    return B


widen.compile()
one.compile()
T
$TILEC --emit=ptx widen.tile --arch=sm_90a --ptxas=none >all.ptx
awk '/\.entry widen[^ ]*_aligned/ { inside = 1 } inside; /ret;/ { inside = 0 }' all.ptx |
  grep -oE '(prmt|and|xor|lop3|fma\.rn|add\.rn|cvt\.rn|ld\.global|st\.global)[.a-z0-9]*' | sort | uniq -c
grep -oE 'red\.relaxed[.a-z0-9]*' all.ptx
grep -oE 'param .u8 one|param .u8 [a-z_0-9]*param_1' all.ptx | sort | uniq -c
