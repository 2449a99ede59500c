# Loops that load ahead reckon with several blocks on a multiprocessor, which cover for each other: ptxas is asked for so many, and takes no more
# registers than leave room for them, where nothing spills for it.
needs ptxas
cat >$TMP/rows.tile <<'EOF'
import tilus
from tilus import float16, float32, int32
from tilus.utils import cdiv

class Rows(tilus.Script):
    def __init__(self, block_n: int, warps: int):
        super().__init__()
        self.block_n, self.warps = block_n, warps

    def __call__(self, m: int32, n: int32, x_ptr: ~float16, y_ptr: ~float16):
        self.attrs.blocks = (m,)
        self.attrs.warps = self.warps
        row = self.blockIdx.x
        g_x = self.global_view(x_ptr, dtype=float16, shape=[m, n])
        g_y = self.global_view(y_ptr, dtype=float16, shape=[m, n])
        top = self.register_tensor(dtype=float32, shape=[1, self.block_n], init=float("-inf"))
        for at in range(0, n, self.block_n):
            top = self.maximum(top, self.load_global(g_x, offsets=[row, at], shape=[1, self.block_n]).to(float32))
        most = self.max(top, dim=1, keepdim=True)
        total = self.register_tensor(dtype=float32, shape=[1, self.block_n], init=0.0)
        for at in range(0, n, self.block_n):
            total = total + self.exp(self.load_global(g_x, offsets=[row, at], shape=[1, self.block_n]).to(float32) - most)
        all = self.sum(total, dim=1, keepdim=True)
        for at in range(0, n, self.block_n):
            x = self.load_global(g_x, offsets=[row, at], shape=[1, self.block_n]).to(float32)
            self.store_global(g_y, (self.exp(x - most) / all).to(float16), offsets=[row, at])
EOF
$TILEC $TMP/rows.tile --arch=sm_90a --export 'k = Rows(block_n=1024, warps=8)' -Rperf -o $TMP/rows.o 2>&1 |
    sed -n 's/.* \([0-9]*\) registers a thread.*sm_90a, aligned.*/\1/p' |
    awk '{ print (65536 / 256 / $1 >= 2 ? "two blocks or more" : "one block by " $1 " registers") }'
