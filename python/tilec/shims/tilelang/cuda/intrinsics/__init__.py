"""tilelang.cuda.intrinsics: layouts, which programs look at, and what kernels call."""

from tilec import modules as _modules

from tilelang.layout.swizzle import make_mma_swizzle_layout  # noqa: F401

_modules.become(__name__)
