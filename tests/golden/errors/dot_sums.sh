# Products of floats have no sum in an integer type, and those of booleans none: which the types are, in each dialect's words.
cd $TMP
cat > tilus_dot.tile <<'END'
import tilus
from tilus import *

OPERAND, SUM = "", ""


class Dot(tilus.Script):
    def __call__(self, c_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.register_tensor(dtype=OPERAND, shape=[16, 16], init=1)
        c = self.dot(a, a, acc_dtype=SUM)
        self.store_global(self.global_view(c_ptr, dtype=float32, shape=[16, 16]), self.cast(c, dtype=float32), offsets=[0, 0])


dot = Dot()
END
cat > tilelang_gemm.py <<'END'
import tilelang
import tilelang.language as T

OPERAND, SUM = "", ""


@tilelang.jit
def gemm(c: T.Tensor[[16, 16], T.float32]):
    with T.Kernel(1, threads=32):
        x = T.alloc_shared((16, 16), OPERAND)
        z = T.alloc_fragment((16, 16), SUM)
        T.clear(x)
        T.clear(z)
        T.gemm(x, x, z)
        for i, j in T.Parallel(16, 16):
            c[i, j] = T.cast(z[i, j], T.float32)


gemm.compile()
END
cat > warp_matmul.py <<'END'
import warp as wp

OPERAND, SUM = "", ""


@wp.kernel
def matmul(c: wp.array2d(dtype=float)):
    x = wp.tile_zeros(shape=(16, 16), dtype=OPERAND)
    z = wp.tile_zeros(shape=(16, 16), dtype=SUM)
    wp.tile_matmul(x, x, z)
    wp.tile_store(c, wp.tile_astype(z, dtype=float))


matmul.compile(block_dim=32)
END
said() { $TILEC check $1 -D "OPERAND='$2'" -D "SUM='$3'" 2>&1 | sed -n '1s/^[^ ]* //p'; }
integers="int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
for operand in float16 bfloat16 tfloat32 float32 float64 float8_e4m3 float8_e5m2 float4_e2m1; do
    for sum in $integers; do said tilus_dot.tile $operand $sum; done
done
said tilus_dot.tile boolean int32
said tilus_dot.tile int8 boolean
for operand in float16 float32; do
    for sum in int8 int32 uint32 int64; do said tilelang_gemm.py $operand $sum; done
    for sum in int32 int64; do said warp_matmul.py $operand $sum; done
done
echo == as a whole
$TILEC check tilelang_gemm.py -D "OPERAND='float16'" -D "SUM='int32'"
