"""Which device's kernels reach which array's memory, and what is said of launches that are given others."""

import enum

from warp import arrays as _arrays
from warp import devices as _devices
from warp.memory import MemoryKind
from warp.types import StructInstance


class Access(enum.Enum):
    ACCESSIBLE, INACCESSIBLE, UNKNOWN = range(3)


def _known(answer):
    return Access.ACCESSIBLE if answer else Access.INACCESSIBLE


def allocator_of(array):
    return array.memory.allocator


def kind_of(array):
    return array.memory_kind


def _of_memory(array, device):
    from warp._src import context  # whose functions a program may have put others in the place of

    if array.device == device or array.size == 0:
        return Access.ACCESSIBLE
    kind = context._get_array_memory_kind(array)
    if array.device.is_cpu:
        pinned = kind is MemoryKind.PINNED and device.is_uva
        return _known(pinned or device.is_cpu_memory_access_from_gpu_supported)
    if kind is MemoryKind.UNKNOWN:
        return Access.UNKNOWN
    if device.is_cpu:
        owner = array.device
        return _known(kind is MemoryKind.CUDA_MANAGED and (owner.is_concurrent_managed_access_supported
                                                           or owner.is_gpu_memory_access_from_cpu_supported))
    if kind is MemoryKind.CUDA_MANAGED:
        return _known(device.is_managed_memory_supported)
    if kind is MemoryKind.CUDA_MEMPOOL:  # of a pool that nobody knows here nothing is known
        return Access.UNKNOWN if context._get_array_allocator(array) is None else _known(context.is_mempool_access_enabled(array.device, device))
    return _known(context.is_peer_access_enabled(array.device, device))


def arrays_in(value):
    """The arrays whose memory a kernel works on that is given the value."""
    if isinstance(value, StructInstance):
        return [one for field in value._struct.vars for one in arrays_in(value.__dict__[field])]
    if isinstance(value, _arrays.indexedarray):
        return [value.data, *[one for one in value.indices if one is not None]]
    return [value] if isinstance(value, _arrays.array) else []


def access_of(value, device):
    found = {_of_memory(one, device) for one in arrays_in(value)}
    return next((one for one in (Access.INACCESSIBLE, Access.UNKNOWN) if one in found), Access.ACCESSIBLE)


def can_access(device, resource):
    """Whether the device's kernels are known to reach the array's memory."""
    if isinstance(resource, _arrays.array_annotation_base) or not isinstance(resource, (_arrays.array, _arrays.indexedarray)):
        raise TypeError("wp.can_access() is asked of Warp arrays: give a concrete Warp array")
    return access_of(resource, _devices.get_device(device)) is Access.ACCESSIBLE


MOST_WARNINGS = 1024
warned = {}  # kernels, arguments and kinds of memory that a warning was given of


def warn_unknown(kernel, name, value, device):
    from warp._src import context

    kind = context._get_array_memory_kind(arrays_in(value)[0]).name
    key = kernel.key, name, kind, str(value.device), str(device)
    if key in warned:
        return
    while len(warned) >= MOST_WARNINGS:
        del warned[next(iter(warned))]
    warned[key] = True
    context.log_warning(f"Launching kernel '{kernel.key}' on device='{device}': cannot verify cross-device access to argument '{name}', which "
                        f"is on device={value.device} with memory_kind={kind}", category=UserWarning)


def check_launch(kernel, values, device):
    """By the setting launch_array_access_mode: nothing is asked, what is unreachable is refused, or all of another device's."""
    from warp import config
    from warp._src import context

    mode, modes = config.launch_array_access_mode, config.LaunchArrayAccessMode
    if mode is modes.RELAXED:
        return
    for name, value in zip(kernel.parameters, values):
        for one in arrays_in(value):
            if one.device == device:
                continue
            launch = f"Error launching kernel '{kernel.key}' on device='{device}'"
            facts = f"argument '{name}' is on device={one.device}, memory_kind={context._get_array_memory_kind(one).name}"
            if mode is modes.STRICT:
                raise RuntimeError(f"{launch} with LaunchArrayAccessMode.STRICT: {facts}; warp.config.LaunchArrayAccessMode.STRICT requires every "
                                   "Warp array argument to be allocated on the launch device: copy it there, or use "
                                   "warp.config.LaunchArrayAccessMode.CHECKED for what is reachable")
            facts = f"{launch}: {facts}"
            found = _of_memory(one, device)
            if found is Access.INACCESSIBLE:
                raise RuntimeError(f"{facts}; its memory is not accessible or cannot be verified: copy it to the device")
            if found is Access.UNKNOWN:
                context._warn_unknown_launch_array_access(kernel, name, one, device)


__all__ = ["can_access"]
