# What a loop that loads ahead asks to be unrolled by: all of a short one, by the distance a longer one, and not at all where that were much code.
cd $TMP
export TILEC_CACHE=off
cat > sums.tile <<'END'
import tilus
from tilus import float32


class Sums(tilus.Script):
    def __call__(self, rounds: int, heavy: bool, a_ptr: ~float32, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        a = self.global_view(a_ptr, dtype=float32, shape=[rounds * 512])
        b = self.global_view(b_ptr, dtype=float32, shape=[rounds * 512])
        total = self.register_tensor(dtype=float32, shape=[512], init=0.0)
        for k in range(rounds):
            x = self.load_global(a, offsets=[k * 512], shape=[512])
            if heavy:
                for i in self.range(300, unroll="all"):
                    x = x * x + total
            total = total + x
            self.store_global(b, total, offsets=[k * 512])


sums = Sums()
END
for heavy in False True; do
    for rounds in 4 8 12 64; do
        $TILEC sums.tile --arch=sm_90a --ptxas=none --print-after=pipeline -o sums.o --export "sums = sums.compile(rounds=$rounds, heavy=$heavy)" 2>&1 |
            awk -v of="$rounds rounds, heavy $heavy: " '
                / = for .*tile</ {
                    print of (match($0, /unroll = [0-9]+/) ? substr($0, RSTART, RLENGTH) : "not unrolled")
                }' | sort -u
    done
done
