# Sums of several rows a thread over lanes: of two lanes each keeps half of the rows, the sums are computed with where they are, and lanes are told what they need by shuffles.
cd $TMP
export TILEC_CACHE=off
cat > rows.tile <<'END'
import tilus
from tilus import float32


class Rows(tilus.Script):
    """Sums of rows; `back`: what the rows are divided by."""

    def __call__(self, rows: int, columns: int, back: bool, a_ptr: ~float32, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        a = self.global_view(a_ptr, dtype=float32, shape=[rows, columns])
        b = self.global_view(b_ptr, dtype=float32, shape=[rows])
        tile = self.load_global(a, offsets=[0, 0], shape=[rows, columns])
        sums = self.sum(tile, dim=1, keepdim=True)
        if back:
            self.store_global(a, tile * (1.0 / sums), offsets=[0, 0])
        else:
            self.store_global(b, self.squeeze(sums, dim=1), offsets=[0])


rows = Rows()
END
for rows in 8 16 32 64; do
    for columns in 32 128; do
        for back in False True; do
            $TILEC rows.tile -Wno-W0706 --arch=sm_90a -S -o rows.ptx --export "rows = rows.compile(rows=$rows, columns=$columns, back=$back)"
            count() { grep -c "$1" rows.ptx; }
            echo "$rows rows of $columns, back: $back: $(count shfl) shuffles, $(count 'rcp\|div') divisions, $(count bar.sync) barriers, $(count st.global) stores, both variants"
        done
    done
done
