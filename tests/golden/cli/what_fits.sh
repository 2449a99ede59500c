# Where a thread is asked to hold more than it has registers, a remark says how much that is and what would fit; else nothing.
cd $TMP
cat > ptxas <<'END'
#!/bin/bash
. $TILE_ROOT/tests/tools/fake_ptxas.bash
answer 255 400 400
END
chmod +x ptxas
report() { # NAME
    $TILEC $1 --arch=sm_90a --no-cache --ptxas=./ptxas -Rperf -o f.o 2>&1 | grep -oE "a thread's values fill .*|[0-9]+ warps and .* bytes of spills" | sort -u
}
# Two tiles that a loop carries: of so many numbers, by warps that the text asks for.
script() { # NUMBERS WARPS
    cat > f.tile <<END
import tilus
from tilus import float32, int32

class Sums(tilus.Script):
    def __call__(self, n: int32, source: ~float32, target: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = $2
        a = self.global_view(source, dtype=float32, shape=[n, $1])
        x = self.register_tensor(dtype=float32, shape=[$1], init=0.0)
        y = self.register_tensor(dtype=float32, shape=[$1], init=0.0)
        for k in range(n):
            one = self.load_global(a, offsets=[k, 0], shape=[$1], dims=[1])
            x = x + one
            y = y * x + one
        b = self.global_view(target, dtype=float32, shape=[$1])
        self.store_global(b, x * y, offsets=[0])

sums = Sums()
END
    echo "== $1 numbers, $2 warps"
    report f.tile
}
script 1024 1
script 4096 1
script 16384 4
script 65536 16
# By as many threads as there are: more would have too few registers.
cat > f.py <<END
import tilelang
import tilelang.language as T

@tilelang.jit
def f(A: T.Tensor[[T.dyn["n"], 131072], T.float32], B: T.Tensor[[131072], T.float32]):
    (n, _) = A.shape
    with T.Kernel(1, threads=128):
        x = T.alloc_fragment((131072,), T.float32)
        y = T.alloc_fragment((131072,), T.float32)
        T.clear(x)
        T.clear(y)
        for k in T.serial(n):
            for i in T.Parallel(131072):
                x[i] += A[k, i]
                y[i] = T.max(y[i] * x[i], A[k, i])
        for i in T.Parallel(131072):
            B[i] = x[i] * y[i]
END
echo "== 131072 numbers"
report f.py
