# Returns: of values by kernels, which give none; of methods of a Script, which end the kernel, where that can't be had.
cd $TMP
try() {
    echo "== $1"
    { cat head; sed "s/^/    /"; echo "k = K()"; } > k.py
    $TILEC k.py --arch=sm_80 --ptxas=none -o k.o 2>&1 | grep -vE '^ +[0-9]* \|'
}
cat > head <<'EOF'
import tilus
from tilus import float16, float32, int32

class K(tilus.Script):
    def leave(self):
        if self.blockIdx.x > 1:
            return
        return 2

EOF
try 'a value, given by __call__' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    x = self.load_global(g, offsets=[0], shape=[64])
    return x
    self.store_global(g, x + 1, offsets=[0])
EOF
try 'a value, given where a run-time condition holds' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    if n > 1:
        return g
    self.store_global(g, self.load_global(g, offsets=[0], shape=[64]) + 1, offsets=[0])
EOF
try 'nothing, given in words' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    return None
EOF
try 'a call that may end the kernel, in an expression' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    x = self.leave() + 1
EOF
try 'as an argument' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    self.printf("%d", self.leave())
EOF
try 'as a condition' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    if self.leave() == 2:
        self.sync()
EOF
try 'as the context of a with' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    with self.leave():
        self.sync()
EOF
try 'on one side of an operator' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    n > 1 and self.leave()
EOF
try 'in a lambda' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    x = (lambda: self.leave())()
EOF
try 'for each element of a tile' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    x = self.register_tensor(dtype=int32, shape=[32], init=lambda i: self.leave())
EOF
try 'by some of the threads' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    with self.single_warp(1):
        self.leave()
EOF
try 'a view of another type' <<'EOF'
def __call__(self, out: ~int32, n: int32):
    self.attrs.blocks = 4
    self.attrs.warps = 4
    g = self.global_view(out, dtype=int32, shape=[64])
    h = self.global_view(out, dtype=float16, shape=[128])
EOF
echo '== of a Warp kernel'
cat > w.py <<'EOF'
import warp as wp

@wp.kernel(enable_backward=True)
def w(a: wp.array(dtype=float)):
    i = wp.tid()
    if a[i] > 0.0:
        return a[i]
    a[i] = 1.0

w.compile(block_dim=64)
EOF
$TILEC w.py --arch=sm_80 --ptxas=none -o w.o
echo '== gradients'
cat > g.py <<'EOF'
import warp as wp

wp.array([1.0], dtype=float, requires_grad=True)
wp.zeros(3, requires_grad=True)
wp.empty(3, dtype=float, requires_grad=True)
wp.full(3, 1.0, requires_grad=True)
wp.ones(3, requires_grad=True)
wp.ones(3, requires_grad=False)
a = wp.full_like(wp.zeros_like(wp.ones(3), requires_grad=True), 2.0, requires_grad=True)
wp.empty_like(wp.ones_like(a, requires_grad=True), requires_grad=True)
wp.from_numpy(a.numpy(), requires_grad=True)
print(wp.clone(a, requires_grad=True), wp.clone(a))
EOF
$TILEC run g.py
