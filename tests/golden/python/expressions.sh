# TileLang's functions of variables outside of kernels have types there, and refuse what they refuse in kernels; what a kernel's text
# may not be is refused where it is defined; a kernel's source is its PTX, on the emulator, too.
cd "$TMP"
cat >expressions.py <<'END'
import tilelang
import tilelang.language as T
from tvm import tirx
from tvm.tirx.expr import Not, Or

x, i, v = tirx.Var("x", "bfloat16"), tirx.Var("i", "int32"), tirx.Var("v", "float16x2")
for made in (T.__exp(x), x + 1.5, Or(Not(tirx.all(i < 3, i > 0)), i == 7), T.extract_lane(v, 1), T.any_sync(True), T.cast(1.5, "float8_e4m3fn", round="rz")):
    print(made.dtype, isinstance(made, tirx.Call), isinstance(made, tirx.PrimExpr))


def fails(function):
    try:
        function()
    except Exception as error:
        kinds = [kind.__name__ for kind in (ValueError, TypeError, AssertionError, IndexError, RuntimeError) if isinstance(error, kind)]
        print(kinds, str(error).split("\n")[0].partition("error: ")[2])
    else:
        print("it does not fail")


fails(lambda: T.__exp(i))
fails(lambda: T.all_sync(tirx.FloatImm("float32", 0.5)))
fails(lambda: T.extract_lane(x, 0))
fails(lambda: T.extract_lane(v, i))
fails(lambda: T.extract_lane(v, 2))
fails(lambda: T.add2(v, tirx.Var("w", "bfloat16x2")))
fails(lambda: T.cast(1.0, "float8_e4m3fn", round="up"))
fails(lambda: T.cast(1.0, "float8_e4m3fn", sat=1))
fails(lambda: T.cast(1.0, "float8_e4m3fn", round="rs"))
fails(lambda: T.cast(1.0, "float8_e4m3fn", rbits=T.int32(4)))


def define(body):
    @T.prim_func
    def kernel(A: T.Tensor((64,), T.float32), B: T.Tensor((8, 8), T.int64)):
        with T.Kernel(1, threads=32):
            body(A, B)


@T.macro
def stores(A, B):
    T.atomic_store(A[0], 1.0, memory_order="acquire")


@T.macro
def loads(A, B):
    A[0] = T.atomic_load(A[1], memory_order="release")


@T.macro
def is_large(A, B):
    A[0] = T.alloc_var(T.float32, init=1e300)


@T.macro
def reshapes(A, B):
    T.copy(T.reshape(A, [8, 9]), B)


@T.macro
def reduces(A, B):
    T.alloc_reducer((1,), T.float32, op="bitand")


@T.macro
def updates(A, B):
    r = T.alloc_reducer((1,), T.float32, op="sum")
    for j in T.Parallel(64):
        T.reducer_update(r[0], A[j])


@T.macro
def batches(A, B):
    r = T.alloc_reducer((4,), T.float32, op="sum")
    T.finalize_reducer(r, batch=3)


@T.macro
def adds(A, B):
    s = T.alloc_shared((8, 8), T.int64)
    T.atomic_add(B[0, 0], s, use_tma=True)


for body in (stores, loads, is_large, reshapes, reduces, updates, batches, adds):
    fails(lambda: define(body))


@T.prim_func
def double(A: T.Tensor((64,), T.float32)):
    with T.Kernel(1, threads=32):
        for j in T.Parallel(64):
            A[j] = A[j] * 2.0


source = tilelang.compile(double).get_kernel_source()
print(".target sm_" in source, ".visible .entry" in source)


# a number of a type, and a kernel that has it
weight = T.cast(0.1, "float16")
print(weight.dtype, T.Cast("int32", 3.7).dtype)


@T.prim_func
def weighted(A: T.Tensor((64,), T.float32)):
    with T.Kernel(1, threads=32):
        for j in T.Parallel(64):
            A[j] = A[j] * weight


print("0f3DCCC000" in tilelang.compile(weighted).get_kernel_source())


@T.prim_func
def empty(A: T.Tensor((64,), T.float32)):
    with T.Kernel(1, threads=(32, 0)):
        A[0] = 1.0
END
python3 -m tilec run expressions.py 2>&1 | grep -v '^  File\|^    \|^Traceback'
# ---- what a kernel's text says of itself
cat >attributes.py <<'END'
import tilelang
import tilelang.language as T
from tilelang.transform import PassConfigKey


@T.prim_func
def returns(A):
    A: T.Tensor[[32], T.float32]
    T.annotate_pass_configs({PassConfigKey.TL_ENABLE_FAST_MATH: True})
    B = T.empty([32], T.float32)
    with T.Kernel(1, threads=32):
        for i in T.Parallel(32):
            B[i] = A[i]
    return B


@T.prim_func
def declares(A, B):
    A: T.Tensor[[32], T.float32]
    B: T.Tensor[[32], T.float32]
    T.annotate_compile_flags(["--use_fast_math"])
    with T.Kernel(1, threads=32):
        for i in T.Parallel(32):
            B[i] = A[i]


print(returns.attrs, declares.attrs, tilelang.compile(declares, out_idx=-1).prim_func.attrs["tilelang_out_idx"])
try:
    tilelang.compile(returns, out_idx=[-1])
except ValueError as error:
    print(error)
END
python3 -m tilec run attributes.py
