# Names of the originals that there is nothing for are errors where they are used; element types that only arrays have; options of passes.
needs numpy
cd "$TMP"
cat >names.py <<'END'
import tilelang.language as T
import tvm
from tilelang.cuda.op.gemm import GemmMMA
from tilelang.language.dtypes import _all_dtypes, resolve_torch_storage_dtype
from tilelang.language.eager.ast import BaseBuilder
from tilelang.rocm.target import check_hip_availability
from warp.sparse import bsr_zeros

print(GemmMMA, check_hip_availability(), isinstance(3, tvm.tirx.Var))
for use in (lambda: GemmMMA(1), lambda: tvm.tirx.IterVar("x", "int32"), lambda: bsr_zeros(1)):
    try:
        use()
    except ImportError as error:
        print(error)


class Builder(BaseBuilder):
    pass


print(Builder.__mro__)
for kind in (T.float8_e8m0fnu, T.float, T.half, T.int8x4, T.float4_e2m1fn, T.bool, T.tfloat32):
    print(kind, kind.bits, kind.lanes, kind.itemsize, isinstance(kind, tvm.DataType))
print(all(isinstance(getattr(T, name), tvm.DataType) for name in _all_dtypes), tvm.DataType("int").bits, T.float32 == T.float)
from tilelang import tvm as other


@other.testing.requires_package("numpy")
def marked():
    return 3


tvm.testing.assert_allclose([float(marked())], [3.0])
with tvm.transform.PassContext(config={"tl.disable_tma": True}), tvm.target.Target({"kind": "cuda", "arch": "sm_90a"}) as target:
    print(target, target.arch)
END
python3 -m tilec run names.py
# ---- Warp's stacks as annotations, functions in CUDA C++ in a file whose other kernels run
cat >stack.py <<'END'
import numpy
import warp as wp


@wp.func
def filled(s: wp.tile_stack(capacity=8, dtype=int), i: int):
    wp.tile_stack_push(s, i, i % 2 == 0)


@wp.func_native("return *x;")
def native(x: float) -> float: ...


@wp.kernel
def pushed(n: wp.array(dtype=int)):
    i = wp.tid()
    s = wp.tile_stack(capacity=8, dtype=int)
    wp.tile_stack_push(s, i, i < 3)
    n[0] = wp.tile_stack_count(s)


@wp.kernel
def uses_native(a: wp.array(dtype=float)):
    a[0] = native(a[1])


n = wp.zeros(1, dtype=int)
wp.launch_tiled(pushed, dim=[1], inputs=[n], block_dim=32)
print(n.numpy())
try:
    wp.launch(uses_native, dim=1, inputs=[wp.zeros(2, dtype=float)])
except Exception as error:
    print("line 1 of the snippet" in str(error))
END
python3 -m tilec run stack.py
# ---- several results are a list, of kernels that are launched as they are, too
cat >lists.py <<'END'
import numpy
import tilelang
import tilelang.language as T


@tilelang.jit
def both(A):
    A: T.Tensor[[4], T.float32]
    B = T.empty([4], T.float32)
    C = T.empty([5], T.float32)
    with T.Kernel(1, threads=32):
        for i in T.Parallel(4):
            B[i] = A[i] + 1.0
        for i in T.Parallel(5):
            C[i] = 2.0
    return B, C


given = both(numpy.arange(4, dtype=numpy.float32))
print(type(given), [one.tolist() for one in given])
END
python3 -m tilec run lists.py
