# What programs ask for around TileLang's kernels: layouts, counted operations, the GPU, tensors for a search, kernels for the host, None
# for a tensor.
needs torch
cd "$TMP"
cat >around.py <<'END'
import inspect

import tilelang
import tilelang.language as T
import torch
from tilelang.carver.arch import CUDA
from tilelang.contrib import nvcc
from tilelang.layout import Layout
from tilelang.layout.fragment import Fragment
from tilelang.profiler import TensorSupplyType, get_tensor_supply
from tilelang.profiler.bench import do_bench, suppress_stdout_stderr
from tilelang.tools import Analyzer
from tilelang.utils.target import determine_target, target_is_ampere, target_is_hopper
from tvm.tirx import const

rows = Layout([8, 64], lambda i, j: i * 64 + j)
print(rows.repeat(dim=0, factor=2).is_equal(Layout([16, 64], lambda i, j: [i // 8, i % 8 * 64 + j])), rows.repeat(0, 1) is rows)
print(rows.expand(4).get_input_shape(), rows.expand([4]).get_output_shape(), rows.is_equal(Layout([8, 64], lambda i, j: j * 8 + i)))
print(Layout([4], lambda i: const(0, "int32")).is_equal(Layout([4], lambda i: 0)))
for wrong in (lambda: rows.repeat(2, 2), lambda: rows.repeat(0, 0), lambda: rows.expand("4"), lambda: rows.expand([-1])):
    try:
        wrong()
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
fragment = Fragment([32, 4], forward_fn=lambda i, j: (i * 4 + j, i))
print(fragment.is_equal(Fragment([32, 4], forward_thread_fn=lambda i, j: i * 4 + j, forward_index_fn=lambda i, j: i)))


@tilelang.jit
def product(A, B, block):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), T.float16)
    B: T.Tensor((K, N), T.float16)
    C = T.empty((M, N), T.float16)
    with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
        a = T.alloc_shared((block, 32), T.float16)
        b = T.alloc_shared((32, block), T.float16)
        c = T.alloc_fragment((block, block), T.float32)
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
            T.copy(A[by * block, k * 32], a)
            T.copy(B[k * 32, bx * block], b)
            T.gemm(a, b, c)
        T.copy(c, C[by * block, bx * block])
    return C


counted = Analyzer.analysis(product.get_tir(M=256, N=128, K=512, block=64), CUDA("cuda"))
print(counted.total_flops == 2 * 256 * 128 * 512, counted.total_global_bytes == 8 * 16 * 2 * 64 * 32 * 2 + 256 * 128 * 2)
print(nvcc.get_target_compute_version(), nvcc.parse_compute_version("9.0"), tilelang.env.TILELANG_CACHE_DIR.endswith("tilelang"))


class Param:
    def __init__(self, dtype):
        self.dtype, self.shape = dtype, [10000]


def supplied(kind, dtype):
    return get_tensor_supply(kind)(Param(dtype)).float()


normal, auto = supplied(TensorSupplyType.Normal, torch.float32), supplied(TensorSupplyType.Auto, torch.float16)
print(abs(normal.mean() + 1) < 0.1, abs(normal.std() - 1) < 0.1, abs(auto.mean()) < 0.1, auto.abs().max() <= 1)
print(supplied(TensorSupplyType.Auto, torch.uint8).unique().tolist(), supplied(TensorSupplyType.Integer, torch.int32).unique().tolist())
print(supplied(TensorSupplyType.Normal, torch.int8).unique().tolist(), supplied(TensorSupplyType.Auto, torch.float8_e4m3fn).abs().max())

first = product.compile(M=256, N=128, K=512, block=64).params[0]
print(product.func.__name__, first.dtype == "float16", first.torch_dtype(), first.shape, first.is_scalar(), first.is_unsigned())
target = determine_target(return_object=True)
print(determine_target(), target.kind.name, target.arch, target_is_hopper(target), target_is_ampere(target), target_is_hopper("cuda"))
with suppress_stdout_stderr():
    print("nobody sees this")
print(list(inspect.signature(T.shfl_sync).parameters), inspect.signature(T.if_then_else))
print(do_bench(lambda: None, backend="cupti") >= 0, T.GemmWarpPolicy.from_warp_partition(4, 1) == T.GemmWarpPolicy.FullRow)


def biased(with_bias):
    n = T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((n,), T.float32), Bias: T.Tensor((T.ceildiv(n, 2) * 2,), T.float32), C: T.Tensor((n,), T.float32) = None):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                if with_bias:
                    C[i] = A[i] + Bias[i]
                else:
                    C[i] = A[i]

    return main


a, c = torch.arange(40.0), torch.zeros(40)
for target in ("cuda", "c"):
    tilelang.compile(biased(False), target=target)(a, None, c.zero_())
    print((a == c).all())
try:
    tilelang.compile(biased(True))(a, None, c)
except Exception as error:
    print(str(error).split("\n")[0])
END
python3 -m tilec run around.py
