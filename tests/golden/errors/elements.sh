# Reports of accesses to memory name the argument, the element and what the argument is taken for: as its tensor says, or the views of a
# pointer where they are all the same.
cd $TMP
cat >k.py <<'EOF'
import tilus
import tilelang.language as T
import warp as wp
from tilus import float16, float32, int32, int64


class Copy(tilus.Script):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def __call__(self, m: int32, n: int64, p: ~float32, q: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(p, dtype=float32, shape=[m, n])
        b = self.global_view(q, dtype=float32, shape=[m // 2, 2, self.width])
        x = self.load_global(a, offsets=[0, 0], shape=[4, 32])
        self.store_global(b, self.reshape(x, [2, 2, 32]) if hasattr(self, "reshape") else x, offsets=[0, 0, 0])


class Halves(tilus.Script):
    def __call__(self, n: int32, p: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(p, dtype=float16, shape=[n, 4])
        self.store_global(a, self.load_global(a, offsets=[0, 0], shape=[32, 4]) + 1.0, offsets=[0, 0])


class Two(tilus.Script):
    def __call__(self, n: int32, p: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(p, dtype=float32, shape=[n, 4])
        b = self.global_view(p, dtype=float32, shape=[4, n])
        self.store_global(a, self.load_global(a, offsets=[0, 0], shape=[32, 4]), offsets=[0, 0])
        self.store_global(b, self.load_global(b, offsets=[0, 0], shape=[4, 32]), offsets=[0, 0])


n = T.dynamic("n")


@T.prim_func
def rows(A: T.Tensor((3, n), "float32"), B: T.Tensor((3, n), "float32")):
    with T.Kernel(3, threads=32) as bx:
        tx = T.get_thread_binding()
        B[bx, tx] = A[bx, tx]


@wp.kernel
def columns(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float)):
    i, j = wp.tid()
    b[i, j] = a[i, j]
EOF
        self.store_global(a, self.load_global(a, offsets=[0, 0], shape=[32, 4]), offsets=[0, 0])
say() { echo "== $1"; TILE_DEVICE=emulator "$TILEC" run k.py "$1" 2>&1 | grep ^k.py; }
say 'a = random((4, 32), float32); b = zeros((3, 32), float32); Copy(32)(4, 32, a, b)'
say 'a = random((3, 32), float32); b = zeros((4, 32), float32); Copy(32)(4, 32, a, b)'
say 'a = empty((4, 32), float32); b = zeros((4, 32), float32); Copy(32)(4, 32, a, b)'
say 'a = zeros((30,), float32); Halves()(32, a)'
say 'a = zeros((100,), float32); Two()(32, a)'
say 'a = empty((3, 32), float32); b = zeros((3, 32), float32); rows(a, b)'
say 'a = empty((32, 3), float32); b = zeros((3, 32), float32); wp.launch(columns, dim=(3, 32), inputs=[a.transpose(), b])'
