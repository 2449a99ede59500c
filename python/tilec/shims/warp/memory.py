"""Memory of devices: who allocates it, what kind it is, and how much of it lives."""

import collections
import contextlib
import ctypes
import enum
import os
import sys
import threading
from typing import Protocol, runtime_checkable

import numpy

from tilec import device as _tile_device
from tilec import native as _native
from warp import driver as _driver


class MemoryKind(enum.IntEnum):
    UNKNOWN, HOST, PINNED, CUDA_DEVICE, CUDA_MEMPOOL, CUDA_MANAGED = range(6)


@runtime_checkable
class Allocator(Protocol):
    def allocate(self, size_in_bytes): ...

    def deallocate(self, ptr, size_in_bytes): ...


class _Host:
    """Bytes of numpy's."""

    memory_kind = MemoryKind.HOST

    def __init__(self):
        self.kept = {}

    def allocate(self, size_in_bytes):
        made = numpy.zeros(max(size_in_bytes, 1), numpy.uint8)
        pointer = made.ctypes.data
        self.kept[pointer] = made
        return pointer

    def deallocate(self, ptr, size_in_bytes):
        self.kept.pop(ptr, None)


# CUpointer_attribute: the kind of memory, whether it is managed, whose pool it is of.
_MEMORY_TYPE, _IS_MANAGED, _POOL_HANDLE = 2, 8, 17
_OF_HOST, _OF_DEVICE = 1, 2


def kind_of_pointer(pointer):
    """What the driver says of an address."""

    def attribute_of(kind, which):
        return _driver.asked("cuPointerGetAttribute", kind, ctypes.c_int(which), ctypes.c_uint64(pointer))

    if _tile_device.is_emulator():
        return next((one.memory_kind for one in (*emulated.values(), pinned, host) if pointer in one.kept), MemoryKind.UNKNOWN)
    if attribute_of(ctypes.c_int, _IS_MANAGED):
        return MemoryKind.CUDA_MANAGED
    found = attribute_of(ctypes.c_int, _MEMORY_TYPE)
    if found == _OF_DEVICE:
        return MemoryKind.CUDA_MEMPOOL if attribute_of(ctypes.c_void_p, _POOL_HANDLE) else MemoryKind.CUDA_DEVICE
    return MemoryKind.PINNED if found == _OF_HOST else MemoryKind.UNKNOWN


def of_host(pages):
    """Bytes of the host's memory: all pages, or those that are free."""
    return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")


class _InUse:
    """Bytes of the device's memory that arrays have."""

    now = most = 0

    def add(self, count):
        self.now += count
        self.most = max(self.most, self.now)


in_use = _InUse()


class _Pinned(_Host):
    """The host's, where a GPU reaches it."""

    memory_kind = MemoryKind.PINNED

    def allocate(self, size_in_bytes):
        if _tile_device.is_emulator():
            return super().allocate(size_in_bytes)
        pointer = ctypes.c_void_p()
        with _driver.current() as cuda:
            if cuda.cuMemHostAlloc(ctypes.byref(pointer), ctypes.c_size_t(max(size_in_bytes, 1)), 0):
                raise RuntimeError(f"Failed to allocate {size_in_bytes} bytes of pinned memory")
        ctypes.memset(pointer, 0, max(size_in_bytes, 1))
        self.kept[pointer.value] = numpy.asarray(_PinnedBlock(pointer.value, max(size_in_bytes, 1)))
        return pointer.value


class _PinnedBlock:
    """Which numpy's views of it keep."""

    def __init__(self, pointer, count):
        self.pointer = pointer
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (count,), "data": (pointer, False)}

    def __del__(self):
        if _driver is None or None in (_native, _driver.current):  # the interpreter is shutting down, and the process gives all of it back
            return
        with _driver.current() as cuda:
            cuda.cuMemFreeHost(ctypes.c_void_p(self.pointer))


def allocate_managed(context, size_in_bytes):
    """An address, None where there is none."""
    pointer = ctypes.c_uint64()
    if _tile_device.is_emulator():
        return None
    with _driver.current() as cuda:
        status = cuda.cuMemAllocManaged(ctypes.byref(pointer), ctypes.c_size_t(max(size_in_bytes, 1)), 1)
    return None if status else pointer.value


def free_managed(context, pointer):
    with _driver.current() as cuda:
        cuda.cuMemFree_v2(ctypes.c_uint64(pointer))


class CudaManagedAllocator:
    """Memory that moves between the host and a GPU."""

    memory_kind = MemoryKind.CUDA_MANAGED

    def allocate(self, size_in_bytes):
        from warp._src.context import runtime

        pointer = runtime.core.wp_alloc_device_managed(None, size_in_bytes)
        if not pointer:
            said = runtime.get_error_string()
            raise RuntimeError(f"Failed to allocate {size_in_bytes} bytes with CudaManagedAllocator" + (f": {said}" if said else ""))
        return pointer

    def deallocate(self, ptr, size_in_bytes):
        from warp._src.context import runtime

        runtime.core.wp_free_device_default(runtime.core.wp_cuda_context_get_current(), ptr)


class CudaDefaultAllocator:
    """The driver's."""

    memory_kind = MemoryKind.CUDA_DEVICE

    def allocate(self, size_in_bytes):
        pointer = ctypes.c_void_p()
        _native.check(_native.alloc(pointer, max(size_in_bytes, 1)))
        return pointer.value

    def deallocate(self, ptr, size_in_bytes):
        _native.free(ptr)


class CudaMempoolAllocator:
    """The driver's pool of a device, in the default stream's order."""

    memory_kind = MemoryKind.CUDA_MEMPOOL

    def allocate(self, size_in_bytes):
        pointer = ctypes.c_uint64()
        with _driver.current() as cuda:
            status = cuda.cuMemAllocAsync(ctypes.byref(pointer), ctypes.c_size_t(max(size_in_bytes, 1)), None)
        if status:
            raise RuntimeError(f"Failed to allocate {size_in_bytes} bytes on the GPU: {_driver.error_text(status)}")
        return pointer.value

    def deallocate(self, ptr, size_in_bytes):
        """Other libraries' streams may still work on it: all of them are waited for, as where memory of no pool is freed."""
        from warp import graphs

        with _driver.current() as cuda:
            if not graphs.is_capturing():
                cuda.cuCtxSynchronize()
            cuda.cuMemFreeAsync(ctypes.c_uint64(ptr), None)


class _Emulated(_Host):
    """The host's, in the place of a device's."""

    def __init__(self, kind):
        super().__init__()
        self.memory_kind = kind


host, pinned, default, pool = _Host(), _Pinned(), CudaDefaultAllocator(), CudaMempoolAllocator()
emulated = {kind: _Emulated(kind) for kind in (MemoryKind.CUDA_DEVICE, MemoryKind.CUDA_MEMPOOL)}


def of_device(device):
    """The allocator that a device has by itself."""
    if device.is_cpu:
        return host
    chosen = pool if device.is_mempool_enabled else default
    return chosen if device._on_gpu else emulated[chosen.memory_kind]


def default_of(device):
    """The same without a pool."""
    return default if device._on_gpu else emulated[MemoryKind.CUDA_DEVICE]


# ---- which one is used ----

_chosen = {}  # by the device's name


def get_device_allocator(device=None):
    from warp.devices import get_device

    device = get_device(device)
    return _chosen.get(device.alias) or of_device(device)


def set_device_allocator(device, allocator):
    from warp.devices import get_device

    device = get_device(device)
    if device.is_cpu:
        raise RuntimeError("the allocator of the CPU's memory is not chosen: give a CUDA device")
    if allocator is None:
        _chosen.pop(device.alias, None)
    else:
        _chosen[device.alias] = allocator


def set_cuda_allocator(allocator):
    from warp.devices import get_cuda_devices

    for device in get_cuda_devices():
        set_device_allocator(device, allocator)


class ScopedAllocator(contextlib.AbstractContextManager):
    def __init__(self, device, allocator):
        self.device, self.allocator = device, allocator

    def __enter__(self):
        from warp.devices import get_device

        self.before = _chosen.get(get_device(self.device).alias)
        set_device_allocator(self.device, self.allocator)
        return self

    def __exit__(self, *ignored):
        set_device_allocator(self.device, self.before)


# ---- what lives ----


class Tracker:
    """Allocations since it was cleared, by their addresses, with the scopes that they were made in."""

    def __init__(self):
        self.lock = threading.RLock()
        self.scopes = threading.local()
        self.users = 0
        self.clear()

    def clear(self):
        self.live = {}
        self.total_count = self.total_bytes = self.bytes = self.peak = 0
        self.scoped = collections.Counter()
        self.scoped_bytes = collections.Counter()

    @property
    def is_enabled(self):
        import warp

        return self.users > 0 or bool(warp.config.track_memory)

    def enable(self, enabled=True):
        self.users = max(0, self.users + (1 if enabled else -1))

    def stack(self):
        if not hasattr(self.scopes, "names"):
            self.scopes.names = []
        return self.scopes.names

    @contextlib.contextmanager
    def inside_of(self, owner):
        """What is allocated meanwhile is of a mesh or such itself, and no array of the program's."""
        before, self.scopes.owner = getattr(self.scopes, "owner", None), owner
        try:
            yield
        finally:
            self.scopes.owner = before

    def add(self, pointer, count, kind, what):
        if not count or not self.is_enabled:
            return
        owner = getattr(self.scopes, "owner", None)
        what = what if owner is None else f"{what} (native:{owner})"
        scope = "/".join(self.stack())
        with self.lock:
            self.live[pointer] = count, kind, scope, what, _caller()
            self.total_count += 1
            self.total_bytes += count
            self.bytes += count
            self.peak = max(self.peak, self.bytes)
            self.scoped[scope] += 1
            self.scoped_bytes[scope] += count

    def remove(self, pointer):
        with self.lock:
            found = self.live.pop(pointer, None)
            if found is not None:
                self.bytes -= found[0]

    def text(self, sort_order=0, max_items=10):
        with self.lock:
            lines = ["Allocation Tracking Report", f"  Total allocations: {self.total_count} ({self.total_bytes} bytes)",
                     f"  Live allocations: {len(self.live)} ({self.bytes} bytes)", f"  Peak: {self.peak} bytes"]
            for scope in sorted(self.scoped):
                lines.append(f"  {scope or '(no scope)'}: {self.scoped[scope]} allocations, {self.scoped_bytes[scope]} bytes")
            found = list(self.live.values())
            if sort_order == 0:
                found.sort(key=lambda one: -one[0])
            for count, kind, scope, what, place in found[:max_items]:
                lines.append(f"    {count} bytes  {kind}  {what}  {place}  {scope}")
        return "\n".join(lines) + "\n"


def _caller():
    frame = sys._getframe(1)
    while frame is not None and "/shims/warp/" in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "?"


tracker = Tracker()


class ScopedMemoryTracker(contextlib.AbstractContextManager):
    """What is allocated inside of it, told at its end."""

    def __init__(self, name, print=True, **options):
        self.name, self.print, self.options = name, print, options

    def __enter__(self):
        tracker.users += 1
        tracker.stack().append(self.name)
        return self

    def __exit__(self, *ignored):
        tracker.stack().pop()
        tracker.users -= 1
        if self.print:
            self.report()

    def report(self, file=None, **options):
        print(tracker.text(), file=file or sys.stdout)

    def clear(self):
        tracker.clear()


def print_memory_report(file=None, **options):
    if not tracker.is_enabled:
        raise RuntimeError("memory is not tracked: set wp.config.track_memory, or use wp.ScopedMemoryTracker")
    print(tracker.text(), file=file or sys.stdout)


__all__ = ["CudaManagedAllocator", "MemoryKind", "ScopedAllocator", "ScopedMemoryTracker", "get_device_allocator", "print_memory_report", "set_cuda_allocator",
           "set_device_allocator"]
