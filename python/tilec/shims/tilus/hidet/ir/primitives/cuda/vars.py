"""Where a thread is, in expressions outside of kernels."""

from types import SimpleNamespace

from tilus.hidet.ir.expr import Var

threadIdx, blockIdx, blockDim, gridDim = [
    SimpleNamespace(**{axis: Var(name=f"{name}.{axis}") for axis in "xyz"}) for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
]
