# A Script with mbarriers, copies by TMA and products in flight, one of its lines left out or another number in it: the
# emulator finds fault with each, and none with the whole.
cd $TMP
cat > whole.tile <<'T'
import tilus
from tilus import float16, float32, int32, uint32


class Product(tilus.Script):
    def __call__(self, steps: int32, a_ptr: ~float16, b_ptr: ~float16, c_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 5
        ga = self.global_view(a_ptr, dtype=float16, shape=[64, 256])
        gb = self.global_view(b_ptr, dtype=float16, shape=[64, 256])
        gc = self.global_view(c_ptr, dtype=float32, shape=[64, 64])
        sa = self.shared_tensor(dtype=float16, shape=[2, 64, 32])
        sb = self.shared_tensor(dtype=float16, shape=[2, 64, 32])
        full = self.mbarrier.alloc([1, 1])
        empty = self.mbarrier.alloc([128, 128])
        with self.thread_group(128, 32):
            phase: uint32 = 1
            for k in range(steps):
                self.mbarrier.wait(empty[k % 2], phase)
                with self.single_thread():
                    self.mbarrier.arrive_and_expect_tx(full[k % 2], 8192)
                self.tma.global_to_shared(src=ga, dst=sa[k % 2], offsets=[0, k * 32], mbarrier=full[k % 2])
                self.tma.global_to_shared(src=gb, dst=sb[k % 2], offsets=[0, k * 32], mbarrier=full[k % 2])
                phase = phase ^ uint32(k % 2)
        with self.thread_group(0, 128):
            acc = self.register_tensor(dtype=float32, shape=[64, 64], init=0.0)
            for k in range(steps):
                self.mbarrier.wait(full[k % 2], k // 2)
                self.wgmma.fence()
                self.wgmma.mma(sa[k % 2], sb[k % 2].transpose(), acc)
                self.wgmma.commit_group()
                self.wgmma.wait_group(1)
                if k > 0:
                    self.mbarrier.arrive(empty[(k + 1) % 2])
            self.wgmma.wait_group(0)
            self.store_global(gc, acc, offsets=[0, 0])
T
run() {
    echo "$1"
    $TILEC run --arch=emulator:sm_90a mutant.tile 'a = random((64, 256), float16, seed=1); b = random((64, 256), float16, seed=2); c = zeros((64, 64), float32); Product()(8, a, b, c); assert allclose(c, matmul(a, b.T), 1e-2, 1e-2); print("right")' 2>&1 |
        sed -n 's/^\(right\)$/  \1/p; s/^mutant.tile:\([0-9]*\):[0-9]*: \(race\|unwritten memory\|unfinished copy\|unfinished read\|unfenced write\|unfenced read\|deadlock\)\(.*\)/  line \1: \2\3/p; s/.*\(assertion failed\).*/  \1/p; s/^mutant.tile:\([0-9]*\):[0-9]*: \(error.*\)/  line \1: \2/p' | sed 's/: \(race\|un[a-z ]*\): .*/: \1/; s/thread [0-9]* waits/a thread waits/' | sort -u
}
cp whole.tile mutant.tile; run "the whole"
without() { grep -v -F "$1" whole.tile > mutant.tile; run "without $1)"; }
changed() { sed "s/$2/$3/" whole.tile > mutant.tile; run "$1"; }
without 'self.mbarrier.wait(empty'
without 'self.mbarrier.wait(full'
without 'self.tma.global_to_shared(src=gb'
without 'self.wgmma.wait_group(1'
changed "no arrivals" 'self.mbarrier.arrive(empty.*' pass
changed "nothing is expected" 'self.mbarrier.arrive_and_expect_tx.*' 'self.mbarrier.arrive(full[k % 2])'
changed "too few bytes" 8192 4096
changed "too many bytes" 8192 8200
changed "the producer's first phase is the other one" 'uint32 = 1' 'uint32 = 0'
changed "the consumer's phases are the others" 'k \/\/ 2)' 'k \/\/ 2 + 1)'
changed "more arrivals than threads" '128, 128]' '160, 160]'
changed "two products may be in flight where one of them is done with" 'wait_group(1)' 'wait_group(2)'
