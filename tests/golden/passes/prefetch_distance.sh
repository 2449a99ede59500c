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
# Copies take memory's time as loads do.
cat > rows.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(a: T.Tensor[[16384, 8192], T.float16], x: T.Tensor[[8192], T.float16]):
    o = T.empty((16384,), T.float32)
    with T.Kernel(128, threads=256) as i:
        total = T.alloc_reducer(128, T.float32, replication="all")
        T.clear(total)
        for k in T.Pipelined(64, num_stages=2):
            a_shared = T.alloc_shared((128, 128), T.float16)
            T.copy(a[i * 128, k * 128], a_shared)
            a_part = T.alloc_fragment((128, 128), T.float16)
            T.copy(a_shared, a_part)
            x_part = T.alloc_fragment(128, T.float16)
            T.copy(x[k * 128], x_part)
            for m, n in T.Parallel(128, 128):
                total[m] += a_part[m, n] * x_part[n]
        T.finalize_reducer(total)
        T.copy(total, o[i * 128])
    return o
END
$TILEC rows.tile --arch=sm_90a --ptxas=none -Rperf -o rows.o 2>&1 | sed -n "s/.*loads are made \([0-9]*\) iterations ahead.*/copies beside: \1/p" | sort -u
# So many iterations at a time as no number counts are much code.
sed 's/work: int,/work: int32,/; s/float32$/float32, int32/; s/unroll="all"/unroll=2 ** 61/' sums.tile > counted.tile
$TILEC counted.tile --arch=sm_90a --ptxas=none -Rperf -o sums.o --export "sums = sums" 2>&1 | sed -n "s/.*loads are made \([0-9]*\) iterations ahead.*/counted: \1/p" | sort -u
