# How far ahead a loop loads: until what the warps of a multiprocessor do meanwhile takes longer than a load, or as far as it may where it does little.
cd $TMP
export TILEC_CACHE=off
cat > sums.tile <<'END'
import tilus
from tilus import float32


class Sums(tilus.Script):
    def __call__(self, work: int, a_ptr: ~float32, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        a = self.global_view(a_ptr, dtype=float32, shape=[64 * 128])
        b = self.global_view(b_ptr, dtype=float32, shape=[128])
        total = self.register_tensor(dtype=float32, shape=[128], init=0.0)
        for k in range(64):
            x = self.load_global(a, offsets=[k * 128], shape=[128])
            for i in self.range(work, unroll="all"):
                x = x * x + total
            total = total + x
        self.store_global(b, total, offsets=[0])


sums = Sums()
END
for work in 1 8 16 24 32 64; do
    $TILEC sums.tile --arch=sm_90a --ptxas=none -Rperf -o sums.o --export "sums = sums.compile(work=$work)" 2>&1 | sed -n "s/.*loads are made \([0-9]*\) iterations ahead.*/$work: \1/p" | sort -u
done
