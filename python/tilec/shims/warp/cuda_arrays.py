"""CUDA's driver: arrays of texels, texture objects and surfaces."""

import ctypes

import numpy

from tilec import native as _native
from warp import devices as _devices
from warp import driver as _driver

_SURFACE_LOAD_STORE, _NORMALIZED = 2, 2  # CUDA_ARRAY3D_SURFACE_LDST, CU_TRSF_NORMALIZED_COORDINATES
_OF_ARRAY, _OF_MIPMAPPED_ARRAY = 0, 1  # CUresourcetype
_HOST, _DEVICE, _ARRAY = 1, 2, 3  # CUmemorytype


class _ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("width", "height", "depth")] + [
        ("format", ctypes.c_uint), ("channels", ctypes.c_uint), ("flags", ctypes.c_uint)]


class _Resource(ctypes.Structure):
    """CUDA_RESOURCE_DESC of an array."""

    _fields_ = [("kind", ctypes.c_uint), ("array", ctypes.c_void_p), ("rest", ctypes.c_uint8 * 120), ("flags", ctypes.c_uint)]


class _Sampling(ctypes.Structure):
    """CUDA_TEXTURE_DESC."""

    _fields_ = [("address", ctypes.c_uint * 3), ("filter", ctypes.c_uint), ("flags", ctypes.c_uint), ("anisotropy", ctypes.c_uint),
                ("mip_filter", ctypes.c_uint), ("bias", ctypes.c_float), ("least", ctypes.c_float), ("most", ctypes.c_float),
                ("border", ctypes.c_float * 4), ("reserved", ctypes.c_int * 12)]


def _end(prefix):
    word = [("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t), ("level", ctypes.c_size_t), ("kind", ctypes.c_uint),
            ("host", ctypes.c_void_p), ("device", ctypes.c_uint64), ("array", ctypes.c_void_p), ("reserved", ctypes.c_void_p),
            ("pitch", ctypes.c_size_t), ("height", ctypes.c_size_t)]
    return [(f"{prefix}_{name}", kind) for name, kind in word]


class _Copy(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = [*_end("source"), *_end("target"), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t)]

    def set(self, end, kind, address, pitch, rows):
        setattr(self, f"{end}_kind", kind)
        setattr(self, f"{end}_{'host' if kind == _HOST else 'device' if kind == _DEVICE else 'array'}", address)
        if kind != _ARRAY:
            setattr(self, f"{end}_pitch", pitch)
            setattr(self, f"{end}_height", rows)


def _check(status, what):
    if status:
        raise RuntimeError(f"CUDA's driver does not {what}: error {status}")


def array_facts(handle, dtypes, formats):
    """The dimensions, extents, channels and dtype of an array."""
    found = _ArrayDescriptor()
    with _driver.current() as cuda:
        status = cuda.cuArray3DGetDescriptor_v2(ctypes.byref(found), ctypes.c_void_p(handle))
    if status or found.format not in formats:
        raise RuntimeError(f"Failed to get descriptor for cuda_array {handle}")
    extents = [extent for extent in (found.width, found.height, found.depth) if extent]
    return len(extents), tuple(extents), found.channels, dtypes[formats.index(found.format)]


class Image:
    """Texels in an array, or in one for each mip level."""

    def __init__(self, dims, extents, channels, dtype, levels, surface=False):
        from warp.textures import _DTYPES, _FORMATS

        self._describe(dims, extents, channels, dtype)
        self.is_mipmapped, self.surface_handle = levels > 1, 0
        given = [*extents[:dims], 0, 0]
        asked = _ArrayDescriptor(*given[:3], _FORMATS[_DTYPES.index(dtype)], channels, _SURFACE_LOAD_STORE if surface else 0)
        handle = ctypes.c_void_p()
        with _driver.current() as cuda:
            if self.is_mipmapped:
                _check(cuda.cuMipmappedArrayCreate(ctypes.byref(handle), ctypes.byref(asked), ctypes.c_uint(levels)), "make a mipmapped array")
            else:
                _check(cuda.cuArray3DCreate_v2(ctypes.byref(handle), ctypes.byref(asked)), "make an array")
        self.array = handle.value

    def _describe(self, dims, extents, channels, dtype):
        self.dims, self.extents, self.channels, self.dtype = dims, extents, channels, dtype
        self.texel = channels * dtype._numpy.itemsize

    @classmethod
    def of(cls, handle):
        """Somebody else's array."""
        from warp.textures import _DTYPES, _FORMATS

        made = cls.__new__(cls)
        dims, extents, channels, dtype = array_facts(handle, _DTYPES, _FORMATS)
        made._describe(dims, (*extents, 1, 1)[:3], channels, dtype)
        made.is_mipmapped, made.surface_handle, made.array = False, 0, handle
        return made

    def close(self):
        with _driver.current() as cuda:
            if self.surface_handle:
                cuda.cuSurfObjectDestroy(ctypes.c_uint64(self.surface_handle))
            (cuda.cuMipmappedArrayDestroy if self.is_mipmapped else cuda.cuArrayDestroy)(ctypes.c_void_p(self.array))

    # ---- copies ----

    def _run(self, copy, extents):
        copy.width, copy.height, copy.depth = extents[0] * self.texel, extents[1], extents[2]
        stream = ctypes.c_void_p(_devices.current_handle())
        with _driver.current() as cuda:
            _check(cuda.cuMemcpy3DAsync_v2(ctypes.byref(copy), stream), "copy texels")

    def write(self, level, values):
        array = ctypes.c_void_p(self.array)
        if self.is_mipmapped:
            with _driver.current() as cuda:
                _check(cuda.cuMipmappedArrayGetLevel(ctypes.byref(array), ctypes.c_void_p(self.array), ctypes.c_uint(level)), "find a mip level")
        extents = [max(extent >> level, 1) for extent in self.extents]
        values = numpy.ascontiguousarray(values)
        copy = _Copy()
        copy.set("source", _HOST, values.ctypes.data, extents[0] * self.texel, extents[1])
        copy.set("target", _ARRAY, array.value, 0, 0)
        self._run(copy, extents)
        _native.check(_native.synchronize(_devices.current_handle()))

    def copy(self, other, into):
        """From other's texels, or into them: an image, numpy's array or one of Warp's."""
        copy = _Copy()
        ends = ("target", "source") if into else ("source", "target")
        on_host = isinstance(other, numpy.ndarray) or hasattr(other, "memory") and not other.memory.on_gpu
        if isinstance(other, Image):
            copy.set(ends[0], _ARRAY, other.array, 0, 0)
        else:
            address = other.ctypes.data if isinstance(other, numpy.ndarray) else other.ptr
            copy.set(ends[0], _HOST if on_host else _DEVICE, address, self.extents[0] * self.texel, self.extents[1])
        copy.set(ends[1], _ARRAY, self.array, 0, 0)
        self._run(copy, self.extents)
        if on_host:
            _native.check(_native.synchronize(_devices.current_handle()))

    # ---- objects ----

    def _resource(self):
        return _Resource(_OF_MIPMAPPED_ARRAY if self.is_mipmapped else _OF_ARRAY, self.array)

    def sampler(self, options):
        return _Sampler(self, options)

    def surface(self):
        if not self.surface_handle:
            made = ctypes.c_uint64()
            with _driver.current() as cuda:
                _check(cuda.cuSurfObjectCreate(ctypes.byref(made), ctypes.byref(self._resource())), "make a surface")
            self.surface_handle = made.value
        return self.surface_handle


class _Sampler:
    """A texture object."""

    def __init__(self, image, options):
        self.image = image
        asked = _Sampling(tuple(options.address), options.filter, _NORMALIZED if options.normalized else 0, 0,
                          options.mip_filter if image.is_mipmapped else 0, 0, 0, 32 if image.is_mipmapped else 0)
        made = ctypes.c_uint64()
        with _driver.current() as cuda:
            _check(cuda.cuTexObjectCreate(ctypes.byref(made), ctypes.byref(image._resource()), ctypes.byref(asked), None), "make a texture object")
        self.handle = made.value

    def close(self):
        with _driver.current() as cuda:
            cuda.cuTexObjectDestroy(ctypes.c_uint64(self.handle))
