# What a Script's mbarriers, copies by TMA and products in flight become: one product stays in flight from iteration to
# iteration, and the copies are one thread's; where the tensor core does not do all of them, none stays in flight.
cd $TMP
cp $TILE_ROOT/tests/exec/tilus_hopper.tile script.tile
cat > mixed.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def mixed(A: T.Tensor[[64, 64], T.float16], B: T.Tensor[[64, 64], T.float16]):
    C = T.empty((80, 64), T.float32)
    with T.Kernel(1, threads=128):
        a = T.alloc_shared((64, 64), T.float16)
        b = T.alloc_shared((64, 64), T.float16)
        few = T.alloc_shared((16, 64), T.float16)
        upper = T.alloc_fragment((64, 64), T.float32)
        lower = T.alloc_fragment((16, 64), T.float32)
        T.copy(A, a)
        T.copy(A[0:16, :], few)
        T.copy(B, b)
        T.clear(upper)
        T.clear(lower)
        T.wgmma_gemm(a, b, upper)
        T.wgmma_gemm(few, b, lower)
        T.wait_wgmma(1)
        T.copy(upper, C[0:64, :])
        T.wait_wgmma(0)
        T.copy(lower, C[64:80, :])
    return C
T
sequence() {
    awk '/^\.visible/ { wanted = /_aligned/ } wanted' | grep -oE '(wgmma\.(fence|mma_async|commit_group|wait_group)[a-z0-9.]*( [0-9];)?|mbarrier\.[a-z_.]*|cp\.async\.bulk\.[a-z0-9.]*|mma\.sync|fence\.[a-z_.]*|bar\.sync)' | uniq -c | sed 's/^ */  /'
}
echo "specialised"
$TILEC script.tile --arch=sm_90a --emit=ptx --export 's = Specialised().compile(n=128, k=512)' -o - | sequence
echo "groups"
$TILEC script.tile --arch=sm_90a --emit=ptx --export 'g = Groups().compile()' -o - | sequence
echo "mixed"
$TILEC mixed.tile --arch=sm_90a --emit=ptx --export 'mixed = mixed' --export 'm = mixed.compile()' -o - | sequence
