# Several kernels are compiled by several processes: the same bytes, the same messages.
cd $TMP
export TILEC_CACHE=off
cat > many.tile <<'END'
import tilus
from tilus import float32, int32


@tilus.autotune("block", [32, 64, 1 << 18, 128])
class Fill(tilus.Script):
    def __init__(self, block, value=1):
        super().__init__()
        self.block = block
        self.value = value

    def __call__(self, n: int32, a_ptr: ~float32):
        self.attrs.blocks = n
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        shared = self.shared_tensor(dtype=float32, shape=[self.block])
        self.store_shared(shared, self.register_tensor(dtype=float32, shape=[self.block], init=self.value))
        self.sync()
        self.store_global(a, self.load_shared(shared), offsets=[self.blockIdx.x * self.block])


one = Fill(value=1)
two = Fill(value=2)
three = Fill(64, value=3)
END
build() { $TILEC many.tile --ptxas=none --arch=sm_90a,sm_80 -o $1.o -H k.h "${@:2}" 2> $1.said; echo "status $?"; }
build alone -j1
build several -j3
cmp alone.o several.o && cmp alone.said several.said && echo same
grep remark: several.said
$TILEC info several.o | grep configuration
echo '== a tool that fails'
printf '#!/bin/sh\ngrep -q three "$4" && { echo "ptxas fatal : not that one"; exit 1; }\nfor last in "$@"; do [ "$before" = -o ] && echo cubin > "$last"; before=$last; done\n' > ptxas
chmod +x ptxas
for jobs in 1 3; do
    $TILEC many.tile --ptxas=./ptxas --arch=sm_90a -o failed.o -j$jobs 2>&1 | grep error:
    ls failed.o 2>/dev/null
done
echo '== none left'
sed 's/\[32, 64, 1 << 18, 128\]/[1 << 18, 1 << 19]/' many.tile > none.tile
for jobs in 1 3; do $TILEC none.tile --ptxas=none --arch=sm_90a -o none.o -j$jobs 2>&1 | grep -E 'error:|remark:' | sort | uniq -c; done
true
echo '== asked for by a program'
cat > par.py <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def negated(A: T.Tensor[[T.dyn["n"]], T.float32], block: int = 32):
    n, = A.shape
    B = T.empty((n,), T.float32)
    with T.Kernel(T.ceildiv(n, block), threads=32) as bx:
        for i in T.Parallel(block):
            B[bx * block + i] = -A[bx * block + i]
    return B
END
$TILEC run --device emulator par.py 'A = arange(100, float32); k = negated.par_compile([dict(A=A, block=16), dict(A=A, block=-1), dict(A=A, block=64)], ignore_error=True); print(k[1], allclose(k[0](A), -A, 0, 0), allclose(k[2](A), -A, 0, 0))' 2>&1
true
