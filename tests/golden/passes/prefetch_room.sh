# How far ahead a loop loads: as registers allow beside its sums; halves that come one by one take a register each.
cd $TMP
export TILEC_CACHE=off
cat > product.tile <<'END'
import tilus
from tilus import float16, float32, int32


class Product(tilus.Script):
    def __call__(self, rows: int, step: int, lda: int, m: int32, a_ptr: ~float16, b_ptr: ~float16, c_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        a = self.global_view(a_ptr, dtype=float16, shape=[m, lda])
        b = self.global_view(b_ptr, dtype=float16, shape=[lda, 128])
        c = self.global_view(c_ptr, dtype=float32, shape=[m, 128])
        total = self.register_tensor(dtype=float32, shape=[rows, 128], init=0.0)
        for k in range(0, lda, step):
            left = self.load_global(a, offsets=[0, k], shape=[rows, step])
            right = self.load_global(b, offsets=[k, 0], shape=[step, 128])
            self.dot(left, right, total, out=total)
        self.store_global(c, total, offsets=[0, 0])


product = Product()
END
for rows in 16 64 128; do
    for step in 16 32; do
        $TILEC product.tile --arch=sm_89 --ptxas=none --print-after=pipeline -o product.o \
            --export "product = product.compile(rows=$rows, step=$step, lda=4096)" 2>&1 |
            awk -v rows=$rows -v step=$step '
                /^kernel @/ { variant = $2 ~ /aligned/ ? "aligned" : "not aligned" }
                / = for .*tile</ {
                    carried = split($0, parts, " = for ") ? split(parts[1], names, ",") - 1 : 0
                    how = match($0, /stages = [0-9]+|unroll = [0-9]+/) ? substr($0, RSTART, RLENGTH) : ""
                    print rows " rows in steps of " step ", " variant ": " carried " carried " how
                }' | sort -u
    done
done
