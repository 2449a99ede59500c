# What a file exports: every kernel that its statements compile, under the name that the result is assigned to, else under the
# kernel's own.
cd $TMP
try() {
    echo "== $1"
    cat - > k.tile <<'END'
import tilelang.language as T
from tilelang import lazy_jit


@lazy_jit
def scale(A: T.Tensor[[T.dyn], T.float32], N: int):
    with T.Kernel(1):
        A[0] = N


@lazy_jit
def shift(A: T.Tensor[[T.dyn], T.float32], N: int):
    with T.Kernel(1):
        A[0] = A[0] + N


END
    cat >> k.tile
    $TILEC k.tile --arch=emulator --emit=manifest -Rperf -o k.json 2>&1 | grep -v '^ *[0-9]* |\|R0502'
    [ ! -e k.json ] || grep -o '{"name": "[a-z]*", "parameters"\|"keys": {[^}]*}' k.json | sed 's/, "parameters"//'
    rm -f k.json
}
try 'in a loop' <<'EOF2'
for n in (64, 128):
    scale.compile(N=n)
EOF2
try 'of several kernels' <<'EOF2'
n = 1
while n < 8:
    for kernel in (scale, shift):
        if n != 2:
            kernel.compile(N=n)
    n *= 2
EOF2
try 'assigned in a loop' <<'EOF2'
for n in (64, 128):
    scaled = scale.compile(N=n)
EOF2
try 'the branch that is taken' <<'EOF2'
if len("abc") == 3:
    scale.compile(N=3)
else:
    scale.compile(N=4)
shifted = shift.compile(N=3) if len("abc") == 4 else shift.compile(N=4)
EOF2
try 'comprehensions and lists' <<'EOF2'
[scale.compile(N=n) for n in (64, 128)]
listed = [scale.compile(N=1), scale.compile(N=2)]
named = {n: shift.compile(N=n) for n in (64, 128)}
EOF2
try 'functions that are called' <<'EOF2'
def build(sizes):
    for n in sizes:
        scale.compile(N=n)


def make(n):
    return shift.compile(N=n)


build((64, 128))
made = make(3)
EOF2
try 'a kernel that is made in a branch' <<'EOF2'
if len("abc") == 3:
    @lazy_jit
    def clear(A: T.Tensor[[8], T.float32]):
        with T.Kernel(1):
            A[0] = 0
EOF2
try 'beside what needs a host module' <<'EOF2'
import host
import re


for n in (64, 128):
    x = host.zeros(n)
    c = scale.compile(N=n)
    c(x)
    scale.compile(x, n)
re.compile("x")
if host.ready():
    shift.compile(N=n)
if __name__ == "__main__":
    shift.compile(N=1)
EOF2
try 'nothing: the reasons' <<'EOF2'
import host

if host.ready():
    shift.compile(N=n)
if __name__ == "__main__":
    scale.compile(N=1)
EOF2
try 'no name' <<'EOF2'
import tilus
from tilus import f32, int32


class Fill(tilus.Script):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def __call__(self, n: int32, p: ~f32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(p, dtype=f32, shape=[n])
        self.store_global(g, self.register_tensor(dtype=f32, shape=[self.width], init=1.0), offsets=[0])


for width in (32, 64):
    Fill(width).compile()
EOF2
try 'a Script in a loop' <<'EOF2'
import tilus
from tilus import int32


class Fill(tilus.Script):
    def __call__(self, width: int, p: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(p, dtype=int32, shape=[width])
        self.store_global(g, self.register_tensor(dtype=int32, shape=[width], init=1), offsets=[0])


fill = Fill()
for width in (32, 64):
    fill.compile(width=width)
for width in range(96, 129, 32):
    fill.compile(width=width)
EOF2
try 'a kernel of Warp in a loop' <<'EOF2'
import warp as wp


@wp.kernel
def double(x: wp.array(dtype=wp.float32)):
    x[wp.tid()] *= 2.0


for width in (32, 64):
    doubled = double.compile(block_dim=width)
EOF2
try 'one name for two' <<'EOF2'
for kernel in (scale, shift):
    both = kernel.compile(N=1)
EOF2
try 'faults in a loop' <<'EOF2'
for n in (1, "a"):
    scale.compile(N=n)
EOF2
