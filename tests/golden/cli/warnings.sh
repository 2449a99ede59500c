# Groups of warnings, and each by its name: which are reported, which fail the run. What is said of one counts more than what is said
# of its group, and that more than what is said of all; of two the later one counts.
cd $TMP
cat >k.py <<'EOF'
import tilus
from tilus import float32, int32
from tilus.utils import cdiv
import tilelang.language as T


class K(tilus.Script):
    def __init__(self, scaled: bool):
        super().__init__()
        self.scaled = scaled

    def __call__(self, n: int32, p: ~float32, q: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        cdiv = 4
        a = self.global_view(p, dtype=float32, shape=[n])
        b = self.global_view(q, dtype=float32, shape=[n])
        x = self.load_global(a, offsets=[cdiv], shape=[64])
        scale = self.load_global(a, offsets=[64], shape=[64])
        unused = self.load_global(a, offsets=[128], shape=[64])
        more = unused + 1.0
        if self.scaled:
            x = x * scale
        self.store_global(b, x, offsets=[0])
        return
        self.store_global(b, x, offsets=[64])


scaled, plain = K(True), K(False)


@T.prim_func
def f(A: T.Tensor((64,), "float32"), T: T.Tensor((64,), "float32")):
    with tilelang.Kernel(1) as tilelang:
        pass


def choose(x):
    if x:
        return 1
    else:
        raise ValueError(x)
    return 2


def nothing():
    return
    yield
EOF
try() { echo "== tilec check $*"; "$TILEC" check k.py --export 'a = scaled' --export 'b = plain' "$@"; echo "status $?"; }
try
try -Wall
try -Wextra
try -Wall -Wno-unreachable
try -Wno-unreachable -Wall
try -Wunused-load
try -WW0306 -Werror
try -Wall -Wextra -Werror -Wno-error=all
try -Werror=unused_load -Wno-unused_load
try -Werror -Wno-error -Wall -Wno-error=unreachable -Wno-unused-load
try -Wunused-lod
try -Werror=al
try -Wno-error=name-error
echo "== a load of one kernel is none that nobody uses"
"$TILEC" check k.py --export 'b = plain' -Wunused-load
echo "== tilec run"
TILE_DEVICE=emulator "$TILEC" run -Wall k.py 'a = random([64], f32); plain(64, a, a)'
