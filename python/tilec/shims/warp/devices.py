"""Devices: the one that kernels run on."""

import contextlib
import cProfile
import pstats
import sys
import time

from tilec import device as _device
from tilec import native as _native
from warp import graphs as _graphs


class Stream:
    """The default one."""

    cuda_stream = 0

    def __init__(self, device=None, **options):
        self.device = get_device(device)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class Event(Stream):
    def __init__(self, device=None, **options):
        super().__init__(device)
        self.at = time.perf_counter()


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
        self.is_mempool_supported = self.is_mempool_enabled = self.is_uva = self.is_primary = False
        self.sm_count = 132
        self.max_shared_memory_per_block = 232448
        self.total_memory = self.free_memory = 80 << 30
        self.context = None
        self.captures = {}

    @property
    def stream(self):
        return _stream(self) if self.is_cuda else None

    null_stream = stream
    has_stream = True

    @property
    def is_capturing(self):
        return _graphs.is_capturing()

    def can_access(self, other):
        return self == other

    def get_cuda_compile_arch(self):
        return self.arch or None

    def get_stream(self):
        return Stream(self)

    def make_current(self):
        pass

    def __eq__(self, other):
        return isinstance(other, (Device, str)) and self.alias == str(other)

    def __hash__(self):
        return hash(self.alias)

    def __str__(self):
        return self.alias

    __repr__ = __str__


_known = {}


def get_device(ident=None):
    if isinstance(ident, Device):
        return ident
    alias = "cuda:0" if ident in (None, "cuda") or not isinstance(ident, str) else ident
    if alias.partition(":")[0] not in ("cuda", "cpu"):
        raise ValueError(f"Invalid device identifier: {ident}")
    if alias not in _known:
        _known[alias] = Device(alias)
    return _known[alias]


get_preferred_device = device_from_torch = get_device


def get_devices():
    return get_cuda_devices()


def get_cuda_devices():
    return [get_device("cuda:0")]


def get_cuda_device(ordinal=None):
    return get_device("cuda:0")


def get_cuda_device_count():
    return 1


def is_cuda_available():
    return True


def is_cpu_available():
    return False


def is_cuda_driver_initialized():
    return True


def is_device_available(device):
    return get_device(device).is_cuda


def device_to_torch(device):
    return "cpu" if _device.is_emulator() else str(get_device(device))


def set_device(ident):
    get_device(ident)


def synchronize(*ignored):
    _native.check(_native.synchronize(None))


synchronize_device = synchronize_stream = synchronize_event = synchronize


class ScopedDevice(contextlib.AbstractContextManager):
    def __init__(self, device=None, *more):
        self.device = get_device(device)

    def __enter__(self):
        return self.device

    def __exit__(self, *ignored):
        return None


class ScopedStream(ScopedDevice):
    def __init__(self, stream=None, *more, **options):
        self.device = stream


class ScopedTimer(contextlib.AbstractContextManager):
    enabled = True

    def __init__(self, name, active=True, print=True, detailed=False, dict=None, use_nvtx=False, synchronize=False, **options):
        self.name, self.active, self.print, self.dict = name, active, print, dict
        self.profile = cProfile.Profile() if detailed and active else None

    def __enter__(self):
        self.start = time.perf_counter()
        if self.profile is not None:
            self.profile.enable()
        return self

    def __exit__(self, *ignored):
        if self.profile is not None:
            self.profile.disable()
        synchronize()
        self.elapsed = 1e3 * (time.perf_counter() - self.start)
        if self.profile is not None:
            pstats.Stats(self.profile, stream=sys.stdout).sort_stats("cumulative").print_stats()
        if self.active and self.dict is not None:
            self.dict.setdefault(self.name, []).append(self.elapsed)
        if self.active and self.print:
            print(f"{self.name} took {self.elapsed:.2f} ms")


_streams = {}


def _stream(device):
    """The one that a device has."""
    if device.alias not in _streams:
        _streams[device.alias] = Stream(device)
    return _streams[device.alias]


def get_stream(device=None):
    return _stream(get_device(device))


def set_stream(stream, device=None, sync=False):
    get_device(device)


# ---- memory of the device: no pool is in use, and no memory is another device's ----


def _never():
    def said(*devices, **options):
        for one in devices:
            get_device(one)
        return False

    return said


is_mempool_supported, is_mempool_enabled = _never(), _never()
is_mempool_access_supported, is_mempool_access_enabled = _never(), _never()
is_peer_access_supported, is_peer_access_enabled = _never(), _never()
is_conditional_graph_supported = _never()
for _said in (is_mempool_supported, is_mempool_enabled, is_mempool_access_supported, is_mempool_access_enabled, is_peer_access_supported,
              is_peer_access_enabled, is_conditional_graph_supported):
    _said.__module__ = __name__


def get_cuda_driver_version():
    return (13, 0)


def get_cuda_toolkit_version():
    return (13, 0)


def record_event(event=None):
    return event or Event()


def get_event_elapsed_time(start, end, synchronize=True):
    return 1e3 * (end.at - start.at)
