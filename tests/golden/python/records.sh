# Dataclasses of a program that its kernels are given, with what they inherit and their properties.
needs torch
cd "$TMP"
cat >use.py <<'END'
from dataclasses import dataclass, replace
from typing import Optional

import tilelang
import tilelang.language as T
import torch


@dataclass(frozen=True)
class Cast:
    torch_dtype: torch.dtype = torch.float8_e4m3fn
    block: tuple[int, int] = (1, 1)

    @property
    def dtype(self) -> T.dtype:
        return T.dtype(self.torch_dtype) if self.torch_dtype != torch.int8 else T.float4_e2m1fn


@dataclass(frozen=True)
class Output(Cast):
    is_rounded: bool = False
    least: Optional[float] = None

    @property
    def clamp(self) -> float:
        if self.least is not None:
            return self.least
        elif self.dtype == T.float8_e4m3fn:
            return 1e-4
        elif self.dtype == T.float4_e2m1fn:
            return T.max_value(self.dtype) * (2**-126)
        raise ValueError(f"{self.dtype}")


@dataclass(frozen=True)
class Input(Cast):
    with_scale: bool = True


@T.macro
def limited(x, config: Output):
    return T.max(x, config.clamp)


@T.macro
def scaled(x, config: Input):
    return x * config.block[1] if config.with_scale else x


@tilelang.jit
def made(n, config, given):
    print("made")

    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i] = limited(scaled(A[i], given), config) + config.block[0]

    return main


a = torch.randn(64, device="cuda")
b = torch.empty_like(a)
for config in (Output(), Output(least=0.5), Output(torch.int8), replace(Output(), block=(2, 3)), Output()):
    made(64, config, Input(block=(1, 4)))(a, b)
    print(torch.equal(b, (4 * a).clamp(min=config.clamp) + config.block[0]))
END
python3 -m tilec run use.py
