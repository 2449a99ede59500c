# Loads made ahead of a loop that ends with the extent which they are checked against need no other check of whether there is such an iteration;
# those of a loop that ends before, or of another extent, have memory of which nothing is there. What stays the same is checked as before.
cat > $TMP/a.tile <<'T'
import tilus
from tilus import float16, float32, int32


class Sum(tilus.Script):
    def __init__(self, less: int):
        super().__init__()
        self.less = less

    def __call__(self, n: int32, x_ptr: ~float16, y_ptr: ~float32):
        self.attrs.blocks = 64
        self.attrs.warps = 4
        x = self.global_view(x_ptr, dtype=float16, shape=[64, n])
        y = self.global_view(y_ptr, dtype=float32, shape=[64, 512])
        sums = self.register_tensor(dtype=float32, shape=[1, 512], init=0.0)
        for i in range(0, n - self.less, 512):
            sums = sums + self.load_global(x, offsets=[self.blockIdx.x, i], shape=[1, 512]).to(float32)
        self.store_global(y, sums, offsets=[self.blockIdx.x, 0])
T
for less in 0 1; do
    echo "$less less:"
    $TILEC $TMP/a.tile --arch=sm_90a --ptxas=none --no-cache --print-after=pipeline -o $TMP/a.o --export "k = Sum($less).compile()" 2>&1 |
        awk '/^kernel/ { first = !seen++ } first && / = (load|select) / { match($0, /= (load|select)/); print substr($0, RSTART + 2, RLENGTH - 2), match($0, /bounds = \[[0-9, ]*\]/) ? substr($0, RSTART, RLENGTH) : "" } / error/'
done
