# try.sh TREE: what edits.sh added to the tree, which is built, works. Says what does not, and ends with status 1 then.
set -u
tree=$1 tilec=$1/build/tilec failed=0
export TILEC_CACHE=off TILE_DEVICE=emulator TILEC=$tilec
cd "$tree"
try() { # WHAT EXPECTED COMMAND...
    local said
    said=$("${@:3}" 2>&1)
    [[ $said == *"$2"* ]] || { echo "$1: expected $2, not: $said"; failed=1; }
}
fine() { # WHAT COMMAND...: it ends with status 0
    local said
    said=$("${@:2}" 2>&1) || { echo "$1: $said"; failed=1; }
}
silent() { # WHAT COMMAND...: and says nothing
    local said
    said=$("${@:2}" 2>&1) && [ -z "$said" ] || { echo "$1: $said"; failed=1; }
}
cat >tilus.py <<'END'
import tilus
from tilus import float32, int32


class Difference(tilus.Script):
    def __call__(self, n: int32, a: ~int32, b: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        ga = self.global_view(a, dtype=int32, shape=[n])
        x = self.load_global(ga, offsets=[0], shape=[32])
        y = self.load_global(self.global_view(b, dtype=int32, shape=[n]), offsets=[0], shape=[32])
        self.store_global(ga, self.tile_abs_diff(x, y), offsets=[0])


class Product(tilus.Script):
    def __call__(self, p: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        x = self.register_tensor(dtype=tilus.float16, shape=[16, 16], init=1.0)
        g = self.global_view(p, dtype=float32, shape=[16, 16])
        self.store_global(g, self.dot(x, x, acc_dtype=float32), offsets=[0, 0])


difference = Difference()
product = Product()
END
cat >tilelang.py <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def difference(A: T.Tensor[[32], T.float32], B: T.Tensor[[32], T.float32]):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(32):
            A[i] = T.tile_abs_diff(A[i], B[i])
END
cat >warp.py <<'END'
import warp as wp
from tile.host import arange, full


@wp.kernel
def difference(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    x = wp.tile_load(a, shape=32)
    y = wp.tile_load(b, shape=32)
    wp.tile_store(a, wp.tile_abs_diff(x, y))


a, b = arange(32, wp.float32), full(32, 20, wp.float32)
wp.launch_tiled(difference, dim=1, inputs=[a, b], block_dim=32)
print(a[0], a[31])
END
run="a, b = arange(32, DTYPE), full(32, 20, DTYPE)"
try "the op in Tilus" "20 11" "$tilec" run tilus.py "${run//DTYPE/int32}; difference(32, a, b); print(a[0], a[31])"
try "the op in TileLang" "20.0 11.0" "$tilec" run tilelang.py "${run//DTYPE/float32}; difference(a, b); print(a[0], a[31])"
try "the op in Warp" "20.0 11.0" "$tilec" run warp.py
try "the op in PTX" "abs" "$tilec" tilelang.py --arch=sm_80 --emit=ptx --export 'd = difference.compile()'
export INTERPRET=$tree/build/reference/interpret
fine "the op in the reference interpreter" bash tests/reference/check "$tree/tilus.py | Difference() | | n=32 a=32 b=32:7"
try "the pass" "products in this launch: 1" "$tilec" tilus.py -Rperf --arch=sm_80 --emit=ptx -o /dev/null --export 'p = product'
passes=tests/golden/passes
"$tilec" opt --run=count_dots $passes/count_dots.ir >counted.ir
silent "the pass's own test" diff $passes/count_dots.expected counted.ir
silent "every pass has a test" bash -c 'cd tests/golden/passes && bash every_pass.sh'
try "the diagnostic" "booleans have no difference" "$tilec" explain E0499
sed -n '/^== E0499/,$p' compiler/base/explain.txt | sed -n '/^Wrong:/,/^Right:/s/^    //p' >wrong.py
try "its wrong example" "[E0499]" "$tilec" check wrong.py
try "the target" ".target sm_87" "$tilec" tilelang.py --arch=sm_87 --emit=ptx --export 'd = difference.compile()'
try "the option" "$("$tilec" opt --list | wc -l) passes" "$tilec" opt --count
exit $failed
