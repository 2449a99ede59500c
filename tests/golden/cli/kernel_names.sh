# A kernel whose own name ends as those of tables do, in an object.
cat > $TMP/names.tile <<'X'
import tilelang.language as T


@T.prim_func
def twice_kernel(X: T.Tensor((4,), "float32"), Y: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(4):
            Y[i] = X[i] * 2
X
cd $TMP
$TILEC names.tile --arch=emulator -o names.o && $TILEC info names.o | grep twice
$TILEC run names.o 'from tile.host import array, zeros, float32
y = zeros((4,), float32)
twice_kernel(array([1, 2, 3, 4], dtype=float32), y)
print(y.tolist())'
