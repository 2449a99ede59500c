"""What the tests ask of the runtime: what cuBLASDx and cuFFTDx do there is compiled here."""

import ctypes
import functools
import inspect  # noqa: F401
import operator  # noqa: F401
import os  # noqa: F401
import shutil  # noqa: F401
import sys  # noqa: F401
import types

from warp import bsr as _bsr
from warp import builds as _builds
from warp import captures as _captures
from warp import coloring as _coloring
from warp import devices as _devices
from warp import driver as _driver
from warp import graphs as _graphs
from warp import memory as _memory
from warp import order as _order
from warp._src import absent
from warp._src.logger import log_warning  # noqa: F401
from warp.packing import pack_arg  # noqa: F401
from warp.bounds import bounds_of as _build_kernel_launch_bounds  # noqa: F401
from warp.bounds import bounds_of_tuple as _build_launch_bounds_from_tuple  # noqa: F401
from warp.bounds import canonical_dim as _canonicalize_dim  # noqa: F401
from warp._src.codegen import WarpCodegenError  # noqa: F401
from warp.builtins import Builtins as _Builtins
from warp.exports import identity as _apic_source_identity  # noqa: F401
from warp.builds import ModuleExec  # noqa: F401
from warp.builds import launch_block_dim as _resolve_launch_block_dim  # noqa: F401
from warp.hashers import ModuleBuilder, ModuleHasher  # noqa: F401
from warp.launches import caller_module_name as _get_caller_module_name  # noqa: F401
from warp.launches import Function, Kernel, Launch, Module, get_module  # noqa: F401
from warp.launches import _modules as user_modules  # noqa: F401
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


def _capture():
    return _graphs._open[-1]


def _insert(kind):
    """A node that does nothing, on the current stream of the capture."""
    graph = _capture()
    return graph.order.add(_graphs._current_stream(graph), kind)


class _Core(types.SimpleNamespace):
    """The native side of a process, by Warp's names of it."""

    def __getattr__(self, name):
        """wp_builtin_NAME_TYPES: a function of the language; the last argument is where its result goes."""
        import warp

        words = name.removeprefix("wp_builtin_").split("_") if name.startswith("wp_builtin_") else []
        named = (getattr(warp, "_".join(words[:count]), None) for count in range(len(words), 0, -1))
        function = next(filter(callable, named), None)
        if function is None:
            raise AttributeError(f"the native side has no {name!r}")

        def called(*arguments):
            *given, out = arguments
            result, place = function(*given), out._obj
            if isinstance(place, ctypes.Array):
                place[:] = result[:]
            else:
                place.value = result

        return called


core = _Core(
    wp_is_mathdx_enabled=lambda: True, wp_cuda_toolkit_version=lambda: 12080, wp_is_cuda_enabled=lambda: True,
    wp_cuda_compilation_enabled=lambda: True, wp_is_llvm_enabled=lambda: False, is_mathdx_enabled=lambda: True,
    wp_cuda_get_kernel_properties=_builds.kernel_properties, wp_cuda_configure_kernel_shared_memory=_builds.configure_shared,
    wp_cuda_set_kernel_cluster_attrs=_builds.allow_clusters,
    wp_cuda_profiler_start=_driver_profiler("cuProfilerStart"), wp_cuda_profiler_stop=_driver_profiler("cuProfilerStop"),
    wp_cuda_graph_insert_empty_node=lambda context: _insert("empty"),
    wp_cuda_graph_insert_alloc_node=lambda context, size: _insert("allocation"),
    wp_cuda_graph_insert_free_node=lambda context, allocation: _capture().order.free(allocation),
    wp_cuda_graph_node_depends_on=lambda node, other: 0 if node.waits_for(other) else 1,
    wp_cuda_graph_alloc_query=_order.state_at,
    wp_cuda_pointer_get_memory_kind=lambda context, pointer: _memory.kind_of_pointer(pointer),
    wp_alloc_device_managed=_memory.allocate_managed, wp_free_device_default=_memory.free_managed,
    wp_cuda_context_get_current=lambda: _devices.get_device().context,
    wp_alloc_tracker_is_enabled=lambda: _memory.tracker.is_enabled, wp_alloc_tracker_reset=_memory.tracker.clear,
    wp_alloc_tracker_get_live_count=lambda: len(_memory.tracker.live),
    wp_alloc_tracker_get_total_alloc_count=lambda: _memory.tracker.total_count,
    wp_alloc_tracker_get_total_alloc_bytes=lambda: _memory.tracker.total_bytes,
    wp_alloc_tracker_get_current_bytes=lambda: _memory.tracker.bytes, wp_alloc_tracker_get_peak_bytes=lambda: _memory.tracker.peak)


class _Runtime(types.SimpleNamespace):
    """What a process has one of."""

    @property
    def _apic_graph(self):
        """The graph of that capture."""
        return _graphs._open[-1] if self._apic_capture is not None else None

    @property
    def _apic_capture(self):
        """The open capture for a file, None: there is none."""
        return _graphs._open[-1]._apic_capture if _graphs._open else None


def _recording():
    """The capture for a file that is open on a GPU."""
    return runtime._apic_capture if _graphs._open and _graphs._open[-1].device.is_cuda else None


def _end_recording(capture):
    if capture is not None and capture is runtime._apic_capture:
        _graphs._open[-1]._apic_capture = None


def _inner(kind, *given):
    from warp import types, utils

    utils.inner_of_memory(getattr(types, kind), *given)


def _scan(*given):
    from warp import utils

    return utils.scan(*given)


def _as_c(result, kinds, function):
    """As C has it, with the types of what it takes and gives."""
    made = ctypes.CFUNCTYPE(result, *kinds)(function)
    made.argtypes = kinds
    return made


_says_errors = [True]  # what was asked for: errors are raised, and nothing of them is printed


def _set_error_output(enabled):
    _says_errors[0] = bool(enabled)


def _told(failure, function):
    """As C has it: what is given in the place of an error, whose text runtime.get_error_string() is."""

    def call(*args):
        try:
            return function(*args)
        except RuntimeError as error:
            _builds.tell_error(str(error))
            return failure

    return call


def _init_version(version):
    import warp

    if version.decode() != warp.__version__:
        raise RuntimeError(f"Version mismatch detected: the package is {version.decode()}, and its library {warp.__version__}")
    return 0


core.wp_init = _told(-1, _init_version)
core.wp_graph_coloring, core.wp_balance_coloring = _told(-1, _coloring.native_assign), _told(-1.0, _coloring.native_balance)
core.wp_apic_load_graph_from_bytes = _told(None, _captures.native_load)
core.wp_apic_destroy_graph = _captures.native_destroy
core.wp_apic_state_save, core.wp_apic_register_mesh = _captures.state_save, lambda capture, mesh: False
for _where, _place in (("host", "cpu"), ("device", None)):
    setattr(core, f"wp_bsr_matrix_from_triplets_{_where}", functools.partial(_bsr.matrix_from_triplets, _place))
    setattr(core, f"wp_bsr_transpose_{_where}", functools.partial(_bsr.transpose, _place))
    setattr(core, f"wp_bsr_compress_inplace_{_where}", functools.partial(_bsr.compress, _place))
    for _kind in ("int", "int64", "float", "double"):
        setattr(core, f"wp_array_scan_{_kind}_{_where}", _scan)
    for _kind, _dtype in (("float", "float32"), ("double", "float64")):
        setattr(core, f"wp_array_inner_{_kind}_{_where}", functools.partial(_inner, _dtype, _place))
core.wp_is_error_output_enabled, core.wp_set_error_output_enabled = lambda: _says_errors[0], _set_error_output
core.wp_cuda_device_get_graph_mem_current = _as_c(ctypes.c_uint64, [ctypes.c_int], _driver.graph_memory)
core.wp_cuda_device_graph_mem_trim = _as_c(None, [ctypes.c_int], _driver.trim_graph_memory)
core.wp_alloc_tracker_enable = _memory.tracker.enable
core.wp_apic_get_cuda_recording_state, core.wp_apic_end_recording = _recording, _end_recording
runtime = _Runtime(
    nvrtc_supported_archs=_devices.get_cuda_supported_archs(), toolkit_version=(13, 0), driver_version=(13, 0), is_cuda_enabled=True,
    llvm=None, core=core, get_device=_devices.get_device, rename_device=_devices.rename_device,
    verify_cuda_device=lambda device=None: None, get_error_string=_builds.error_text)

builtin_functions = _Builtins()


def init():
    pass


def open_file(path, mode="r", **options):
    """How the files of saved graphs are opened."""
    return open(path, mode, **options)


def register_api_function(function, **options):
    """A name for Warp's documentation."""


def _get_apic_capture_for_device(device):
    return runtime._apic_capture if _graphs.is_capturing(_devices.get_device(device)) else None


def _validate_cuda_device_arch(arch, toolkit, name="cuda"):
    """Toolkits of CUDA 13 make no code for what is older than sm_75."""
    if toolkit is not None and toolkit[0] >= 13 and arch < 75:
        raise RuntimeError(f"CUDA {toolkit[0]} has no code for {name}, which is sm_{arch}: it is for sm_75 and newer, use a CUDA 12 build")


def type_str(kind):
    """A type's name, as an annotation has it."""
    import typing

    inner = typing.get_args(kind)
    if inner:
        return f"{typing.get_origin(kind).__name__}[{', '.join(['...' if one is Ellipsis else type_str(one) for one in inner])}]"
    return getattr(kind, "__name__", str(kind))


def get_host_compiler_version():
    from warp.diagnostics import _compiler_version

    return _compiler_version()


def get_libmathdx_version():
    """There is none."""
    return ""


def get_nvrtc_version():
    """There is none."""


from warp.access import MOST_WARNINGS as _LAUNCH_ARRAY_ACCESS_WARNING_CACHE_SIZE  # noqa: E402, F401
from warp.access import allocator_of as _get_array_allocator  # noqa: E402, F401
from warp.access import kind_of as _get_array_memory_kind  # noqa: E402, F401
from warp.access import warn_unknown as _warn_unknown_launch_array_access  # noqa: E402, F401
from warp.access import warned as _launch_array_access_warnings_seen  # noqa: E402, F401
from warp.devices import is_conditional_graph_supported, is_mempool_access_enabled, is_peer_access_enabled  # noqa: E402, F401
from warp.graphs import capture_pause, capture_resume  # noqa: E402, F401


def _is_graph_capture_allocation_supported(device):
    return True


__getattr__ = absent(__name__)
