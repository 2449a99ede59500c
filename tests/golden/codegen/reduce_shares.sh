# Sums of columns by several warps: where a thread would fetch many partial results, each thread combines a share of them alone.
cd $TMP
export TILEC_CACHE=off
cat > columns.tile <<'END'
import tilus
from tilus import float16, float32


class Columns(tilus.Script):
    def __call__(self, warps: int, columns: int, a_ptr: ~float16, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = warps
        a = self.global_view(a_ptr, dtype=float16, shape=[64, columns])
        b = self.global_view(b_ptr, dtype=float32, shape=[columns])
        tile = self.cast(self.load_global(a, offsets=[0, 0], shape=[64, columns]), float32)
        self.store_global(b, self.sum(tile, dim=0), offsets=[0])


columns = Columns()
END
for warps in 2 8; do
    for columns in 32 256; do
        $TILEC columns.tile -Wno-W0706 --arch=sm_90a -S -o columns.ptx --export "columns = columns.compile(warps=$warps, columns=$columns)"
        echo "$columns columns, $warps warps: $(grep -c 'ld.shared' columns.ptx) loads, $(grep -c 'bar.sync' columns.ptx) barriers, both variants"
    done
done
