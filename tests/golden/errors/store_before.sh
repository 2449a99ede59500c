# A box that TMA stores may not begin before the tensor, unlike one that it reads: the GPU calls that an illegal instruction.
cd "$TMP" || exit
cat > store.tile <<'END'
import tilus
from tilus import float32


class Moved(tilus.Script):
    def __init__(self, begin, target):
        self.begin = begin
        self.target = target

    def __call__(self, x_ptr: ~float32, y_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        x = self.global_view(x_ptr, dtype=float32, shape=[8, 32])
        y = self.global_view(y_ptr, dtype=float32, shape=[8, 32])
        s = self.shared_tensor(dtype=float32, shape=[8, 32])
        there = self.mbarrier.alloc(1)
        with self.single_thread():
            self.mbarrier.arrive_and_expect_tx(there, s.nbytes)
            self.tma.global_to_shared(src=x, dst=s, offsets=self.begin, mbarrier=there)
        self.mbarrier.wait(there, 0)
        with self.single_thread():
            self.tma.shared_to_global(s, y, self.target)
            self.tma.commit_group()
            self.tma.wait_group(0)
END
for places in '[-2, -4], [4, 8]' '[0, 0], [-1, 0]' '[0, 0], [0, -32]'; do
    echo "== $places"
    "$TILEC" run --arch=emulator:sm_90a store.tile "x = zeros((8, 32), float32); y = zeros((8, 32), float32); Moved($places)(x, y); print('stored')" 2>&1
done
