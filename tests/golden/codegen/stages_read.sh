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
