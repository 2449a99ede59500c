# Products in flight: what comes between them and their wait is not held up; one whose sums are used first is done at once.
cd $TMP
kernel() {
    cat > k.tile <<T
import tilelang
import tilelang.language as T


@tilelang.jit
def k(A: T.Tensor[[64, 64], T.float16], B: T.Tensor[[64, 64], T.float16]):
    C = T.empty((64, 64), T.float32)
    D = T.empty((64, 64), T.float32)
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((64, 64), T.float16)
        b = T.alloc_shared((64, 64), T.float16)
        c = T.alloc_fragment((64, 64), T.float32)
        d = T.alloc_fragment((64, 64), T.float32)
        T.copy(A, a)
        T.copy(B, b)
        T.wgmma_gemm(a, b, c, clear_accum=True)
        T.wgmma_gemm(b, a, d, clear_accum=True)
        $1
        T.copy(c, C)
        T.copy(d, D)
    return C, D
T
    echo "$1"
    $TILEC k.tile --arch=sm_90a --emit=ptx --ptxas=none >k.ptx
    grep -o 'wgmma.\(commit_group\|wait_group\).*' k.ptx
}
kernel "T.wait_wgmma(1); T.copy(c, C); T.wait_wgmma(0)"
kernel "T.wait_wgmma(0)"
kernel pass
