# Where a loop of an unknown number of iterations is unrolled, as it loads some ahead, those that are left over are no loop of their own: in
# one, what was loaded would move from register to register. Each of these two loops goes back once.
cat >$TMP/rows.tile <<'EOF'
import tilus
from tilus import float16, float32, int32

class Rows(tilus.Script):
    def __call__(self, m: int32, n: int32, x_ptr: ~float16, y_ptr: ~float32):
        self.attrs.blocks = (m,)
        self.attrs.warps = 8
        row = self.blockIdx.x
        g_x = self.global_view(x_ptr, dtype=float16, shape=[m, n])
        g_y = self.global_view(y_ptr, dtype=float32, shape=[m, 1])
        top = self.register_tensor(dtype=float32, shape=[1, 1024], init=float("-inf"))
        for at in range(0, n, 1024):
            top = self.maximum(top, self.load_global(g_x, offsets=[row, at], shape=[1, 1024]).to(float32))
        most = self.max(top, dim=1, keepdim=True)
        total = self.register_tensor(dtype=float32, shape=[1, 1024], init=0.0)
        for at in range(0, n, 1024):
            total = total + self.exp(self.load_global(g_x, offsets=[row, at], shape=[1, 1024]).to(float32) - most)
        self.store_global(g_y, self.sum(total, dim=1, keepdim=True), offsets=[row, 0])
EOF
$TILEC $TMP/rows.tile --arch=sm_90a --ptxas=none --emit=ptx --export 'k = Rows()' 2>/dev/null | awk '
    /^\.visible/ { name = $3 ~ /_aligned/ ? "aligned" : "any arguments"; delete seen }
    /^\$L/ { sub(":", "", $1); seen[$1] = 1 }
    /bra/ { sub(";", "", $NF); if ($NF in seen) back[name]++ }
    END { print "aligned: " back["aligned"] + 0 ", any arguments: " back["any arguments"] + 0 }'
