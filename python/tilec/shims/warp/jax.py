"""JAX's devices, types and arrays as Warp's, and the other way."""

import numpy

from tilec import device as _device
from warp import dlpack as _dlpack
from warp import types as _types


def device_to_jax(device):
    """JAX's device of this process that has the ordinal of Warp's; on the emulator, whose memory is the host's, the CPU."""
    import jax
    import warp

    found = warp.get_device(device)
    on_gpu = found.is_cuda and not _device.is_emulator()
    try:
        devices = jax.local_devices(backend="cuda" if on_gpu else "cpu")
    except RuntimeError:
        devices = []
    for one in devices:
        if not on_gpu or one.local_hardware_id == found.ordinal:
            return one
    raise RuntimeError(f"JAX's device of {device!r} is not available in this process")


def device_from_jax(device):
    """Warp's device of the ordinal that JAX's has in this process."""
    import jax
    import warp

    if device.platform == "cpu":
        return warp.get_device("cuda:0" if _device.is_emulator() else "cpu")
    if device.platform not in ("gpu", "cuda"):
        raise RuntimeError(f"Warp has no device of the platform {device.platform!r}")
    if device.process_index != jax.process_index() or device.local_hardware_id is None:
        raise RuntimeError(f"JAX's device {device.id} belongs to process {device.process_index}, this is process {jax.process_index()}")
    return warp.get_cuda_device(device.local_hardware_id)


def dtype_to_jax(kind):
    import jax.numpy

    kind = _types.as_type(kind)
    name = kind.__name__
    found = getattr(jax.numpy, "bool_" if name == "bool" else name, None)
    if found is None:
        raise TypeError(f"JAX has no type for {kind}")
    return found


def dtype_from_jax(kind):
    import jax.numpy

    if numpy.dtype(kind) == numpy.dtype(jax.numpy.bfloat16):
        return _types.bfloat16
    return _types.as_type(numpy.dtype(kind))


def to_jax(source):
    """JAX's array on the same memory."""
    import jax.dlpack

    return jax.dlpack.from_dlpack(source)


def from_jax(source, dtype=None):
    """Warp's array on the memory of JAX's, whose last extents may be those of vectors or matrices."""
    import jax

    jax.block_until_ready(source)
    return _dlpack.from_dlpack(source, dtype)


__all__ = ["device_from_jax", "device_to_jax", "dtype_from_jax", "dtype_to_jax", "from_jax", "to_jax"]
