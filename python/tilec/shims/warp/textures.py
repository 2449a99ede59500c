"""Textures: arrays of the driver's with texture objects, or, for the emulator, texels in the host's memory and their description."""

import ctypes
import enum
import itertools

import numpy

from tilec import native as _native
from tilec import session as _session
from tilec.session import Remote as _Remote
from tilec.session import Text as _Text
from warp import devices as _devices
from warp import cuda_arrays as _cuda_arrays
from warp import graphs as _graphs
from warp import types as _types


class TextureFilterMode(enum.IntEnum):
    CLOSEST, LINEAR = range(2)


class TextureAddressMode(enum.IntEnum):
    WRAP, CLAMP, MIRROR, BORDER = range(4)


def _mode(kind, value, what):
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"Invalid texture {what}: {value!r}") from None


# ---- what kernels are given ----

# As the dialect counts them: warp/textures.tile; beside the driver's formats (CUarray_format).
_DTYPES = [_types.uint8, _types.uint16, _types.uint32, _types.int8, _types.int16, _types.int32, _types.float16, _types.float32]
_FORMATS = [1, 2, 3, 8, 9, 10, 16, 32]
_BITS = {"num_channels": (0, 3), "dtype": (3, 3), "filter_mode": (6, 1), "mip_filter_mode": (7, 1), "num_mip_levels": (8, 5),
         "use_normalized_coords": (13, 1), "address_mode_u": (14, 2), "address_mode_v": (16, 2), "address_mode_w": (18, 2)}


def _packed(values):
    return sum([int(value) << _BITS[name][0] for name, value in values.items()])


class _Descriptor(ctypes.Structure):
    def __init__(self, tex=0, *given):
        extents = [name for name, _ in self._fields_[1:-1]]
        given = [*given, *[0] * (len(extents) + len(_BITS) - len(given))]
        super().__init__(tex, *given[: len(extents)], _packed(dict(zip(_BITS, given[len(extents) :]))))

    def __getattr__(self, name):
        if name not in _BITS:
            raise AttributeError(name)
        begin, count = _BITS[name]
        return self.metadata >> begin & (1 << count) - 1


_EXTENTS = ("width", "height", "depth")


def _descriptor(dims):
    extents = [(name, ctypes.c_int32) for name in _EXTENTS[:dims]]
    return type(f"texture{dims}d_t", (_Descriptor,), {"_fields_": [("tex", ctypes.c_uint64), *extents, ("metadata", ctypes.c_uint32)]})


texture1d_t, texture2d_t, texture3d_t = [_descriptor(dims) for dims in (1, 2, 3)]


# ---- texels ----


class _HostImage:
    """Texels in the host's memory, which the emulator reads. Handles are numbers of their own, as those of the driver are."""

    _handles = itertools.count(1)
    _made = {}

    def __init__(self, dims, extents, channels, dtype, levels, surface=False):
        self.dims, self.extents, self.channels, self.dtype = dims, extents, channels, dtype
        self.levels = [numpy.zeros(_level_shape(extents, channels, level), dtype._numpy) for level in range(levels)]
        self.array = next(_HostImage._handles)
        self.surface_handle = next(_HostImage._handles) if surface else 0
        _HostImage._made[self.array] = self

    @staticmethod
    def of(handle):
        if handle not in _HostImage._made:
            raise RuntimeError(f"Failed to get descriptor for cuda_array {handle}")
        return _HostImage._made[handle]

    def close(self):
        _HostImage._made.pop(self.array, None)

    def write(self, level, values):
        self.levels[level][...] = values.reshape(self.levels[level].shape)

    def copy(self, other, into):
        """From other's texels, or into them: an image, numpy's array or one of Warp's."""
        if into:
            values = self.levels[0]
            if isinstance(other, _HostImage):
                other.write(0, values)
            elif isinstance(other, numpy.ndarray):
                other[...] = values.reshape(other.shape)
            else:
                other._store(values.reshape(other.shape + _types.inner_shape(other.dtype)))
        elif isinstance(other, _HostImage):
            self.write(0, other.levels[0])
        else:
            self.write(0, other if isinstance(other, numpy.ndarray) else other.numpy())

    def sampler(self, options):
        return _HostSampler(self, options)

    def surface(self):
        return self.surface_handle


class _HostTexture(ctypes.Structure):
    """tile_emulator_texture."""

    _fields_ = [("levels", ctypes.POINTER(ctypes.c_void_p)), ("level_count", ctypes.c_uint32), ("extents", ctypes.c_uint32 * 3),
                ("channels", ctypes.c_uint32), ("format", ctypes.c_uint32), ("address", ctypes.c_uint32 * 3), ("linear", ctypes.c_uint32),
                ("linear_levels", ctypes.c_uint32), ("normalized", ctypes.c_uint32)]


class _HostSampler:
    def __init__(self, image, options):
        self.image = image
        self.levels = (ctypes.c_void_p * len(image.levels))(*[level.ctypes.data for level in image.levels])
        self.described = _HostTexture(self.levels, len(image.levels), image.extents, image.channels, _FORMATS[_DTYPES.index(image.dtype)],
                                      tuple(options.address), options.filter, options.mip_filter, options.normalized)
        self.handle = ctypes.addressof(self.described)

    def close(self):
        pass


def _level_extents(extents, level):
    return tuple([max(extent >> level, 1) for extent in extents])


def _level_shape(extents, channels, level=0):
    """Of numpy's array with all dimensions."""
    return (*reversed(_level_extents(extents, level)), channels)


class _Options:
    """How texels are read."""

    def __init__(self, filter, mip_filter, address, normalized):
        self.filter, self.mip_filter, self.address, self.normalized = filter, mip_filter, address, normalized


# ---- textures ----


class _TextureType(_types.Struct, type):
    """A class of textures, which is, for kernels, a struct."""

    def __init__(cls, name, bases, names):
        type.__init__(cls, name, bases, names)
        cls.key, cls.cls, cls.remote, cls.typed = name, cls, None, frozenset()
        extents = {name: _types.int32 for name in _EXTENTS[: cls._dims]}
        cls.vars = {"tex": _types.uint64, **extents, "metadata": _types.uint32}
        cls.instance = cls

    __call__ = type.__call__
    __repr__ = type.__repr__

    def initial(cls):
        """A field's that nobody gave a value."""
        made = cls.__new__(cls)
        made.__dict__.update({name: 0 for name in cls.vars})
        return made

    def __tile_remote__(cls):
        if cls.remote is None:
            cls.remote = _Remote(_Text(_session.module("warp"), f".{cls.__name__}"))
        return cls.remote


def _known_dtype(dtype):
    kind = _types.as_type(dtype)
    if kind not in _DTYPES:
        raise ValueError(f"a texture's dtype is one of {', '.join([one.__name__ for one in _DTYPES])}, not {_types.type_repr(kind)}")
    return kind


def _facts(data, dims):
    """Extents, channels and dtype of an array's texels."""
    shape, dtype = tuple(data.shape), data.dtype
    if isinstance(data, numpy.ndarray):
        dtype = _types.as_type(dtype)
    elif _types.inner_shape(dtype):
        shape, dtype = shape + _types.inner_shape(dtype), dtype._dtype
    if len(shape) not in (dims, dims + 1):
        raise ValueError(f"the data of a {dims}D texture has {dims} dimensions, or one more for the channels, not {len(shape)}")
    return tuple(reversed(shape[:dims])), shape[dims] if len(shape) > dims else 1, _known_dtype(dtype)


def _halved(data, dims):
    """Each texel of the next level is the mean of those that it lies over, two along each dimension."""
    made = data.astype(numpy.float64)
    for axis in range(dims):
        count = made.shape[axis]
        if count > 1:
            pairs = numpy.take(made, range(count // 2 * 2), axis).reshape(*made.shape[:axis], count // 2, 2, *made.shape[axis + 1 :])
            made = pairs.mean(axis + 1)
    return (made if data.dtype.kind == "f" else numpy.rint(made)).astype(data.dtype)


class Texture(_types.StructInstance, metaclass=_TextureType):
    """An array of texels of one to three dimensions, which kernels sample."""

    _dims = 0
    _sampler = _image = None
    _owns = False

    def __init__(self, data=None, width=0, height=0, depth=0, num_channels=0, dtype=None, filter_mode=None,
                 address_mode=TextureAddressMode.CLAMP, address_mode_u=None, address_mode_v=None, address_mode_w=None,
                 normalized_coords=True, num_mip_levels=1, mip_filter_mode=None, device=None, surface_access=False, cuda_array=0):
        if not self._dims:
            raise TypeError("textures are of the classes Texture1D, Texture2D and Texture3D")
        self.device = _devices.get_device(device)
        self._find_facts(data, (width, height, depth)[: self._dims], num_channels, dtype, cuda_array)
        self._levels = self._level_count(num_mip_levels)
        self._find_modes(filter_mode, mip_filter_mode, address_mode, (address_mode_u, address_mode_v, address_mode_w))
        self._normalized = bool(normalized_coords)
        self._check_levels(data, cuda_array, surface_access)
        self._surface_access = bool(surface_access)
        self._make(data, cuda_array)
        self.__dict__.update(zip(_EXTENTS, self._extents))
        self.__dict__.update(tex=self._sampler.handle, metadata=self.__ctype__().metadata)

    __setattr__ = object.__setattr__

    # ---- making ----

    def _find_facts(self, data, extents, channels, dtype, handle):
        found = None
        if handle:
            if not self.device.is_cuda:
                raise ValueError("an array of CUDA's needs a CUDA device")
            dims, *found = _cuda_arrays.array_facts(handle, _DTYPES, _FORMATS) if self.device._on_gpu else _host_facts(handle)
            if dims != self._dims:
                raise ValueError(f"the array has {dims} dimensions, and the texture {self._dims}")
        if data is not None:
            if not hasattr(data, "shape") or not hasattr(data, "dtype"):
                raise ValueError("a texture is made of an array, Warp's or numpy's")
            given = _facts(data, self._dims)
            if found is not None and tuple(found) != given:
                raise ValueError("the data has another shape or dtype than the array")
            found = given
        if found is None:
            found = extents, channels or 1, _known_dtype(_types.float32 if dtype is None else dtype)
        for name, asked, extent in zip(_EXTENTS, extents, found[0]):
            if extent < 1:
                raise ValueError(f"Texture {name} must be a positive integer")
            if asked and asked != extent:
                raise ValueError(f"the data's {name} is {extent}, not {asked}")
        if channels and channels != found[1] or dtype is not None and _types.as_type(dtype) is not found[2]:
            raise ValueError("the data has another number of channels or dtype than what is asked for")
        if found[1] not in (1, 2, 4):
            raise ValueError(f"a texel has 1, 2 or 4 channels, not {found[1]}")
        self._extents, self._channels, self._dtype = tuple(found[0]), found[1], found[2]

    def _level_count(self, asked):
        most = max(self._extents).bit_length()
        if asked < 0 or asked > most:
            raise ValueError(f"num_mip_levels is from 0, which is all, to {most} for a texture of this size, not {asked}")
        return asked or most

    def _find_modes(self, filter_mode, mip_filter_mode, address_mode, of_axes):
        whole = self._dtype in (_types.uint32, _types.int32)
        usual = TextureFilterMode.CLOSEST if whole else TextureFilterMode.LINEAR
        self._filter = usual if filter_mode is None else _mode(TextureFilterMode, filter_mode, "filter mode")
        self._mip_filter = usual if mip_filter_mode is None else _mode(TextureFilterMode, mip_filter_mode, "mip filter mode")
        if whole and self._filter != usual:
            raise ValueError("integers of 32 bits are not blended: their filter_mode is CLOSEST")
        if whole and self._mip_filter != usual and self._levels > 1:
            raise ValueError("integers of 32 bits are not blended: their mip_filter_mode is CLOSEST")
        given = list(address_mode) if isinstance(address_mode, (tuple, list)) else [address_mode] * self._dims
        if len(given) < self._dims:
            raise ValueError(f"Invalid texture address mode: {len(given)} for {self._dims} dimensions")
        asked = [one if own is None else own for one, own in zip(given, of_axes)]
        asked += [TextureAddressMode.CLAMP] * (3 - len(asked))
        self._address = [_mode(TextureAddressMode, one, "address mode") for one in asked]

    def _check_levels(self, data, handle, surface_access):
        if self._levels == 1:
            return
        if handle or data is None or surface_access:
            raise ValueError("a texture with mip levels is made of data, and neither of an array that is there nor with surface access")
        if self.device.is_cuda and not self._normalized:
            raise ValueError("a texture with mip levels on a CUDA device needs normalized_coords=True")

    def _read_address(self):
        """The texture unit knows neither WRAP nor MIRROR of coordinates in texels."""
        if self._normalized or self.device.is_cpu:
            return self._address
        return [mode if mode == TextureAddressMode.BORDER else TextureAddressMode.CLAMP for mode in self._address]

    def _make(self, data, handle):
        kind = _cuda_arrays.Image if self.device._on_gpu else _HostImage
        self._owns = not handle
        if not handle:
            self._image = kind(self._dims, (*self._extents, 1, 1)[:3], self._channels, self._dtype, self._levels, self._surface_access)
        else:
            self._image = kind.of(handle)
        if data is not None:
            texels = data if isinstance(data, numpy.ndarray) else data.numpy()
            for level, values in enumerate(self._generate_mipmap_chain(numpy.ascontiguousarray(texels))):
                self._image.write(level, values)
        self._sampler = self._image.sampler(_Options(self._filter, self._mip_filter, self._read_address(), self._normalized))

    def _generate_mipmap_chain(self, data):
        shape = _level_shape(self._extents, self._channels)
        made = [data.reshape(shape)]
        while len(made) < self._levels:
            made.append(_halved(made[-1], self._dims))
        return [one.reshape(one.shape[:-1]) if self._channels == 1 and data.ndim == self._dims else one for one in made]

    def __del__(self):
        if None in (_native, _cuda_arrays):  # the interpreter is shutting down, and the process gives all of it back
            return
        if self._sampler is not None:
            self._sampler.close()
        if self._owns and self._image is not None:
            self._image.close()

    def __ctype__(self):
        kind = (texture1d_t, texture2d_t, texture3d_t)[self._dims - 1]
        return kind(self._sampler.handle, *self._extents, self._channels, _DTYPES.index(self._dtype), self._filter, self._mip_filter,
                    self._levels, self._normalized, *self._read_address())

    # ---- copies ----

    @property
    def _shape(self):
        """As numpy has it."""
        return tuple(reversed(self._extents)) + ((self._channels,) if self._channels > 1 else ())

    def _check_other(self, other, word):
        from warp.arrays import array

        if self.is_mipmapped:
            raise RuntimeError("the texels of a texture with mip levels stay as they are: it is not copied")
        if isinstance(other, Texture):
            ends = (self._shape, other._shape) if word == "source" else (other._shape, self._shape)
            if other._shape != self._shape:
                raise ValueError(f"Incompatible texture shapes for copy: destination shape={ends[0]}, source shape={ends[1]}")
            dtype = other._dtype
        else:
            if not isinstance(other, (numpy.ndarray, array)):
                raise ValueError(f"Expected contiguous array, Warp's or numpy's, or a texture, not {type(other).__name__}")
            inner = () if isinstance(other, numpy.ndarray) else _types.inner_shape(other.dtype)
            shape = tuple(other.shape) + inner
            if shape != self._shape and not (self._channels == 1 and shape == (*self._shape, 1)):
                raise ValueError(f"Incompatible array shape for copy: texture shape={self._shape}, {word} shape={shape}")
            dtype = _types.as_type(other.dtype) if isinstance(other, numpy.ndarray) else getattr(other.dtype, "_dtype", other.dtype)
            is_packed = other.flags.c_contiguous if isinstance(other, numpy.ndarray) else other.is_contiguous
            if not is_packed:
                raise ValueError(f"the {word} of a copy must be contiguous")
        if dtype is not self._dtype:
            raise ValueError(f"Incompatible array data type for copy: texture dtype={_types.type_repr(self._dtype)}, "
                             f"{word} dtype={_types.type_repr(dtype)}")

    def copy_from(self, src):
        self._check_other(src, "source")
        _copy(self, src, False)

    def copy_to(self, dst):
        self._check_other(dst, "destination")
        _copy(self, dst, True)

    # ---- what it is ----

    num_channels = property(lambda self: self._channels)
    dtype = property(lambda self: self._dtype)
    filter_mode = property(lambda self: self._filter)
    mip_filter_mode = property(lambda self: self._mip_filter)
    num_mip_levels = property(lambda self: self._levels)
    is_mipmapped = property(lambda self: self._levels > 1)
    normalized_coords = property(lambda self: self._normalized)
    address_mode_u = property(lambda self: self._address[0])
    address_mode_v = property(lambda self: self._address[1])
    address_mode_w = property(lambda self: self._address[2])

    @property
    def _struct(self):
        return type(self)

    def __getattr__(self, name):
        if name in _EXTENTS and self._image is not None:
            return 1
        if name == "ndim":  # of no class, whose annotations are those of no array
            return self._dims
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def __repr__(self):
        return f"{type(self).__name__}(shape={self._shape}, dtype={_types.type_repr(self._dtype)})" if self._image else type(self).__name__

    __hash__ = object.__hash__

    # ---- CUDA's handles ----

    @property
    def id(self):
        return self._sampler.handle

    def _check_cuda(self, what):
        if not self.device.is_cuda:
            raise RuntimeError(f"{what} is only supported for CUDA textures")

    @property
    def cuda_texture(self):
        self._check_cuda("cuda_texture")
        return self._sampler.handle

    @property
    def cuda_array(self):
        self._check_cuda("cuda_array")
        if self.is_mipmapped:
            raise RuntimeError("cuda_array is currently limited to non-mipmapped CUDA textures")
        return self._image.array

    @property
    def cuda_surface(self):
        self._check_cuda("cuda_surface")
        if not self._surface_access:
            raise RuntimeError("cuda_surface needs a texture that was made with surface_access=True")
        return self._image.surface()


class Texture1D(Texture):
    _dims = 1

    def __init__(self, data=None, width=0, num_channels=0, dtype=None, **options):
        super().__init__(data, width, num_channels=num_channels, dtype=dtype, **options)


class Texture2D(Texture):
    _dims = 2

    def __init__(self, data=None, width=0, height=0, num_channels=0, dtype=None, **options):
        super().__init__(data, width, height, num_channels=num_channels, dtype=dtype, **options)


class Texture3D(Texture):
    _dims = 3


def _host_facts(handle):
    image = _HostImage.of(handle)
    return image.dims, image.extents[: image.dims], image.channels, image.dtype


@_graphs.recorded
def _copy(texture, other, into):
    texture._image.copy(other._image if isinstance(other, Texture) else other, into)


__all__ = ["Texture", "Texture1D", "Texture2D", "Texture3D", "TextureAddressMode", "TextureFilterMode"]
