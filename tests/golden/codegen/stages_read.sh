# A stage that threads read themselves is given back to TMA behind a fence of the proxies, as TMA's writes might overtake their reads; one
# that only the tensor core reads is given back without.
cd $TMP
cat >k.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def product(scaled: bool):
    @T.prim_func
    def main(A: T.Tensor((4096, 4096), T.bfloat16), B: T.Tensor((4096, 4096), T.bfloat16), S: T.Tensor((4096,), T.bfloat16),
             C: T.Tensor((4096, 4096), T.float32)):
        with T.Kernel(16, 32, threads=256) as (bx, by):
            a = T.alloc_shared((128, 64), T.bfloat16)
            b = T.alloc_shared((64, 256), T.bfloat16)
            other = T.alloc_shared((128, 64), T.bfloat16)
            scale = T.alloc_shared((128,), T.bfloat16)
            c = T.alloc_fragment((128, 256), T.float32)
            T.copy(S[by * 128], scale)
            T.clear(c)
            for k in T.Pipelined(64, num_stages=3):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[k * 64, bx * 256], b)
                if scaled:
                    for i, j in T.Parallel(128, 64):
                        other[i, j] = a[i, j] * scale[i]
                    T.gemm(other, b, c)
                else:
                    T.gemm(a, b, c)
            T.copy(c, C[by * 128, bx * 256])
    return main
T
for scaled in True False; do
    $TILEC k.tile --arch=sm_90a --ptxas=none --emit=ptx --export "k = product($scaled)" -o k.ptx 2>&1 | grep "error:"
    awk '/^\.visible/ { on = /_aligned/ }
        on && /fence.proxy.async/ { fenced = 1 }
        on && /mbarrier.try_wait|wgmma.mma_async|bar.sync/ { fenced = 0 }
        on && /mbarrier.arrive[a-z:.]*shared::c[a-z.0-9]* _/ && !/expect_tx/ { print fenced ? "given back behind a fence" : "given back" ; fenced = 0 }' k.ptx | sort | uniq -c | sed "s/^/$scaled: /"
done
# Of a product's iteration whose threads write an operand behind a fence, that fence does for the numbers of rows that they have read before:
# the stage of these is given back behind it, as the producer waits for other stages that are given back later still.
cat >rows.py <<'T'
import tilelang
import tilelang.language as T

@T.prim_func
def main(Q: T.Tensor[(4096, 128), "float16"], K: T.Tensor[(4096, 128), "float16"], L: T.Tensor[(4096,), "float32"], D: T.Tensor[(4096, 128), "float32"]):
    with T.Kernel(32, threads=256) as b:
        k = T.alloc_shared((128, 128), "float16")
        q = T.alloc_shared((32, 128), "float16")
        l = T.alloc_shared((32,), "float32")
        p = T.alloc_shared((128, 32), "float16")
        s = T.alloc_fragment((128, 32), "float32")
        c = T.alloc_fragment((128, 32), "float16")
        d = T.alloc_fragment((128, 128), "float32")
        T.copy(K[b * 128, 0], k)
        T.clear(d)
        for i in T.Pipelined(128, num_stages=2):
            T.copy(Q[i * 32, 0], q)
            T.copy(L[i * 32], l)
            T.clear(s)
            T.gemm(k, q, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
            for x, y in T.Parallel(128, 32):
                c[x, y] = T.exp2(s[x, y] - l[y])
            T.copy(c, p)
            T.gemm(p, q, d, policy=T.GemmWarpPolicy.FullRow)
        T.copy(d, D[b * 128, 0])
T
$TILEC rows.py --arch=sm_90a --ptxas=none --emit=ptx -o rows.ptx 2>/dev/null
awk '/^\.visible/ { on = /_aligned/ } on' rows.ptx | grep -oE 'ld\.shared|fence\.proxy\.async|stmatrix|mbarrier\.arrive\.shared::cta\.b64 _|wgmma\.wait_group' | uniq -c
