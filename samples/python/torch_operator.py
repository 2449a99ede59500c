"""A kernel as an operator of torch, with its gradient: compiled ahead, no compiler where it runs.

    tilec swish.tile --emit=obj,python --arch=sm_90a,sm_80,compute_80,emulator -o swish.o
    cc -shared -o libswish.so swish.o -ltile_emulator -ltile -lm
    python3 torch_operator.py
"""

import torch

import swish as kernels  # swish.py, which tilec wrote

library = torch.library.Library("tile", "DEF")
library.define("swish(Tensor x) -> Tensor")


def swish(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    kernels.swish(x.numel(), x, y)
    return y


def swish_backward(x, y, y_grad):
    x, y_grad = x.contiguous(), y_grad.clone(memory_format=torch.contiguous_format)  # the kernel leaves zeros there
    x_grad = torch.zeros_like(x)  # it adds to what is here
    kernels.swish_grad(x.numel(), x, y, x_grad, y_grad)
    return x_grad


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        y = swish(x)
        context.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(context, y_grad):
        return swish_backward(*context.saved_tensors, y_grad)


for device in ("CPU", "CUDA"):
    library.impl("swish", swish, device)
library.impl("swish", Swish.apply, "Autograd")


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(100, 50, device=device, requires_grad=True)
    weights = torch.rand(100, 50, device=device)
    found = torch.autograd.grad((torch.ops.tile.swish(x) * weights).sum(), x)[0]
    wanted = torch.autograd.grad((torch.nn.functional.silu(x) * weights).sum(), x)[0]
    print("the operator is torch's:", torch.allclose(torch.ops.tile.swish(x), torch.nn.functional.silu(x), atol=1e-6))
    print("so is its gradient:", torch.allclose(found, wanted, atol=1e-6))
