"""Arrays of Fabric, which lie in buckets of another program's: a program copies them, kernels do not read them."""

import numpy

from warp import arrays as _arrays
from warp import devices as _devices
from warp import types as _types
from warp.arrays import _ArrayClass, array_annotation


class fabric_annotation(array_annotation):
    __slots__ = ()
    _said, _many = "fabricarray", False


class indexed_fabric_annotation(fabric_annotation):
    __slots__ = ()
    _said = "indexedfabricarray"


class _FabricClass(_ArrayClass):
    _said = fabric_annotation


class _IndexedFabricClass(_ArrayClass):
    _said = indexed_fabric_annotation


_NUMBERS = {"b": _types.bool, "i1": _types.int8, "i2": _types.int16, "i4": _types.int32, "i8": _types.int64, "u1": _types.uint8,
            "u2": _types.uint16, "u4": _types.uint32, "u8": _types.uint64, "f2": _types.float16, "f4": _types.float32, "f8": _types.float64}


def _type_of(described):
    _, name, count, depth, role = described
    number = _NUMBERS[name]
    if depth:
        raise NotImplementedError("arrays of Fabric whose elements are arrays are not taken")
    if role == "matrix":
        rows = int(round(count**0.5))
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


class fabricarray(_Whole, metaclass=_FabricClass):
    _rank = 1

    def __new__(cls, *args, dtype=None, ndim=None, **kwargs):
        if not args and not {"data", "attrib"} & set(kwargs):
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


class indexedfabricarray(_Whole, metaclass=_IndexedFabricClass):
    _rank = 1

    def __new__(cls, *args, dtype=None, ndim=None, **kwargs):
        if not args and not {"fa", "indices"} & set(kwargs):
            return cls._said(float if dtype is None else dtype, ndim or cls._rank)
        return object.__new__(cls)

    def __init__(self, fa=None, indices=None, dtype=None, ndim=None, **ignored):
        self.fa, self.indices = fa, indices
        self.device, self.dtype, self.shape = fa.device, fa.dtype, (indices.size,)

    def numpy(self):
        return self.fa.numpy()[self.indices.numpy()]

    def store(self, values):
        whole = self.fa.numpy().copy()
        whole[self.indices.numpy()] = values
        self.fa.store(whole)


def fabricarrayarray(dtype=float, **ignored):
    return fabric_annotation(dtype, 2)


def indexedfabricarrayarray(dtype=float, **ignored):
    return indexed_fabric_annotation(dtype, 2)


__all__ = ["fabricarray", "fabricarrayarray", "indexedfabricarray", "indexedfabricarrayarray"]
