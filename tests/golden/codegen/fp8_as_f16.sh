# Products of fp8 where the matrix unit has none: both operands become f16, two at a time, on their way from shared memory, and what is left
# for scalars are the copies and the sums. On the emulator of such a GPU they are as right as elsewhere.
cat >"$TMP/product.py" <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def product(A: T.Tensor((512, 512), "float8_e4m3fn"), B: T.Tensor((512, 512), "float8_e4m3fn"), C: T.Tensor((512, 512), "float32")):
    with T.Kernel(8, 8, threads=128) as (bx, by):
        a = T.alloc_shared((64, 64), "float8_e4m3fn")
        b = T.alloc_shared((64, 64), "float8_e4m3fn")
        c = T.alloc_fragment((64, 64), "float32")
        T.clear(c)
        for k in T.Pipelined(8, num_stages=2):
            T.copy(A[by * 64, k * 64], a)
            T.copy(B[bx * 64, k * 64], b)
            T.gemm(a, b, c, transpose_B=True)
        T.copy(c, C[by * 64, bx * 64])
T
"$TILEC" --emit=ptx "$TMP/product.py" --arch=sm_80 --ptxas=none -o - 2>/dev/null |
    awk '/\.entry product[^ ]*_aligned/ { inside = 1 } inside; /ret;/ { inside = 0 }' |
    grep -oE '(mma\.sync|fma\.rn|mul\.rn|prmt|cvt\.rn|cp\.async\.c[ag])[.a-z0-9]*' | sort | uniq -c
for dtype in float8_e4m3 float8_e5m2 float4_e2m1; do
    "$TILEC" run --device=emulator --arch=emulator:sm_80 "$TILE_ROOT/tests/exec/dot_types.tile" "check($dtype)" || echo "$dtype"
done
