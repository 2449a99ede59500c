# Barriers, and waits for copies, that nobody needs are not there; their counterparts that somebody needs are.
cat > $TMP/a.tile <<'T'
import tilus
from tilus import int32


class Rows(tilus.Script):
    """Rows of a view: others, or the same one."""

    def __init__(self, step: int):
        super().__init__()
        self.step = step

    def __call__(self, n: int32, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 2
        a = self.global_view(a_ptr, dtype=int32, shape=[3, n])
        x = self.load_global(a[2], offsets=[0], shape=[100])
        self.store_global(a[0], x + 1, offsets=[0])
        self.store_global(a[self.step], x, offsets=[1])


class Tiles(tilus.Script):
    """Two tiles in the same bytes, of which each thread meets the same elements, or other ones."""

    def __init__(self, turned: bool):
        super().__init__()
        self.turned = turned

    def __call__(self, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 2
        a = self.global_view(a_ptr, dtype=int32, shape=[1024])
        s = self.shared_tensor(dtype=int32, shape=[1024])
        self.store_shared(s, self.load_global(a, offsets=[0], shape=[1024]))
        x = self.atomic.shared_add(s, self.load_global(a, offsets=[0], shape=[1024]))
        if self.turned:
            x = x + self.sum(x, dim=0)
        self.free_shared(s)
        t = self.shared_tensor(dtype=int32, shape=[1024])
        self.store_shared(t, x)
        self.store_global(a, self.atomic.shared_add(t, x), offsets=[0])
        self.free_shared(t)
T
count() {
    echo "$1: $($TILEC run --device=emulator --arch=emulator:${3:-sm_80} --print-after=register_pressure $TMP/a.tile "$2" 2>&1 | awk '/^kernel/ { name = ($0 ~ /_aligned/) ? "aligned" : "general" } $1 == "barrier" || $1 == "copy_wait" || $1 == "copy_commit" || $1 == "cp_async" || $1 == "fence_async" || $1 == "cluster_arrive" { n[name " " $1]++ } /^error|: error/ { print } END { for (k in n) print k, n[k] }' | sort | tr '\n' ',')"
}
count "other rows" 'a = arange(300, int32); Rows(1)(100, a)'
count "the same row" 'a = arange(300, int32); Rows(0)(100, a)'
count "tiles" 'a = arange(1024, int32); Tiles(False)(a)'
count "and a sum through shared memory" 'a = arange(1024, int32); Tiles(True)(a)'
# The stages of a ring, of which each thread meets the same elements in every iteration.
cp $TILE_ROOT/tests/exec/views.tile $TMP/a.tile
count "a ring in shared memory" "$(grep -v '^#' $TILE_ROOT/tests/exec/views.accept | head -n 1)"
# A loop whose copies are asynchronous where memory is aligned for it.
cp $TILE_ROOT/tests/exec/pipelined.tile $TMP/a.tile
count "a pipelined loop" 'k = Gemm(block_k=16, stages=3); a = zeros((64, 64), float16); b = zeros((64, 64), float16); c = zeros((64, 64), float32); k(64, 64, 64, a, b, c)'
# Mbarriers of a cluster that are made one after the other; those that copies by TMA alone arrive at, and those that
# threads arrive at that wrote what the tensor core reads.
cp $TILE_ROOT/tests/exec/clusters.tile $TMP/a.tile
count "pairs of blocks" 'a = zeros((128, 64), float16); b = zeros((64, 64), float16); c = zeros((128, 64), float32); pairs(128, 64, 64)(a, b, c)' sm_90a
# Tiles that TMA overwrites: a barrier waits until threads have read them by a fence, and needs none where the tensor core alone reads.
cp $TILE_ROOT/tests/exec/dot_slices.tile $TMP/a.tile
count "a product by fma" 'k = Product(64, 64, 8, float32, float32); a = zeros((64, 32), float32); b = zeros((32, 64), float32); c = zeros((64, 64), float32); k(64, 64, 32, a, b, c)' sm_90a
cp $TILE_ROOT/tests/exec/pipelined_gemm.tile $TMP/a.tile
count "a product by wgmma" 'k = Gemm(); a = zeros((128, 128), float16); b = zeros((128, 128), float16); c = zeros((128, 128), float32); k(128, 128, 128, a, b, c)' sm_90a
# One thread that has TMA overwrite what it read, or store what it wrote, passes a fence and no barrier.
cp $TILE_ROOT/tests/exec/generated_faults.tile $TMP/a.tile
count "one thread reads" 'x = zeros((64, 32), float32); ByOneThread(False)(1, x, x)' sm_90a
count "one thread stores" 'x = zeros((64, 32), float32); ByOneThread(True)(1, x, x)' sm_90a
