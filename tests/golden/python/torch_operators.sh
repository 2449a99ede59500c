# Operators of a program's own on a machine without a GPU: torch calls them back, within torch.compile's tables, and in gradients.
needs torch
cd "$TMP"
cat >use.py <<'END'
import tilelang
import tilelang.language as T
import torch


@tilelang.jit(out_idx=[-1])
def scale(n, factor):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            for i in T.Parallel(32):
                if bx * 32 + i < n:
                    B[bx * 32 + i] = A[bx * 32 + i] * factor

    return main


def on_gpu(x):
    assert x.is_cuda and x.device.type == "cuda" and x.device == torch.device("cuda", 0), x.device
    return torch.ones(x.shape, device=x.device) * x


@torch.library.custom_op("tests::triple", mutates_args=(), device_types="cuda")
def triple(x: torch.Tensor) -> torch.Tensor:
    return scale(x.numel(), 3.0)(on_gpu(x))


@triple.register_fake
def _(x):
    return torch.empty_like(x)


def backward(ctx, gradient):
    return scale(gradient.numel(), 3.0)(on_gpu(gradient))


triple.register_autograd(backward)
x = torch.arange(40.0, device="cuda", requires_grad=True)
y = triple(x)
print(torch.equal(y, 3 * x), y.device, x.cpu().device, torch.zeros(2).device)
y.backward(gradient=torch.full_like(y, 2.0))
print(x.grad.unique().tolist(), x.grad.device)


class Quadruple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return scale(x.numel(), 4.0)(on_gpu(x))

    @staticmethod
    def backward(ctx, gradient):
        return scale(gradient.numel(), 4.0)(on_gpu(gradient).contiguous())


x.grad = None
Quadruple.apply(x).sum().backward()
print(x.grad.unique().tolist())
torch.compiler.is_compiling()
import torch._dynamo  # noqa: E402

torch._dynamo.reset()
torch._dynamo.trace_rules.get_torch_obj_rule_map()
print("done")
END
python3 -m tilec run use.py
