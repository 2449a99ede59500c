"""Devices: the one that kernels run on."""

import contextlib
import cProfile
import enum
import pstats
import re
import sys
import time

from tilec import device as _device
from tilec import native as _native
from warp import driver as _driver
from warp import graphs as _graphs
from warp import memory as _memory


class Stream:
    """An order of work. All of Warp's own is in the default stream's order; another library's stream is worked on as it is."""

    _is_blocking = None

    def __init__(self, device=None, priority=0, cuda_stream=None, **options):
        self.device = get_device(device)
        if self.device.is_cpu:
            raise RuntimeError(f"Device {self.device} is not a CUDA device")
        if not isinstance(priority, int):
            raise TypeError("the priority of a stream is an integer")
        self.cuda_stream = cuda_stream or 0
        self.priority = max(-1, min(0, priority))
        self._is_blocking = True if cuda_stream is None else None

    def __del__(self):
        """There is nothing to give back: the stream is the device's, or somebody else's."""

    def __eq__(self, other):
        return self is other or (isinstance(other, Stream) and self.cuda_stream != 0 and self.cuda_stream == other.cuda_stream)

    def __hash__(self):
        return hash(self.cuda_stream) if self.cuda_stream else id(self)

    @property
    def is_blocking(self):
        if self._is_blocking is None:
            self._is_blocking = True
        return self._is_blocking

    @property
    def is_complete(self):
        """Whether all of its work is done."""
        return not self.device._on_gpu or _driver.stream_is_complete(self.cuda_stream)

    @property
    def is_capturing(self):
        return _graphs.point_of(self) is not None

    def record_event(self, event=None, external=False):
        event = event or Event(self.device)
        with ScopedStream(self, sync_enter=False):
            event.record()
        return event

    def wait_event(self, event, external=False):
        """What was recorded is before what comes, in the one order; another library's stream waits for it."""
        _graphs.wait_at(self, event.point)
        if event.cuda_event and (self.cuda_stream or event.is_interprocess) and not _graphs.is_capturing():
            _driver.wait_for_event(self.cuda_stream, event.cuda_event)

    def wait_stream(self, other, event=None):
        _graphs.wait_at(self, _graphs.point_of(other))
        if other.cuda_stream != self.cuda_stream and not _graphs.is_capturing() and not any(
                [_driver.stream_is_captured(one.cuda_stream) for one in (self, other) if one.cuda_stream]):
            synchronize_stream(other)


class Event:
    """A point in the order of work, of the driver's on a GPU; what is timed by it ends there."""

    Flags = enum.IntFlag("Flags", ["DEFAULT", "BLOCKING_SYNC", "DISABLE_TIMING"], start=1)

    cuda_event = None  # the driver's, which is made when it is needed
    is_own = False
    at = point = None

    def __init__(self, device=None, cuda_event=None, enable_timing=False, interprocess=False):
        self.device = get_device(device)
        if self.device.is_cpu:
            raise RuntimeError(f"Device {self.device} is not a CUDA device")
        if enable_timing and interprocess:
            raise ValueError("an event of several processes cannot be timed")
        self.cuda_event = cuda_event
        self.is_interprocess = bool(interprocess)

    def __del__(self):
        if self.is_own and _driver is not None:
            _driver.destroy_event(self.cuda_event)

    def handle(self):
        """The driver's event."""
        if self.cuda_event is None and self.device._on_gpu:
            self.cuda_event, self.is_own = _driver.create_event(self.is_interprocess), True
        return self.cuda_event

    def ipc_handle(self):
        """What another process finds the event by."""
        if not self.device._on_gpu:
            raise RuntimeError(f"{self.device} has no events that other processes share")
        if not self.is_interprocess:
            from warp.utils import warn

            warn("IPC event handle appears to be invalid. Was interprocess=True used?", UserWarning)
            return bytes(64)
        return _driver.event_handle(self.handle())

    @property
    def is_complete(self):
        """Whether what was recorded is done; nothing was: it is."""
        return self.cuda_event is None or not self.device._on_gpu or _driver.event_is_complete(self.cuda_event)

    def record(self):
        self.point = _graphs.point_of(get_stream(self.device))
        _record(self)

    def is_recorded(self):
        return self.at is not None


@_graphs.recorded
def _record(event):
    if event.device._on_gpu:
        _driver.record_event(event.handle(), current_handle())
    else:
        _native.check(_native.synchronize(None))
    event.at = time.perf_counter()


def event_from_ipc_handle(handle, device=None):
    """The event that another process has made."""
    device = get_device(device)
    if not device._on_gpu:
        raise RuntimeError(f"{device} has no events that other processes share")
    made = Event(device, cuda_event=_driver.open_event(handle), interprocess=True)
    made.is_own = True  # what was opened is destroyed here; the other process keeps its own
    return made


# CUdevice_attribute: multiprocessors, shared memory that a block may ask for, place on the PCI bus.
_SM_COUNT, _SHARED_OF_BLOCK, _PLACE = 16, 97, (50, 33, 34)
_UNIFIED_ADDRESSING, _MANAGED, _PAGEABLE, _CONCURRENT_MANAGED, _MANAGED_FROM_HOST, _HOST_ATOMICS, _IPC = 41, 83, 88, 89, 101, 86, 125


class Device:
    """On a machine without a GPU "cuda:0" is the emulator."""

    def __init__(self, alias):
        self.alias = alias
        self.is_cuda = alias.startswith("cuda")
        self.is_cpu = not self.is_cuda
        self.ordinal = int(alias.partition(":")[2] or 0) if self.is_cuda else -1
        self._on_gpu = self.is_cuda and not _device.is_emulator()
        self.arch = (90 if not self._on_gpu else _native.device_compute(self.ordinal)) if self.is_cuda else 0
        self.name = "tilec's emulator" if self.is_cuda and not self._on_gpu else alias
        self.is_primary = self.is_cuda
        # the emulator's memory is the host's, which a program for a GPU does not count on
        self.is_uva = self._can(_UNIFIED_ADDRESSING)
        self.is_managed_memory_supported = self._can(_MANAGED)
        self.is_concurrent_managed_access_supported = self._can(_CONCURRENT_MANAGED)
        self.is_cpu_memory_access_from_gpu_supported = self._can(_PAGEABLE)
        self.is_gpu_memory_access_from_cpu_supported = self._can(_MANAGED_FROM_HOST)
        self.is_cpu_gpu_atomic_supported = self._can(_HOST_ATOMICS)
        self.is_ipc_supported = self._can(_IPC)
        self.context = alias if self.is_cuda else None
        self.context_guard = contextlib.nullcontext()
        self._null_stream = self._own_stream = None  # the latter: what set_stream() was given

    def _can(self, attribute):
        return self._on_gpu and bool(_driver.attribute(attribute, self.ordinal))

    # A GPU's are the driver's, None where it tells nothing; the emulator is in the place of an H100, and has the host's memory.

    @property
    def sm_count(self):
        return _driver.attribute(_SM_COUNT, self.ordinal) if self._on_gpu else 132 if self.is_cuda else 0

    @property
    def max_shared_memory_per_block(self):
        return _driver.attribute(_SHARED_OF_BLOCK, self.ordinal) if self._on_gpu else 232448 if self.is_cuda else 0

    @property
    def pci_bus_id(self):
        place = [_driver.attribute(which, self.ordinal) if self._on_gpu else 0 for which in _PLACE]
        return "{:08X}:{:02X}:{:02X}".format(*place) if self.is_cuda and None not in place else None

    @property
    def total_memory(self):
        return _driver.total_of(self.ordinal) if self._on_gpu else _memory.of_host("SC_PHYS_PAGES")

    @property
    def free_memory(self):
        return _driver.free_now() if self._on_gpu else _memory.of_host("SC_AVPHYS_PAGES")

    @property
    def is_mempool_supported(self):
        return self.is_cuda

    @property
    def is_mempool_enabled(self):
        return is_mempool_enabled(self)

    @property
    def mempool_allocator(self):
        return _memory.pool if self._on_gpu else _memory.of_device(self)

    @property
    def default_allocator(self):
        return _memory.default_of(self) if self.is_cuda else _memory.host

    @property
    def pinned_allocator(self):
        return _memory.pinned

    @property
    def stream(self):
        if self.is_cpu:
            raise RuntimeError(f"Device {self} is not a CUDA device")
        return get_stream(self)

    @stream.setter
    def stream(self, stream):
        self.set_stream(stream)

    def set_stream(self, stream, sync=True):
        if self.is_cpu:
            raise RuntimeError(f"Device {self} is not a CUDA device")
        if stream.device != self:
            raise RuntimeError(f"Stream from device {stream.device} cannot be used on device {self}")
        self._own_stream = stream

    @property
    def null_stream(self):
        if self._null_stream is None:
            self._null_stream = Stream(self)
        return self._null_stream

    @property
    def has_stream(self):
        return self.is_cuda

    @property
    def is_capturing(self):
        return _graphs.is_capturing(self)

    def can_access(self, other):
        """Whether what the other device makes by itself is reached from this one."""
        other = get_device(other)
        return self == other or (self.is_cuda and other.is_cpu and self.is_cpu_memory_access_from_gpu_supported)

    def get_cuda_compile_arch(self):
        return self.arch or None

    @property
    def runtime(self):
        from warp._src import context

        return context.runtime

    def _get_cuda_arch_suffix(self, output_arch):
        """What code for an architecture is for beside it: "a" for that GPU alone, "f" for its family."""
        from warp import config

        suffix = config.cuda_arch_suffix
        if suffix is None:
            return ""
        if suffix not in ("a", "f"):
            raise RuntimeError(f"warp.config.cuda_arch_suffix is None, 'a' or 'f', not {suffix!r}")
        if output_arch < (90 if suffix == "a" else 100):
            raise RuntimeError(f"code for sm_{output_arch} has no suffix {suffix!r}")
        if suffix == "a" and output_arch != self.arch or output_arch // 10 != self.arch // 10:
            raise RuntimeError(f"code for sm_{output_arch}{suffix} does not run on sm_{self.arch}")
        if suffix == "f" and self.runtime.toolkit_version < (12, 9):
            raise RuntimeError("code for a family of GPUs needs CUDA 12.9")
        return suffix

    def get_stream(self):
        return self.stream

    def make_current(self):
        pass

    def __eq__(self, other):
        return isinstance(other, (Device, str)) and self.alias == ("cuda:0" if other == "cuda" and isinstance(other, str) else str(other))

    def __hash__(self):
        return hash(self.alias)

    def __str__(self):
        return self.alias

    __repr__ = __str__


_known = {}


_current = ["cuda:0"]  # what None means, by the scopes that are open: devices, whatever they are called meanwhile


DeviceLike = Device | str | None


def get_device(ident=None):
    if ident is None:
        ident = _current[-1]
    if isinstance(ident, Device):
        return ident
    if isinstance(ident, str) and ident in _renamed:
        return _renamed[ident]
    alias = "cuda:0" if ident == "cuda" or not isinstance(ident, str) else ident
    if alias.partition(":")[0] not in ("cuda", "cpu"):
        raise ValueError(f"Invalid device identifier: {ident}")
    if alias not in _known:
        _known[alias] = Device(alias)
    return _known[alias]


def device_from_torch(device):
    """"cpu" is what torch has of the emulator's memory."""
    return get_device("cuda:0" if _device.is_emulator() else str(device))


def get_preferred_device():
    return get_device("cuda:0")


# ---- names of the program's own ----

_renamed = {}


def map_cuda_device(alias, context=None):
    """The current device by another name."""
    device = get_device("cuda:0")
    rename_device(device, alias)
    return device


def unmap_cuda_device(alias):
    if alias not in _renamed and alias not in _known:
        raise RuntimeError(f"Failed to unmap device: no CUDA device is called {alias!r}")
    device = _renamed.pop(alias, None)
    if device is not None and device.alias == alias:
        device.alias = f"cuda:{device.ordinal}"


def rename_device(device, alias):
    _renamed.pop(device.alias, None)
    device.alias = alias
    _renamed[alias] = device
    return device


def get_cuda_supported_archs():
    """The GPUs that code is made for."""
    return [80, 86, 89, 90]


def get_devices():
    return [get_device("cpu"), *get_cuda_devices()]


def get_cuda_devices():
    return [get_device("cuda:0")]


def get_cuda_device(ordinal=None):
    return get_device("cuda:0")


def get_cuda_device_count():
    return 1


def is_cuda_available():
    return True


def is_cpu_available():
    """Kernels for it are the emulator's code."""
    return True


def is_cuda_driver_initialized():
    return True


def is_device_available(device):
    return get_device(device) in get_devices()


def device_to_torch(device):
    return "cpu" if _device.is_emulator() else str(get_device(device))


def set_device(ident):
    _current[-1] = get_device(ident)


def _synchronized(what):
    if _graphs.is_capturing():
        raise RuntimeError(f"Cannot synchronize {what} while graph capture is active")
    _waited(_native.synchronize(None))
    if current_handle() is not None:
        _waited(_native.synchronize(current_handle()))


_OF_DRIVER = re.compile(r"CUDA_ERROR_\w+ \((?P<number>\d+)\): (?P<what>.*)")


def _waited(status):
    """What a kernel met with is the driver's error, and said as Warp says such ones, too."""
    try:
        _native.check(status)
    except _native.Error as error:
        found = _OF_DRIVER.search(str(error))
        if found is None:
            raise
        raise _native.Error(f"{error}\nWarp CUDA error {found['number']}: {found['what']}", error.status) from None


def synchronize(*ignored):
    _synchronized("device")


def synchronize_device(device=None):
    _synchronized("device")


def synchronize_stream(stream_or_device=None):
    _synchronized("stream")
    if isinstance(stream_or_device, Stream) and stream_or_device.cuda_stream:
        _native.check(_native.synchronize(stream_or_device.cuda_stream))


def synchronize_event(event):
    _synchronized("event")  # which is behind all that the event is behind


class ScopedDevice(contextlib.AbstractContextManager):
    def __init__(self, device=None, *more):
        self.device = get_device(device)

    def __enter__(self):
        _current.append(self.device)
        return self.device

    def __exit__(self, *ignored):
        _current.pop()


_current_streams = []  # those of the scopes that are open


def current_handle():
    """The driver's stream that is worked on, None: the default one."""
    stream = _current_streams[-1] if _current_streams else get_cuda_device()._own_stream
    return (stream.cuda_stream or None) if stream is not None else None


class ScopedStream(contextlib.AbstractContextManager):
    def __init__(self, stream=None, sync_enter=True, sync_exit=False):
        self.stream, self.sync_enter, self.sync_exit = stream, sync_enter, sync_exit

    def __enter__(self):
        if self.stream is not None:
            self.before = get_stream(self.stream.device)
            if self.sync_enter and self.before != self.stream:
                self.stream.wait_stream(self.before)
            _current_streams.append(self.stream)
            _current.append(self.stream.device)
        return self.stream

    def __exit__(self, *ignored):
        if self.stream is not None:
            _current_streams.pop()
            _current.pop()
            if self.sync_exit and self.before != self.stream:
                self.before.wait_stream(self.stream)


def stream_from_torch(stream_or_device=None):
    import torch

    if not hasattr(stream_or_device, "cuda_stream"):
        stream_or_device = torch.cuda.current_stream(stream_or_device)
    return Stream(get_device("cuda:0"), cuda_stream=stream_or_device.cuda_stream)


def stream_to_torch(stream_or_device=None):
    import torch

    stream = stream_or_device if isinstance(stream_or_device, Stream) else get_stream(stream_or_device)
    return torch.cuda.ExternalStream(stream.cuda_stream)


class ScopedTimer(contextlib.AbstractContextManager):
    enabled = True

    def __init__(self, name, active=True, print=True, detailed=False, dict=None, use_nvtx=False, synchronize=False, cuda_filter=0,
                 report_func=None, **options):
        self.name, self.active, self.print, self.dict = name, active, print, dict
        self.profile = cProfile.Profile() if detailed and active else None
        self.cuda_filter, self.report_func = cuda_filter if active else 0, report_func
        self.timing_results, self.extra_msg = [], ""

    def __enter__(self):
        if self.cuda_filter:
            from warp import timing

            timing.timing_begin(self.cuda_filter)
        self.start = time.perf_counter()
        if self.profile is not None:
            self.profile.enable()
        return self

    def __exit__(self, *ignored):
        if self.profile is not None:
            self.profile.disable()
        if not _graphs.is_capturing():
            synchronize()
        self.elapsed = 1e3 * (time.perf_counter() - self.start)
        if self.profile is not None:
            pstats.Stats(self.profile, stream=sys.stdout).sort_stats("cumulative").print_stats()
        if self.cuda_filter:
            from warp import timing

            self.timing_results = timing.timing_end()
        if self.active and self.dict is not None:
            self.dict.setdefault(self.name, []).append(self.elapsed)
        if self.timing_results and self.print:
            (self.report_func or timing.timing_print)(self.timing_results, indent="")
        if self.active and self.print:
            print(f"{self.name} took {self.elapsed:.2f} ms{' ' if self.extra_msg else ''}{self.extra_msg}")


def get_stream(device=None):
    if _current_streams and (device is None or _current_streams[-1].device == get_device(device)):
        return _current_streams[-1]
    device = get_device(device)
    return device._own_stream or device.null_stream


def set_stream(stream, device=None, sync=False):
    get_device(device if device is not None else stream.device).set_stream(stream, sync)


def wait_stream(other_stream, event=None):
    get_stream().wait_stream(other_stream, event)


def wait_event(event, external=False):
    get_stream().wait_event(event, external)


# ---- memory of the device: what is in a pool is allocated as other memory is; none is another device's ----

_pools = {}  # by the device's name: what is set of its pool


def _pool(device):
    device = get_device(device)
    if device.is_cpu:
        raise ValueError("Memory pools are only supported on CUDA devices")
    return _pools.setdefault(device.alias, {"enabled": True, "threshold": 0, "access": False})


def is_mempool_supported(device=None):
    return get_device(device).is_cuda


def is_mempool_enabled(device=None):
    return get_device(device).is_cuda and _pool(device)["enabled"]


def set_mempool_enabled(device, enable):
    _pool(device)["enabled"] = bool(enable)


def get_mempool_release_threshold(device=None):
    return _pool(device)["threshold"]


def set_mempool_release_threshold(device, threshold):
    pool = _pool(device)
    if threshold < 0:
        threshold = 0
    pool["threshold"] = int(threshold * get_device(device).total_memory) if 0 < threshold <= 1 else int(threshold)


def get_mempool_used_mem_current(device=None):
    _pool(device)
    return _memory.in_use.now


def get_mempool_used_mem_high(device=None):
    _pool(device)
    return _memory.in_use.most


def is_peer_access_supported(target_device, peer_device):
    """A device's own memory is always there; no other's is reached."""
    return get_device(target_device).is_cuda and get_device(target_device) == get_device(peer_device)


is_peer_access_enabled = is_mempool_access_supported = is_mempool_access_enabled = is_peer_access_supported


def _set_access(target_device, peer_device, enable, what):
    if not is_peer_access_supported(target_device, peer_device) and enable:
        raise RuntimeError(f"Device '{get_device(target_device)}' cannot access {what} '{get_device(peer_device)}'")


def set_mempool_access_enabled(target_device, peer_device, enable):
    _set_access(target_device, peer_device, enable, "the memory pool of device")


def set_peer_access_enabled(target_device, peer_device, enable):
    _set_access(target_device, peer_device, enable, "device")


def is_conditional_graph_supported():
    return True


class ScopedMempool(contextlib.AbstractContextManager):
    def __init__(self, device=None, enable=True):
        self.device, self.enable = get_device(device), enable

    def __enter__(self):
        if self.device.is_cuda:
            self.before = is_mempool_enabled(self.device)
            set_mempool_enabled(self.device, self.enable)
        return self

    def __exit__(self, *ignored):
        if self.device.is_cuda:
            set_mempool_enabled(self.device, self.before)


class ScopedMempoolAccess(contextlib.AbstractContextManager):
    def __init__(self, target_device, peer_device, enable=True):
        self.given = target_device, peer_device, enable

    def __enter__(self):
        set_mempool_access_enabled(*self.given)
        return self

    def __exit__(self, *ignored):
        return None


class ScopedPeerAccess(ScopedMempoolAccess):
    pass


# ---- profilers, which are told where to begin and to end ----


def _profiler(word, device):
    from warp._src import context

    device = get_device(device)
    if device.is_cuda:
        getattr(context.runtime.core, f"wp_cuda_profiler_{word}")(device.context)


def cuda_profiler_start(device=None):
    _profiler("start", device)


def cuda_profiler_stop(device=None):
    _profiler("stop", device)


class ScopedCudaProfiler(contextlib.AbstractContextManager):
    def __init__(self, device=None):
        self.device = device

    def __enter__(self):
        import warp

        warp.cuda_profiler_start(device=self.device)
        return self

    def __exit__(self, kind, *ignored):
        import warp

        try:
            warp.cuda_profiler_stop(device=self.device)
        except Exception:
            if kind is None:
                raise


def get_cuda_driver_version():
    """What the GPU's driver says; where there is no GPU, that of the toolkit."""
    found = None if _device.is_emulator() else _driver.driver_version()
    return get_cuda_toolkit_version() if found is None else (found // 1000, found % 1000 // 10)


def get_cuda_toolkit_version():
    """No toolkit is used: that whose functions are here."""
    return (13, 0)


def record_event(event=None, external=False):
    return get_stream().record_event(event, external)


def get_event_elapsed_time(start, end, synchronize=True):
    if start.at is None or end.at is None:
        return 0.0
    if start.device._on_gpu:
        return _driver.elapsed(start.cuda_event, end.cuda_event, synchronize)
    return 1e3 * (end.at - start.at)
