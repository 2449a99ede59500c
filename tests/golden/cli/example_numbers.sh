# The bench calls kernels of examples with the numbers that they were compiled for, where the package that the example was written for is not installed.
needs python3
cat >"$TMP/flip.py" <<'EOF'
import tilelang
import tilelang.language as T


@tilelang.jit
def flip(A, B, dtype, scale=0.5, threads=32, upwards=True):
    N, M = T.const("N, M")
    A: T.Tensor[[N, M], dtype]
    B: T.Tensor[[M, N], dtype]
    with T.Kernel(1, threads=threads):
        for i, j in T.Parallel(N, M):
            B[j, i] = A[i, j] + scale if upwards else A[i, j]
EOF
"$TILEC" "$TMP/flip.py" --arch=emulator -o "$TMP/flip.o" -H "$TMP/flip.h" --export 'k = flip.compile(N=64, M=2, dtype=T.float32, threads=64)'
cd "$TILE_ROOT/tests/bench"
python3 -c "
import sys
from example_systems import c_values
class Tensor:
    def data_ptr(self): return 0
    def dim(self): return 0
    dtype, device, shape, stride = 'torch.float32', type('', (), {'index': 0}), (), lambda self: ()
values, _ = c_values('$TMP/flip.h', {'args': []}, [Tensor(), Tensor()])
print(*[getattr(value, 'value', 'tensor') for value in values])"
