# torch's tensors: "cuda" is the emulator's memory, results are tensors, types that numpy lacks, a benchmark.
needs torch
cd "$TMP"
cat >use.py <<'END'
import tilelang
import tilelang.language as T
import torch
import tilus
from tilus import bfloat16, int32


@tilelang.autotune(configs=[{"block": 32}, {"block": 64}])
@tilelang.jit(out_idx=[-1])
def twice(n, block, dtype=T.bfloat16):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, block), threads=32) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * 2

    return main


@tilelang.jit(out_idx=[0])
def sevens():
    @T.prim_func
    def main(A: T.Tensor((32,), "int8")):
        with T.Kernel(1, threads=32):
            T.fill(A, -7)

    return main


class Negate(tilus.Script):
    def __call__(self, n: int32, a_ptr: ~bfloat16, b_ptr: ~bfloat16):
        self.attrs.blocks = (n + 31) // 32
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=bfloat16, shape=[n])
        b = self.global_view(b_ptr, dtype=bfloat16, shape=[n])
        self.store_global(b, -self.load_global(a, offsets=[self.blockIdx.x * 32], shape=[32]), offsets=[self.blockIdx.x * 32])


a = torch.arange(100, device="cuda").to(torch.bfloat16)
kernel = twice(100)
b = kernel(a)
print(kernel.config, b.dtype, b.shape, torch.equal(b, 2 * a), a.is_cuda, a.cuda() is a)
Negate()(100, a, b)
torch.cuda.synchronize()
print(torch.equal(b, -a), kernel.get_profiler().do_bench() > 0, T.bfloat16.as_torch())
kernel.get_profiler().assert_allclose(lambda x: 2 * x)
torch.testing.assert_close(sevens()(), torch.full((32,), -7, dtype=torch.int8, device="cuda"))  # of no argument, and on the GPU yet

# Copies between the two memories are copies; what is in one already stays itself.
host = torch.arange(4.0)
there = host.cuda()
there += 1
back = there[1:].cpu()
there.to("cuda")[2:] += 1
print(host.tolist(), there.tolist(), back.tolist(), back.cpu() is back, host.to("cpu") is host)
torch.set_default_device("cuda")
default = torch.zeros(2)
print(default.cuda() is default, torch.zeros(2, device="cpu").cuda().tolist())


# There is one device, as a context or around a function; it has what programs ask of an sm_90.
@torch.cuda.device(0)
def around():
    return torch.cuda.current_device()


with torch.cuda.device(there.device.index), torch.cuda.device_of(there):
    print(around(), twice(100)(a).is_cuda)
facts = torch.cuda.get_device_properties(0)
print(facts.shared_memory_per_block, facts.max_threads_per_block, facts.is_integrated)
END
python3 -m tilec run use.py
