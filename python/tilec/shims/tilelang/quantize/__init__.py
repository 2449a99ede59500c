"""Packed integers and small floats, for kernels (the library's) and of tensors."""

from tilec import modules as _modules
from tilelang.quantize.utils import gen_quant4, general_compress, interleave_weight  # noqa: F401

_modules.become(__name__)
