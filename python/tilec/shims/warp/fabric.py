"""Arrays of Fabric, which lie in buckets of another program's: a kernel is given a copy of one, which is put back when it has run."""

import ctypes

import numpy

from warp import arrays as _arrays
from warp import devices as _devices
from warp import types as _types
from warp.arrays import _Arrays, array_annotation


class fabric_annotation(array_annotation):
    __slots__ = ()
    _said, _many = "fabricarray", False

    def __del__(self):
        """It has no memory; a program may ask for it all the same."""


class indexed_fabric_annotation(fabric_annotation):
    __slots__ = ()
    _said = "indexedfabricarray"


_NUMBERS = {"b": _types.bool, "i1": _types.int8, "i2": _types.int16, "i4": _types.int32, "i8": _types.int64, "u1": _types.uint8,
            "u2": _types.uint16, "u4": _types.uint32, "u8": _types.uint64, "f2": _types.float16, "f4": _types.float32, "f8": _types.float64}


def _type_of(described):
    if len(described) != 5:
        raise ValueError(f"the type of an attribute of Fabric must contain five elements, got {len(described)}: {described}")
    _, name, count, depth, role = described
    number = _NUMBERS[name]
    if depth:
        raise NotImplementedError("arrays of Fabric whose elements are arrays are not taken")
    if role == "matrix":
        rows = int(round(count**0.5))
        if rows * rows != count:
            raise ValueError(f"a matrix of Fabric must have a square element count, got {count}")
        return _types.matrix((rows, rows), number)
    return _types.vector(count, number) if count > 1 or role == "vector" else number


class _Whole:
    """What both kinds have: they are read and written as a whole."""

    ndim = 1
    is_contiguous = False
    requires_grad = False
    grad = None

    @property
    def size(self):
        return self.shape[0]

    def __len__(self):
        return self.shape[0]

    def __str__(self):
        return str(self.numpy())

    def host(self):
        return self.numpy()

    def _element(self):
        return _types.element_type(self.dtype), _types.inner_shape(self.dtype)

    def fill_(self, value):
        _arrays.array.fill_(self, value)

    def zero_(self):
        self.store(numpy.zeros((), self._element()[0]))

    def assign(self, source):
        _arrays.array.assign(self, source)

    def list(self):
        return _arrays.array.list(self)

    def contiguous(self):
        return _arrays.clone(self)

    def to(self, device, requires_grad=None):
        device = _devices.get_device(device)
        return self if device == self.device else _arrays.clone(self, device, requires_grad)


class fabricarray_t(ctypes.Structure):
    """Fabric's as C has it: how many elements, and where the first of each bucket is."""

    _fields_ = [("size", ctypes.c_uint64), ("count", ctypes.c_uint64), ("first", ctypes.c_uint64 * 16)]


class indexedfabricarray_t(ctypes.Structure):
    _fields_ = [("fa", fabricarray_t), ("indices", ctypes.c_uint64), ("size", ctypes.c_uint64)]


class fabricarray(_Whole, _Arrays):
    _own, _said = True, fabric_annotation

    def __new__(cls, *args, dtype=None, ndim=None, **kwargs):
        if "_own" in vars(cls) and not args and not {"data", "attrib"} & set(kwargs):
            return cls._said(float if dtype is None else dtype, ndim or cls._rank)
        return object.__new__(cls)

    def __init__(self, data=None, attrib=None, dtype=None, ndim=None, **ignored):
        described = data["attribs"][attrib]
        self.attrib, self.device = attrib, _devices.get_device(data["device"])
        self.dtype = _type_of(described["type"])
        self.buckets = [_arrays.array(ptr=pointer, shape=(int(count),), dtype=self.dtype, device=self.device)
                        for pointer, count in zip(described["pointers"], described["counts"]) if count]
        self.shape = (sum([one.size for one in self.buckets]),)
        self._kept = data

    def __ctype__(self):
        made = fabricarray_t(size=self.size, count=len(self.buckets))
        made.first[: len(self.buckets[:16])] = [one.ptr for one in self.buckets[:16]]
        return made

    def numpy(self):
        number, inner = self._element()
        return numpy.concatenate([numpy.zeros((0,) + inner, number), *[one.numpy() for one in self.buckets]])

    def store(self, values):
        values = numpy.broadcast_to(values, self.shape + self._element()[1])
        at = 0
        for one in self.buckets:
            one.store(values[at : at + one.size])
            at += one.size

    def __getitem__(self, index):
        if not isinstance(index, _arrays.array):
            raise NotImplementedError("an array of Fabric is indexed by an array of indices outside of kernels")
        return indexedfabricarray(fa=self, indices=index)


class indexedfabricarray(_Whole, _Arrays):
    _own, _said = True, indexed_fabric_annotation

    def __new__(cls, *args, dtype=None, ndim=None, **kwargs):
        if "_own" in vars(cls) and not args and not {"fa", "indices"} & set(kwargs):
            return cls._said(float if dtype is None else dtype, ndim or cls._rank)
        return object.__new__(cls)

    def __init__(self, fa=None, indices=None, dtype=None, ndim=None, **ignored):
        self.fa, self.indices = fa, indices
        self.device, self.dtype, self.shape = fa.device, fa.dtype, (indices.size,)

    def __ctype__(self):
        return indexedfabricarray_t(fa=self.fa.__ctype__(), indices=self.indices.ptr or 0, size=self.size)

    def numpy(self):
        return self.fa.numpy()[self.indices.numpy()]

    def store(self, values):
        whole = self.fa.numpy().copy()
        whole[self.indices.numpy()] = values
        self.fa.store(whole)


for _name, _value in _arrays.OPERATORS.items():
    setattr(_Whole, _name, _value)


def _refuse_nested(given):
    if {"data", "attrib", "fa", "indices"} & set(given):
        raise NotImplementedError("arrays of Fabric whose elements are arrays are not taken")


def fabricarrayarray(dtype=float, **given):
    _refuse_nested(given)
    return fabric_annotation(dtype, 2)


def indexedfabricarrayarray(dtype=float, **given):
    _refuse_nested(given)
    return indexed_fabric_annotation(dtype, 2)


__all__ = ["fabricarray", "fabricarrayarray", "indexedfabricarray", "indexedfabricarrayarray"]
