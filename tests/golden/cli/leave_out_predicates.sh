# What is read or written where a condition does not hold: memory is compared, though no statement looks at it, and what is read may be any bits.
cat >"$TMP/ends.tile" <<'END'
import tilelang
import tilelang.language as T
import tilus
from tilus import float32


# The array is longer than the view: no access is out of bounds.
class Short(tilus.Script):
    def __call__(self, a_ptr: ~float32, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[20])
        b = self.global_view(b_ptr, dtype=float32, shape=[20])
        x = self.load_global(a, offsets=[0], shape=[32])
        self.store_global(b, x, offsets=[0])


# Zeros times what lies behind a row: only a NaN there would show. Behind a column there is what goes into no result.
class Rows(tilus.Script):
    def __call__(self, a_ptr: ~float32, b_ptr: ~float32, c_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[1, 20])
        b = self.global_view(b_ptr, dtype=float32, shape=[20])
        c = self.global_view(c_ptr, dtype=float32, shape=[1])
        x = self.load_global(a, offsets=[0, 0], shape=[1, 32])
        y = self.load_global(b, offsets=[0], shape=[32])
        self.store_global(c, self.sum(self.squeeze(x, dim=0) * y, dim=0), offsets=[0])


# A size that the tile fits in; its like in an extent.
class Sized(tilus.Script):
    def __call__(self, n: tilus.int32, a_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        self.store_global(a, self.register_tensor(dtype=float32, shape=[32], init=2.0), offsets=[0])


@tilelang.jit
def doubled(A):
    N = T.dynamic("N")
    A: T.Tensor((N,), T.float32)
    B = T.empty((N,), T.float32)
    with T.Kernel(1, threads=32):
        for i in T.Parallel(32):
            B[i] = A[i] * 2.0
    return B


short = Short()
sized = Sized()
rows = Rows()
END
run() {
    TILE_DEVICE=emulator "$TILEC" run --general --leave-each-out=predicates $2 "$TMP/ends.tile" "$1" 2>&1 | sed "s|$TMP/||g" |
        sed -nE 's/^([a-z_.]*:[0-9]*):[0-9]*: .*, a ([a-z_ ]*), of .* \([0-9a-f]+ ([0-9]+)\): (.*) \[R.*/\1: \2 \3: \4/p'
}
run 'a = zeros((64,), float32); b = zeros((64,), float32); short(a, b)'
echo "rows"
run 'a = zeros((64,), float32); b = zeros((64,), float32); c = zeros((64,), float32); rows(a, b, c)'
for most in "" --at-most=20 --at-most=32; do
    echo "sizes $most"
    run 'a = zeros((32,), float32); sized(32, a); assert a[31] == 2; b = doubled(a); assert b[31] == 4; assert b.shape == (32,)' $most
done
"$TILEC" run --at-most=none "$TMP/ends.tile" 'pass'
