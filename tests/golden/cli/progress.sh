# How far a compile is shows on a terminal.
needs terminal
cd $TMP
export TILEC_CACHE=off
cat > many.tile <<'END'
import tilus
from tilus import float32, int32


@tilus.autotune("block", [32, 64])
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
END
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
watch() { script -qec "$1" /dev/null | tr '\r' '\n' | grep -q 'compiling: [0-9]* of [0-9]*' && echo "$2 is watched"; }
watch "$TILEC many.tile --ptxas=none --arch=sm_90a -o watched.o -j2" 'a compile'
run="$TILEC run --device emulator par.py 'A = arange(100, float32); k = negated.par_compile([dict(A=A, block=16), dict(A=A, block=64)], ignore_error=True); print(allclose(k[0](A), -A, 0, 0))'"
watch "$run" par_compile
true
