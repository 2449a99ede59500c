"""TileLang, compiled by tilec: kernels go to libtilec, what programs use around them is here."""

from tilec import modules as _modules

_modules.offer("tilelang")

import tvm  # noqa: E402
from tilelang import env, language  # noqa: E402
from tilelang import expressions as _expressions  # noqa: E402, F401
from tilelang.autotuner import AutoTuner, autotune, set_autotune_inputs  # noqa: E402
from tilelang.jit import JITKernel, compile, jit, lazy_jit, lower, par_compile  # noqa: E402
from tilelang.profiler import Profiler, TensorSupplyType, do_bench  # noqa: E402
from tilelang.transform import PassConfigKey  # noqa: E402

__version__ = "0.1.6"


def cdiv(a, b):
    return -(-a // b)


def next_power_of_2(n):
    return 1 << max(0, int(n) - 1).bit_length()


_caching = [True]


def disable_cache():
    """Results are kept by what kernels are: there is nothing to switch off, and nothing depends on it."""
    _caching[0] = False


def enable_cache():
    """See disable_cache()."""
    _caching[0] = True


def is_cache_enabled():
    """What was said last."""
    return _caching[0]


def set_log_level(level):
    """What the compiler says comes with its errors."""


_modules.become(__name__)
