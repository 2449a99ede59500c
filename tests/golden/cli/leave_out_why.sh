# Why nobody misses an op: what the emulator saw of what it was between, and of what was in flight or to be shown.
cat >"$TMP/why.tile" <<'END'
import tilelang
import tilelang.language as T
import tilus
from tilus import int32


# What the first barrier is for meets the second one as well, and that one nothing that the first has not ordered.
@tilelang.jit
def turn(A):
    A: T.Tensor((64,), T.int32)
    B = T.empty((64,), T.int32)
    with T.Kernel(1, threads=64):
        s = T.alloc_shared((64,), T.int32)
        t = T.get_thread_binding()
        s[t] = A[t]
        T.sync_threads()
        B[t] = A[t]
        T.sync_threads()
        B[t] += s[63 - t]
    return B


# The second copy is for nobody.
class Copies(tilus.Script):
    def __call__(self, a_ptr: ~int32, b_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=int32, shape=[64])
        b = self.global_view(b_ptr, dtype=int32, shape=[64])
        s = self.shared_tensor(dtype=int32, shape=[64])
        t = self.shared_tensor(dtype=int32, shape=[64])
        self.copy_async(a, s, offsets=[0])
        self.copy_async_commit_group()
        self.copy_async_wait_group(0)
        self.copy_async_wait_group(0)
        self.sync()
        self.copy_async(a, t, offsets=[0])
        self.copy_async_commit_group()
        self.store_global(b, self.load_shared(s), offsets=[0])
        self.copy_async_wait_group(0)
        self.free_shared(s)
        self.free_shared(t)


copies = Copies()
END
run() {
    TILE_DEVICE=emulator "$TILEC" run --leave-each-out=all "$@" 2>&1 | sed "s|$TMP/||g" |
        sed -nE 's,^[^ ]*/,,; s/^([a-z_.]*:[0-9]*):[0-9]*: .*, a ([a-z_ ]*).*, of .* \([0-9a-f]+ ([0-9]+)\): (.*) \[R.*/\1: \2 \3: \4/p' | grep -v "nobody comes"
}
run "$TMP/why.tile" 'a = arange(64, int32); b = turn(a); assert b[0] == 63 and b[63] == 63'
run "$TMP/why.tile" 'a = arange(64, int32); b = zeros((64,), int32); copies(a, b); assert b[5] == 5'
echo "what the tensor core is shown"
cd $TILE_ROOT/tests/exec
run own_barriers.tile "$(grep -v '^#' own_barriers.accept | head -n 1)" | grep fence_async
echo "what threads have read before TMA writes there, told by mbarriers of the author's: of one thread by itself, and of a group"
run own_barriers.tile "$(grep by_one own_barriers.accept)" | grep fence_async
run tilus_hopper.tile "$(grep Reread tilus_hopper.accept)" | grep fence_async
echo "lanes that read themselves, before one of them says so: no wait for the tensor core does that for them; and a fence before TMA writes there"
run gemm_library.tile 'from tile.gemm import Widened; a = random((128, 192), float16, seed=1) * 0.25; b = random((128, 192), int8, seed=2); s = random((128, 1), float32, seed=3); c = zeros((128, 128), float16); Widened(128, 128, 64, stages=2, weights=int8, warps=8)(128, 128, 192, a, b, s, c)' |
    grep "gemm.tile:$(grep -n 'scales: tilus.void_p' "$TILE_ROOT/stdlib/tile/gemm.tile" | tail -1 | cut -d: -f1):" | sed 's/gemm.tile:[0-9]*/gemm.tile/'
echo "what another kernel leaves unwritten, which is not checked meanwhile, is as it was"
run gathered_stages.tile 'check_rows(0); check_rows(300, num_stages=4)' | grep "wgmma_wait"
