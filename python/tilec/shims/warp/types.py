"""Warp's types in Python: numbers, vectors, matrices, quaternions, structs, on the host's side of a launch."""

import ctypes
import inspect
import math
import operator
import os
import re
import sys
from typing import Any  # noqa: F401  (older releases have it here)

import numpy

from tilec import session as _session
from tilec import source as _source
from tilec.session import Remote as _Remote
from tilec.session import Text as _Text
from tilec.session import text_of as _text_of

def _warp():
    return _session.module("warp")


def _bfloat16():
    try:
        import ml_dtypes

        return numpy.dtype(ml_dtypes.bfloat16)
    except ImportError:
        return numpy.dtype(numpy.uint16)


class _Type(type):
    """Of a class that the compiler knows: `_words` is how it is called there."""

    def __tile_remote__(cls):
        if cls.__dict__.get("_remote") is None:
            cls._remote = _Remote(cls._words())
        return cls._remote

    def __repr__(cls):
        return f"<class 'warp.types.{cls.__name__}'>"


# ---- numbers ----


class scalar_base(metaclass=_Type):
    """A number with a type."""

    __tile_number__ = True
    _remote = None
    _length_ = 1

    def __init__(self, value=0):
        self.value = self._kept(getattr(value, "value", value))

    @classmethod
    def _kept(cls, value):
        return value

    @classmethod
    def _words(cls):
        return _Text(_warp(), f".{cls.__name__}")

    def __tile_text__(self):
        """Of its type in kernels, too."""
        return _Text(self._words(), "(", _text_of(self.value), ")")

    def __getattr__(self, name):
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def __int__(self):
        return int(self.value)

    __index__ = __int__

    def __float__(self):
        return float(self.value)

    def __bool__(self):
        return self.value != 0

    def __hash__(self):
        return hash(self.value)

    def __str__(self):
        return str(self.value)

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"

    def _fits(self, other):
        """What it is compared to, or NotImplemented."""
        other = getattr(other, "value", other)
        return other.item() if isinstance(other, numpy.generic) else other


class int_base(scalar_base):
    @classmethod
    def _kept(cls, value):
        """As many bits as the type has."""
        return int(cls._type_(int(value)).value)


class float_base(scalar_base):
    def __init__(self, value=0):
        super().__init__(value)
        self.is_whole = type(getattr(value, "value", value)) is int  # shown as it was given

    def __str__(self):
        return str(int(self.value) if self.is_whole else self.value)

    def __repr__(self):
        return f"{type(self).__name__}({self})"

    @classmethod
    def _kept(cls, value):
        return float(value)

    __index__ = None

    def _fits(self, other):
        other = super()._fits(other)
        return float(other) if isinstance(other, int) else other


_NUMBERS = (int, float)


def _comparison(name):
    compare = getattr(operator, name)

    def method(self, other):
        other = self._fits(other)
        return compare(self.value, other) if isinstance(other, _NUMBERS) else NotImplemented

    return method


def _arithmetic(name, swapped):
    compute = getattr(operator, name)

    def method(self, other):
        if isinstance(other, scalar_base) and type(other) is not type(self):
            return NotImplemented
        other = getattr(other, "value", other)
        if not isinstance(other, (*_NUMBERS, numpy.number)):
            return NotImplemented
        return type(self)(compute(other, self.value) if swapped else compute(self.value, other))

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(scalar_base, f"__{_name}__", _comparison(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    setattr(scalar_base, f"__{_name}__", _arithmetic(_name, False))
    setattr(scalar_base, f"__r{_name}__", _arithmetic(_name, True))
for _name, _swapped in (("pow", False), ("rpow", True)):
    setattr(float_base, f"__{_name}__", _arithmetic("pow", _swapped))
scalar_base.__neg__ = lambda self: type(self)(-self.value)
scalar_base.__pos__ = lambda self: type(self)(self.value)


def _number(name, kind, base, stored):
    names = {"_numpy": numpy.dtype(kind), "_base": base, "_type_": stored, "__module__": __name__}
    if name != "bfloat16":
        names["__numpy_dtype__"] = numpy.dtype(kind)
    return _Type(name, (int_base if base is int else float_base,), names)


int8, uint8 = _number("int8", "i1", int, ctypes.c_int8), _number("uint8", "u1", int, ctypes.c_uint8)
int16, uint16 = _number("int16", "i2", int, ctypes.c_int16), _number("uint16", "u2", int, ctypes.c_uint16)
int32, uint32 = _number("int32", "i4", int, ctypes.c_int32), _number("uint32", "u4", int, ctypes.c_uint32)
int64, uint64 = _number("int64", "i8", int, ctypes.c_int64), _number("uint64", "u8", int, ctypes.c_uint64)
float16, float32 = _number("float16", "f2", float, ctypes.c_uint16), _number("float32", "f4", float, ctypes.c_float)
float64 = _number("float64", "f8", float, ctypes.c_double)
bfloat16 = _number("bfloat16", _bfloat16(), float, ctypes.c_uint16)
_python_bool = type(True)


class bool(scalar_base):
    _numpy = __numpy_dtype__ = numpy.dtype("?")
    _base = _python_bool
    _type_ = ctypes.c_bool

    @classmethod
    def _kept(cls, value):
        return _python_bool(value)

    def __tile_text__(self):
        return _text_of(self.value)

    def __bool__(self):
        return self.value


class handle(uint64):
    """A number that names an object of the runtime's."""

    @classmethod
    def _words(cls):
        return _Text(_warp(), ".uint64")


scalar_types = [int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16, float32, float64]
int_types = scalar_types[:8]
float_types = scalar_types[8:]
scalar_and_bool_types = [*scalar_types, bool]
non_atomic_types = (int8, uint8, int16, uint16, int64)
value_types = (int, float, *scalar_types)
_PLAIN = {int: int32, float: float32, _python_bool: bool}


def as_type(kind):
    """What an annotation or a dtype means: `float` is 32 bits."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, _Type) or kind is None:
        return kind
    is_numpy = isinstance(kind, numpy.dtype) or (isinstance(kind, type) and issubclass(kind, numpy.generic))
    return _FROM_NUMPY.get(numpy.dtype(kind), kind) if is_numpy else kind


type_to_warp = as_type
_FROM_NUMPY = {one._numpy: one for one in [*scalar_types, bool] if one is not bfloat16 or one._numpy != uint16._numpy}
np_dtype_to_warp_type = {numpy.dtype("?"): bool, **{one._numpy: one for one in scalar_types if one is not bfloat16}}


# ---- several numbers ----


class _Composite(type(ctypes.Array), _Type):
    """Of a class of several numbers, which lie one behind the other."""

    __repr__ = _Type.__repr__

    @property
    def _wp_generic_type_hint_(cls):
        from warp.subscripts import FAMILIES

        return FAMILIES[cls._family_]


def _legacy():
    import warp

    return warp.config.legacy_scalar_return_types


class _Numbers(ctypes.Array, metaclass=_Composite):
    _remote = None
    _length_, _type_ = 1, ctypes.c_float
    _family_ = "vector"

    def __init__(self, *given, **named):
        if self._family_ == "transformation":
            named = self._position_and_rotation(given, named)
        flat = self._gathered(given, named)
        self.data[...] = _checked(flat, self._numpy).reshape(self._shape_)

    def _position_and_rotation(self, given, named):
        """What is named, in the order of p and q."""
        for name in named:
            if name not in ("p", "q"):
                raise TypeError(f"got an unexpected keyword argument '{name}'")
        named = {name: named[name] for name in ("p", "q") if named.get(name) is not None}
        if len(given) > 2 and named:
            raise TypeError(f"multiple values for argument '{next(iter(named))}'")
        parts = {**(dict(zip("pq", given)) if len(given) == 2 or len(given) == 1 and named else {}), **named}
        for name, part in parts.items():
            if not hasattr(part, "__len__"):
                raise TypeError(f"Invalid argument '{name}' in transformation constructor: expected a sequence, got {type(part).__name__}")
        if len(given) == 1 and not named and not hasattr(given[0], "__len__") and not isinstance(
                given[0], (*_NUMBERS, _python_bool, scalar_base, numpy.generic)):
            raise TypeError(f"Invalid argument in transformation constructor: expected a scalar value, got {type(given[0]).__name__}")
        return named

    def _gathered(self, given, named):
        count = self._length_
        if self._family_ == "matrix" and len(given) > 1 and all([isinstance(value, _Numbers) for value in given]):
            return numpy.array([list(value.data) for value in given]).T.reshape(-1)  # columns
        if self._family_ == "matrix":
            rows = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
            for row in rows:
                if isinstance(row, (list, tuple)) and len(row) != self._shape_[1]:
                    raise TypeError(f"Invalid argument in matrix constructor, expected row of length {self._shape_[1]}, got {row}")
        flat = [item for value in (*given, *named.values()) for item in _leaves(value)]
        if self._family_ == "transformation":
            flat = (flat or [0, 0, 0]) + [0, 0, 0, 1] if len(flat) in (0, 3) else flat
            flat = [0, 0, 0] + flat if len(flat) == 4 else flat
        if len(flat) == 0:
            return [0] * count
        if len(flat) == 1:
            return flat * count
        if len(flat) != count:
            raise ValueError(f"Invalid number of arguments in {self._family_} constructor, expected {count} elements, got {len(flat)}")
        return flat

    @property
    def data(self):
        """The numbers, as numpy sees them."""
        stored = numpy.frombuffer(self, numpy.uint16).view(self._numpy) if self._type_ is ctypes.c_uint16 else numpy.frombuffer(self, self._numpy)
        return stored.reshape(self._shape_)

    @classmethod
    def from_ptr(cls, ptr):
        if not ptr:
            raise RuntimeError("NULL pointer exception")
        return cls.from_buffer_copy((ctypes.c_char * ctypes.sizeof(cls)).from_address(ptr))

    __tile_plain__ = True  # a name of a program's that it is bound to means it in kernels, however it was computed

    def __tile_text__(self):
        flat = [item.item() if hasattr(item, "item") else item for item in self.data.reshape(-1)]
        return _session.call_text(_Text(type(self).__tile_remote__()), flat, {})

    def __array__(self, dtype=None, copy=None):
        return numpy.array(self.data) if dtype is None else self.data.astype(dtype)

    def __reduce__(self):
        return _restored, (self._family_, self._shape_, self._dtype, bytes(self))

    def __setattr__(self, name, value):
        if _LETTERED.fullmatch(name):  # several components are read in kernels, and written nowhere
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        object.__setattr__(self, name, value)

    def __len__(self):
        return self._shape_[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def _told(self, value):
        """A number of it: Python's where its type is what Python's mean, else one with a type."""
        value = value.item()
        return value if self._dtype in (int32, float32, bool) or _legacy() else self._dtype(value)

    def _key(self, index):
        """Where its row or number is: a part of `data`."""
        if self._family_ != "matrix":
            if isinstance(index, (int, slice, numpy.integer, scalar_base)):
                return int(index) if not isinstance(index, slice) else index
            raise KeyError(f"Invalid key {index}, expected int or slice")
        if isinstance(index, tuple):
            if len(index) > 2:
                raise KeyError(f"Invalid key, expected one or two indices, got {len(index)}")
            return index
        if isinstance(index, (int, slice, numpy.integer, scalar_base)):
            return int(index) if not isinstance(index, slice) else index
        raise KeyError(f"Invalid key {index}, expected int or pair of ints")

    def __getitem__(self, index):
        key = self._key(index)
        found = self.data[key]
        if numpy.ndim(found) == 0:
            return self._told(found)
        if self._family_ != "matrix":
            return _of_array(found, self._dtype)
        if isinstance(key, int):
            row = vector(self._shape_[1], self._dtype)
            return row.from_buffer(self, (key % self._shape_[0]) * ctypes.sizeof(row))
        return _of_array(found, self._dtype)

    def __setitem__(self, index, value):
        key = self._key(index)
        place = self.data[key]
        if numpy.ndim(place) == 0:
            self.data[key] = self._number(value)
            return
        if isinstance(value, (str, scalar_base)) or not hasattr(value, "__len__"):
            raise TypeError(f"Expected to assign a slice from a sequence of values but got `{type(value).__name__}` instead")
        if isinstance(value, _Numbers):
            value = value.data
        elif hasattr(value, "tolist"):
            value = value.tolist()
        wrong = next((item for item in value if isinstance(item, _Numbers) and numpy.ndim(item.data) >= place.ndim), None)
        if wrong is not None:
            raise TypeError(f"Expected to assign a slice from a sequence of `{self._dtype.__name__}` values but got "
                            f"`{type(wrong).__name__}` instead")
        if len(value) != len(place):
            raise ValueError(f"Can only assign sequence of same size, {len(value)} given, {len(place)} wanted")
        if numpy.ndim(value) != place.ndim or any([isinstance(item, (str, _Numbers)) for item in value]):
            wrong = next((item for item in value if isinstance(item, (str, _Numbers))), value)
            raise TypeError(f"Expected to assign a slice from a sequence of `{self._dtype.__name__}` values but got "
                            f"`{type(wrong).__name__}` instead")
        self.data[key] = [_checked(_leaves(item), self._numpy) if hasattr(item, "__len__") else self._number(item) for item in value]

    def _number(self, value):
        if isinstance(value, (str, _Numbers, list, tuple)) or value is None:
            raise TypeError(f"Expected to assign a `{self._dtype.__name__}` value but got `{type(value).__name__}` instead")
        return _checked([getattr(value, "value", value)], self._numpy)[0]

    def set_row(self, row, values):
        if not 0 <= row < self._shape_[0]:
            raise IndexError("Invalid row index")
        self[row] = values if hasattr(values, "__len__") else [values] * self._shape_[1]

    def get_row(self, row):
        if not 0 <= row < self._shape_[0]:
            raise IndexError("Invalid row index")
        return self[row]

    def set_col(self, column, values):
        if not 0 <= column < self._shape_[1]:
            raise IndexError("Invalid column index")
        self[:, column] = values if hasattr(values, "__len__") else [values] * self._shape_[0]

    def get_col(self, column):
        if not 0 <= column < self._shape_[1]:
            raise IndexError("Invalid column index")
        return self[:, column]

    def __eq__(self, other):
        if isinstance(other, (_Numbers, list, tuple, numpy.ndarray)):
            other = other.data if isinstance(other, _Numbers) else numpy.array([_leaves(other)]) if len(other) else numpy.array(other)
            return other.size == self.data.size and _python_bool((self.data.reshape(-1) == other.reshape(-1)).all())
        return NotImplemented

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self):
        return hash((type(self), bytes(self)))

    def __str__(self):
        if self._family_ == "matrix":
            return "[" + ",\n ".join([str(row) for row in self]) + "]"
        return "[" + ", ".join([str(item) for item in self]) + "]"

    def __repr__(self):
        if self._family_ == "matrix":
            return f"{type(self).__name__}([{', '.join([str(row) for row in self])}])"
        return f"{type(self).__name__}([{', '.join([repr(item) for item in self])}])"

    # ---- arithmetic ----

    def _with(self, data):
        return _filled(type(self), data)

    def __pos__(self):
        return self._with(self.data)

    def __neg__(self):
        return self._with(-self.data)

    def __matmul__(self, other):
        return self * other

    def __rmatmul__(self, other):
        return NotImplemented


def _checked(flat, kind):
    """As numbers of that type; integers lose the bits that it has not."""
    if kind.kind in "iu":
        bits = 8 * kind.itemsize
        whole = [int(value) % (1 << bits) for value in flat]
        return numpy.array(whole, f"u{kind.itemsize}").view(kind)
    values = numpy.asarray([float(value) for value in flat] if kind.kind != "b" else [_python_bool(value) for value in flat])
    if kind == numpy.uint16:
        return (values.astype(numpy.float32).view(numpy.uint32) + 0x8000 >> 16).astype(numpy.uint16)
    return values.astype(kind)


def _filled(kind, data):
    made = kind()
    with numpy.errstate(all="ignore"):
        made.data[...] = data
    return made


def _restored(family, shape, dtype, given):
    return _numbers(family, shape, dtype).from_buffer_copy(given)


def _quotient(a, b):
    with numpy.errstate(all="ignore"):
        return numpy.trunc(a / b) if numpy.asarray(a).dtype.kind in "iu" else a / b


def _scaled(name):
    """An operator of values of one kind, and if it is a multiplication or division, of numbers."""
    compute = {"truediv": _quotient, "mod": numpy.fmod}.get(name) or getattr(operator, name)

    def left(self, other):
        if isinstance(other, _Numbers):
            found = NotImplemented
            if self._dtype is other._dtype:
                found = _product(self, other) if name == "mul" else _combined(compute, self, other)
            if found is NotImplemented:
                raise RuntimeError(f"Couldn't find a function '{name.removeprefix('true')}' compatible with the arguments "
                                   f"'{type(self).__name__}, {type(other).__name__}'")
            return found
        if name in ("mul", "truediv") and isinstance(other, (*_NUMBERS, scalar_base, numpy.number)):
            return self._with(compute(self.data, numpy.asarray(getattr(other, "value", other), self._numpy)))
        return NotImplemented

    def right(self, other):
        if name in ("mul", "truediv") and isinstance(other, (*_NUMBERS, scalar_base, numpy.number)):
            return self._with(compute(numpy.asarray(getattr(other, "value", other), self._numpy), self.data))
        return NotImplemented

    return left, right


def _combined(compute, a, b):
    if type(a) is not type(b):
        return NotImplemented
    with numpy.errstate(all="ignore"):
        return a._with(compute(a.data, b.data))


def _product(a, b):
    kinds = a._family_, b._family_
    if kinds == ("matrix", "matrix") or kinds == ("matrix", "vector") or kinds == ("vector", "matrix"):
        return _of_array(a.data @ b.data, a._dtype)
    if kinds == ("quaternion", "quaternion"):
        (x, y, z, w), (i, j, k, r) = a.data, b.data
        return a._with([w * i + x * r + y * k - z * j, w * j - x * k + y * r + z * i, w * k + x * j - y * i + z * r,
                        w * r - x * i - y * j - z * k])
    if kinds == ("transformation", "transformation"):
        import warp

        return warp.transform_multiply(a, b)
    return _combined(operator.mul, a, b) if kinds != ("vector", "vector") else NotImplemented


_LETTERED = re.compile("[xyzw]{2,4}")


def _component(index, letter):
    def check(self):
        if self._family_ == "matrix" or index >= self._length_:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {letter!r}")

    def get(self):
        check(self)
        return self[index]

    def put(self, value):
        check(self)
        self[index] = value

    return property(get, put)


for _name in ("add", "sub", "mul", "truediv", "mod"):
    _left, _right = _scaled(_name)
    setattr(_Numbers, f"__{_name}__", _left)
    setattr(_Numbers, f"__r{_name}__", _right)
for _index, _letter in enumerate("xyzw"):
    setattr(_Numbers, _letter, _component(_index, _letter))


def _part(first, last, kind):
    def get(self):
        made = kind(self._dtype)()
        made.data[...] = self.data[first:last]
        return made

    def put(self, value):
        self.data[first:last] = _checked(_leaves(value), self._numpy)

    return property(get, put)


_PARTS = {"p": _part(0, 3, lambda dtype: vector(3, dtype)), "q": _part(3, 7, lambda dtype: quaternion(dtype))}


def _of_array(data, dtype):
    return _filled(vector(len(data), dtype) if data.ndim == 1 else matrix(data.shape, dtype), data)


def _leaves(value):
    if isinstance(value, _Numbers):
        return list(value.data.reshape(-1))
    if hasattr(value, "tolist") and not isinstance(value, numpy.generic):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in _leaves(part)]
    return [getattr(value, "value", value)]


_made = {}
_FAMILY = {"vector": "vec", "matrix": "mat", "quaternion": "quat", "transformation": "transform"}
_SUFFIXES = {"": float32, "h": float16, "f": float32, "d": float64, "b": int8, "ub": uint8, "s": int16, "us": uint16, "i": int32,
             "ui": uint32, "l": int64, "ul": uint64}
_LETTERS = {dtype: letters for letters, dtype in _SUFFIXES.items() if letters}


def _name_of(family, shape, dtype):
    """As it is called in the module, where it has a name there."""
    named = dtype in _LETTERS and (family in ("quaternion", "transformation") or all([2 <= extent <= 4 for extent in shape]) and len(set(shape)) == 1)
    sizes = "".join([str(extent) for extent in shape]) if named else "x".join([str(extent) for extent in shape])
    if family in ("quaternion", "transformation"):
        sizes = ""
    return _FAMILY[family] + sizes + (_LETTERS[dtype] if named else f"_{getattr(dtype, '__name__', dtype)}")


def _open(family, shape, dtype):
    """A type that is not decided: Any is its length, or its numbers' type."""
    from tilec.modules import Described

    made = Described(_Text("None"))
    made._family_, made._shape_, made._dtype = family, shape, dtype
    return made


def _numbers(family, shape, dtype):
    from typing import Any

    dtype = as_type(dtype)
    if dtype is Any or any([extent is Any for extent in shape]) or not isinstance(dtype, _Type):
        return _open(family, shape, dtype)
    key = family, tuple(shape), dtype
    if key not in _made:
        names = {"_family_": family, "_shape_": tuple(shape), "_dtype": dtype, "_wp_scalar_type_": dtype,
                 "_wp_generic_type_str_": f"{_FAMILY[family]}_t", "_length_": math.prod(shape), "_type_": dtype._type_, "_numpy": dtype._numpy, "__module__": __name__}
        names["_wp_type_params_"] = [*shape, dtype]
        if family == "transformation":
            names.update(_PARTS)
        _made[key] = _Composite(_name_of(family, shape, dtype), (_Numbers,), names)
    return _made[key]


def _words_of(cls):
    if cls._family_ in ("quaternion", "transformation"):
        return _Text(_warp(), f".types.{cls._family_}(dtype=", cls._dtype.__tile_remote__(), ")")
    shape = f"length={cls._shape_[0]}" if cls._family_ == "vector" else f"shape={tuple(cls._shape_)}"
    return _Text(_warp(), f".types.{cls._family_}({shape}, dtype=", cls._dtype.__tile_remote__(), ")")


_Numbers._words = classmethod(_words_of)


def vector(length, dtype=float):
    return _numbers("vector", (length,), dtype)


def matrix(shape, dtype=float):
    if len(shape) != 2:
        count = f"{len(shape)} dimension{'s' * (len(shape) != 1)}"
        raise ValueError(f"Matrix shape must have exactly two dimensions, got {count} in shape {tuple(shape)}")
    return _numbers("matrix", shape, dtype)


def quaternion(dtype=float):
    return _numbers("quaternion", (4,), dtype)


def transformation(dtype=float):
    return _numbers("transformation", (7,), dtype)


def by_name(name):
    """vec3, mat22d, quatf, spatial_vector, transform: None: it is no type's."""
    for suffix in sorted(_SUFFIXES, key=len, reverse=True):
        stem = name[: len(name) - len(suffix)] if suffix else name
        if not name.endswith(suffix):
            continue
        dtype = _SUFFIXES[suffix]
        if stem in ("vec2", "vec3", "vec4"):
            return vector(int(stem[3]), dtype)
        if stem in ("mat22", "mat33", "mat44"):
            return matrix((int(stem[3]), int(stem[4])), dtype)
        if stem == "quat":
            return quaternion(dtype)
        if stem == "transform":
            return transformation(dtype)
        if stem == "spatial_vector":
            return vector(6, dtype)
        if stem == "spatial_matrix":
            return matrix((6, 6), dtype)
    return None


def by_dtype_name(name):
    """A type of numbers."""
    return bool if name == "bool" else globals()[name]


def _all_named(*stems):
    return [by_name(stem + suffix) for stem in stems for suffix in _SUFFIXES if suffix]


vector_types = _all_named("vec2", "vec3", "vec4", "mat22", "mat33", "mat44", "quat", "transform")


# ---- structs ----


class StructInstance:
    def __init__(self, struct):
        self.__dict__["_struct"] = struct
        for name, kind in struct.vars.items():
            self.__dict__[name] = kind() if name in struct.typed else _initial(kind)

    def __setattr__(self, name, value):
        if name not in self._struct.vars:
            raise RuntimeError(f"{name} is not defined as an attribute of {self._struct.key}")
        held = _field(self._struct, name, self._struct.vars[name], value)
        if hasattr(self._struct.vars[name], "ndim"):
            self.__dict__[f"_{name}_grad"] = getattr(value, "grad", None)
        self.__dict__[name] = held

    def __getattr__(self, name):
        raise AttributeError(f"{self._struct.key!r} has no field {name!r}")

    def __repr__(self):
        fields = [f"{name}={self.__dict__[name]!r}" for name in self._struct.vars]
        return f"{self._struct.key}({', '.join(fields)})"

    def __tile_text__(self):
        """As a value that is known when kernels are compiled."""
        texts = [_Text(f"{name}=", _text_of(_argument(self.__dict__[name])), ", ") for name in self._struct.vars]
        return _Text(self._struct.__tile_remote__(), "(", *texts, ")")

    def __tile_take__(self, given):
        texts = [_Text(f"{name}=", given.take(_argument(self.__dict__[name])), ", ") for name in self._struct.vars]
        return _Text(self._struct.__tile_remote__(), "(", *texts, ")")

    def __tile_look__(self, given):
        return id(self._struct), tuple([given.look(_argument(self.__dict__[name])) for name in self._struct.vars])

    def numpy_value(self):
        made = numpy.zeros((), self._struct._numpy)
        for name in self._struct.vars:
            value = self.__dict__[name]
            if isinstance(value, StructInstance):
                made[name] = value.numpy_value()
            elif _is_array(self._struct.vars[name]):
                if value is not None:
                    made[name] = numpy.frombuffer(value.stored() if hasattr(value, "stored") else value.__ctype__(), made[name].dtype)[0]
            else:
                made[name] = value.data if isinstance(value, _Numbers) else numpy.asarray(getattr(value, "value", value))
        return made[()]

    def __ctype__(self):
        """As C has it, arrays as array_t."""
        fields = []
        for name in self._struct.vars:
            value = self.__dict__[name]
            if hasattr(value, "__ctype__"):
                fields.append((name, value.__ctype__()))
            elif hasattr(self._struct.vars[name], "ndim"):
                from warp.arrays import array_t

                fields.append((name, array_t()))
            else:
                kind = self._struct.vars[name]
                held = numpy.zeros(getattr(kind, "_shape_", ()), kind._numpy)
                held[...] = value.data if isinstance(value, _Numbers) else numpy.asarray(getattr(value, "value", value))
                stored = numpy.dtype((numpy.uint16 if held.dtype == numpy.float16 else held.dtype, held.shape))
                fields.append((name, numpy.ctypeslib.as_ctypes_type(stored).from_buffer_copy(held.tobytes())))
        layout = type(self._struct.key, (ctypes.Structure,), {"_fields_": [(name, type(value)) for name, value in fields]})
        return layout(*[value for name, value in fields])

    @classmethod
    def of_ctype(cls, struct, given, device):
        """Of what __ctype__() made."""
        made = struct()
        for name, kind in struct.vars.items():
            value = getattr(given, name)
            if isinstance(kind, Struct):
                value = cls.of_ctype(kind, value, device)
            elif hasattr(kind, "ndim"):
                value = value.array_of(kind, device) if value.is_there() else None
            elif isinstance(kind, _Composite):
                value = _filled(kind, numpy.ctypeslib.as_array(value).view(kind._numpy).reshape(kind._shape_))
            elif kind._numpy == numpy.float16:
                value = numpy.uint16(value).view(numpy.float16).item()
            made.__dict__[name] = value
        return made

    @classmethod
    def of_record(cls, struct, record, device):
        """Of a record as numpy has it; its arrays are on the memory that it names."""
        made = struct()
        for name, kind in struct.vars.items():
            value = record[name]
            if isinstance(kind, Struct):
                value = cls.of_record(kind, value, device)
            elif _is_array(kind):
                value = _descriptor(kind).from_buffer_copy(value.tobytes())
                value = value.array_of(kind, device) if value.is_there() else None
            elif isinstance(kind, _Composite):
                value = _filled(kind, value)
            else:
                value = value.item()
            made.__dict__[name] = value
        return made

    def to(self, device):
        """With its arrays on that device, but for those of Fabric, which lie where it has them."""
        from warp.devices import get_device

        made = self._struct()
        for name, kind in self._struct.vars.items():
            value = self.__dict__[name]
            word = _ARRAY_WORDS.get(type(kind).__name__, "")
            if "Fabric" in word and value is not None and value.device != get_device(device):
                raise ValueError(f"Cannot move struct field '{name}' containing a Warp {word} from {value.device} to {device}")
            made.__dict__[name] = value.to(device) if hasattr(value, "to") else value
        return made


class Reference:
    """What wp.ref[T] says of a parameter: what it is given is written in its place."""

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = as_type(dtype)

    @property
    def value_type(self):
        return self.dtype

    def __eq__(self, other):
        return type(other) is Reference and self.dtype == other.dtype

    def __hash__(self):
        return hash((Reference, self.dtype))

    def __repr__(self):
        return f"wp.ref[{type_repr(self.dtype)}]"

    def __tile_text__(self):
        return _Text(_warp(), ".ref[", _text_of(self.dtype), "]")


class _References:
    def __getitem__(self, dtype):
        return Reference(dtype)

    def __tile_text__(self):
        return _Text(_warp(), ".ref")


ref = _References()


def _field(struct, name, kind, value):
    """What is kept of a value that is given to the field."""
    if isinstance(kind, _Composite):
        if isinstance(value, kind):
            return value
        if value is None:
            return kind(*[0] * kind._length_)
        if not hasattr(value, "__len__"):
            if isinstance(value, (_python_bool, numpy.generic, bool)):
                from warp._src.logger import log_warning

                log_warning(f"a value of type `{type(value).__name__}` that is taken for all numbers of a `{kind.__name__}`, as for "
                            f"struct field '{name}', is deprecated", DeprecationWarning, once=True)
                return kind(value)
            raise TypeError(f"Struct field '{name}' expects {kind.__name__} but got a single value")
        return kind(value)
    if isinstance(kind, Struct):
        if not isinstance(value, StructInstance):
            raise TypeError(f"Struct field '{name}' expects a {kind.key}, got {type(value).__name__}")
        return value
    if hasattr(kind, "ndim"):
        if value is not None:
            _check_array_field(name, kind, value)
        return value
    if isinstance(kind, _Type) and isinstance(value, (str, _Numbers)):
        raise TypeError(f"Struct field '{name}' expects a number, got {type(value).__name__}")
    return value


_ARRAY_WORDS = {"indexed_annotation": "indexed array", "fabric_annotation": "Fabric array", "indexed_fabric_annotation": "indexed Fabric array"}


def _check_array_field(name, kind, value):
    from warp.codes import concrete_array_type

    family = concrete_array_type(value)
    is_said = not hasattr(value, "device") and hasattr(value, "_said")
    if not hasattr(value, "ndim") or is_said or family not in (concrete_array_type(kind), type(value)):
        word = _ARRAY_WORDS.get(type(kind).__name__, "array")
        raise TypeError(f"Struct field '{name}' expects a Warp {word}, got {type(value).__name__}")
    wanted = kind.dtype
    if isinstance(wanted, (_Type, Struct)) and getattr(value, "dtype", wanted) is not wanted:
        raise TypeError(f"Struct field '{name}' expects dtype {type_repr(wanted)}, got {type_repr(value.dtype)}")
    if value.ndim != kind.ndim:
        raise TypeError(f"Struct field '{name}' expects an array with {kind.ndim} dimension(s), got {value.ndim} dimension(s)")
    from warp import descriptors

    try:
        descriptors.of(value)
    except Exception as error:  # of the program's, whatever it is
        raise TypeError(f"Struct field '{name}': {error}") from error


def _is_array(kind):
    """What an annotation says of a field that is an array."""
    return hasattr(kind, "ndim") and not isinstance(kind, Struct)


def _descriptor(kind):
    """What C has of an array that an annotation says; None: an array of Fabric, whose elements are not its own."""
    from warp import arrays

    return {"array": arrays.array_t, "indexedarray": arrays.indexedarray_t}.get(kind._said)


def _array_record(struct, name, kind):
    """numpy's of an array in an element of another one: what C has of it."""
    found = _descriptor(kind)
    if found is None:
        raise TypeError(f"an array of {struct.key} is not possible: its field {name} is an array of Fabric")
    return numpy.dtype(found)


def _argument(value):
    return value.value if isinstance(value, scalar_base) else value


def _initial(kind):
    if isinstance(kind, Struct):
        return kind.initial()
    if isinstance(kind, _Type):
        return kind() if issubclass(kind, _Numbers) else kind._base(0)
    return None


def _meant(text, cls, around):
    """What an annotation says that is a text."""
    names = {**(around or {}), **vars(cls)}
    try:
        return eval(text, dict(vars(sys.modules[cls.__module__])), names)
    except Exception:  # of names that only the compiler finds
        return text


def _check_annotations(name, annotations):
    from warp.packing import check_annotations

    check_annotations(name, annotations)


class Struct:
    """What @wp.struct makes of a class."""

    _length_ = 1

    def __mro_entries__(self, bases):
        raise RuntimeError("Warp structs must be defined as base classes")

    def __init__(self, cls, around, place):
        self.cls = cls
        self.place = place
        self.key = self.__name__ = cls.__name__
        self.__doc__ = cls.__doc__
        self.around = around
        if "warp.launches" in sys.modules:  # a program's
            sys.modules["warp.launches"].get_module(cls.__module__).structs[self.key] = self
        annotations = {}
        for base in reversed(cls.__mro__):
            for name, kind in inspect.get_annotations(base, eval_str=False).items():
                annotations[name] = _meant(kind, base, around) if isinstance(kind, str) else kind
        _check_annotations(cls.__name__, annotations)
        self.vars = {name: as_type(kind) for name, kind in annotations.items()}
        self.typed = frozenset([name for name, kind in annotations.items() if isinstance(kind, type) and issubclass(kind, scalar_base)])
        self.instance = type(cls.__name__, (StructInstance, cls), {"__module__": cls.__module__, "__qualname__": cls.__qualname__})
        self.remote = None

    @property
    def _numpy(self):
        fields = []
        for name, kind in self.vars.items():
            if _is_array(kind):
                fields.append((name, _array_record(self, name, kind)))
                continue
            shape = getattr(kind, "_shape_", ()) if not isinstance(kind, Struct) else ()
            fields.append((name, kind._numpy, shape))
        return numpy.dtype(fields, align=True)

    def initial(self):
        """A field's that nobody gave a value."""
        return self()

    def numpy_dtype(self):
        """What numpy.dtype() takes, as Warp gives it."""
        known = self._numpy
        kinds, offsets = zip(*[known.fields[name][:2] for name in known.names]) if known.names else ((), ())
        return {"names": list(known.names or ()), "formats": list(kinds), "offsets": list(offsets), "itemsize": known.itemsize}

    @property
    def ctype(self):
        """Its fields, as C has them."""
        def stored(kind):
            if isinstance(kind, Struct):
                return kind.ctype
            return _descriptor(kind) if _is_array(kind) else kind if issubclass(kind, _Numbers) else kind._type_

        fields = [(name, stored(kind)) for name, kind in self.vars.items()]
        return type(self.key, (ctypes.Structure,), {"_fields_": fields})

    def __call__(self, **values):
        made = self.instance(self)
        for name, value in values.items():
            setattr(made, name, value)
        return made

    def __tile_remote__(self):
        if self.remote is None:
            self.remote = _Remote(_Text(_warp(), ".struct(", _source.class_definition(self.cls, self.around, self.place), ")"))
        return self.remote


def struct(cls=None, **options):
    if cls is None:
        return lambda given: Struct(given, _source.surroundings(1), _place())
    return Struct(cls, _source.surroundings(1), _place())


def _place():
    """Where the decorator stands, if it stands at a class."""
    frame = sys._getframe(2)
    path, line = frame.f_code.co_filename, frame.f_lineno
    _source.keep(path)
    return (path, line) if os.path.exists(path) and _source.file_of(path).is_class_at(line) else None


# ---- sizes ----


def inner_shape(kind):
    """The dimensions of an element in memory."""
    return tuple(kind._shape_) if isinstance(kind, _Type) and issubclass(kind, _Numbers) else ()


def element_type(kind):
    """numpy's of the numbers, or of the record."""
    return kind._numpy


def type_size_in_bytes(kind):
    kind = as_type(kind)
    return kind._numpy.itemsize * math.prod(inner_shape(kind))


def type_scalar_type(kind):
    return getattr(kind, "_wp_scalar_type_", as_type(kind))


def type_length(kind):
    return getattr(kind, "_length_", 1)


type_size = type_length
array_dims = 4


def strides_from_shape(shape, dtype):
    """In bytes, of an array without gaps."""
    size, strides = type_size_in_bytes(dtype), []
    for extent in reversed(tuple(shape)):
        strides.insert(0, size)
        size *= extent
    return tuple(strides)


def check_array_shape(shape):
    """What an array may be of."""
    if len(shape) > 4:
        raise RuntimeError(f"Failed to create array with shape {tuple(shape)}, the maximum number of dimensions is 4")
    for extent in shape:
        if extent < 0:
            raise ValueError("Array shapes must be non-negative")
        if extent >= 1 << 31:
            raise ValueError("Array shapes must not exceed the maximum representable value of a signed 32-bit integer, "
                             "otherwise overflow can occur.")


# ---- questions ----


def _family_of(kind):
    return kind._family_ if isinstance(kind, _Composite) else None


def type_is_int(kind):
    return isinstance(kind, type) and (kind is int or as_type(kind) in int_types)


def type_is_float(kind):
    return isinstance(kind, type) and (kind is float or as_type(kind) in float_types)


def type_is_scalar(kind):
    return type_is_int(kind) or type_is_float(kind)


def type_is_vector(kind):
    return _family_of(kind) == "vector"


def type_is_matrix(kind):
    return _family_of(kind) == "matrix"


def type_is_quaternion(kind):
    return _family_of(kind) == "quaternion"


def type_is_transformation(kind):
    return _family_of(kind) == "transformation"


def type_is_composite(kind):
    return _family_of(kind) is not None


def type_is_value(kind):
    return type_is_scalar(kind) or type_is_composite(kind)


def type_is_struct(kind):
    return isinstance(kind, Struct)


def type_is_tile(kind):
    from warp.subscripts import Tiles

    return isinstance(kind, Tiles)


def is_tile(value):
    from warp.subscripts import tile_annotation

    return isinstance(value, tile_annotation)


def type_is_array(kind):
    return isinstance(kind, type) and hasattr(kind, "_rank") and "_own" in vars(kind)


def _of_value(question):
    return lambda value: not isinstance(value, type) and question(type(value))


is_int, is_float, is_scalar = _of_value(type_is_int), _of_value(type_is_float), _of_value(type_is_scalar)
is_vector, is_matrix = _of_value(type_is_vector), _of_value(type_is_matrix)
is_quaternion, is_transformation = _of_value(type_is_quaternion), _of_value(type_is_transformation)
is_composite, is_value = _of_value(type_is_composite), _of_value(type_is_value)


def is_struct(value):
    return isinstance(value, StructInstance)


def is_array(value):
    """Of Warp's own classes, or what an annotation says of one: numpy's and torch's are none."""
    if isinstance(value, (type, StructInstance, numpy.ndarray, numpy.generic)):  # textures have these, too
        return False
    if type(value).__module__.partition(".")[0] == "torch":
        return False
    return hasattr(value, "__tile_facts__") or hasattr(value, "ndim") and hasattr(value, "dtype")


def types_equal(a, b):
    from warp.codes import arrays_equal

    equal = arrays_equal(a, b)
    return as_type(a) is as_type(b) if equal is None else equal


def _is_sequence(kind):
    return isinstance(kind, (list, tuple))


def types_equal_generic(pattern, kind):
    """Whether a type is of a pattern, in which Any is every type; of several (T, ...) is as many of T as there are."""
    from typing import Any

    if pattern is Any:
        return True
    if not _is_sequence(pattern) or not _is_sequence(kind):
        return not _is_sequence(pattern) and not _is_sequence(kind) and _is_of(pattern, kind)
    if Ellipsis in pattern:
        if len(pattern) != 2 or pattern[1] is not Ellipsis:
            raise TypeError(f"An ellipsis sequence pattern must contain one type followed by Ellipsis, got {pattern}")
        return all([types_equal_generic(pattern[0], one) for one in kind])
    return len(pattern) == len(kind) and all([types_equal_generic(one, other) for one, other in zip(pattern, kind)])


def _is_of(pattern, kind):
    from typing import Any

    if _is_array(pattern) and _is_array(kind):
        return type(pattern) is type(kind) and pattern.ndim in (Any, kind.ndim) and types_equal_generic(pattern.dtype, kind.dtype)
    if isinstance(pattern, _Composite) and isinstance(kind, _Composite) and pattern._family_ == kind._family_:
        extents = zip(pattern._shape_, kind._shape_)
        return all([one in (Any, other) for one, other in extents]) and types_equal_generic(pattern._dtype, kind._dtype)
    return types_equal(pattern, kind)


def type_repr(kind):
    if hasattr(kind, "ndim") and hasattr(kind, "dtype") and not isinstance(kind, type):
        name = kind._said if isinstance(getattr(kind, "_said", None), str) else type(kind).__name__
        return f"{name}(ndim={kind.ndim}, dtype={type_repr(kind.dtype)})"
    return getattr(kind, "__name__", str(kind))


def _extents(kind):
    return {"vector": f"length={kind._shape_[0]}, ", "matrix": f"shape={tuple(kind._shape_)}, "}.get(kind._family_, "")


def said(kind):
    """A type as a program writes it."""
    from typing import Any

    name = getattr(kind, "__name__", None)
    if kind is Any:
        return "Any"
    if isinstance(kind, Struct):
        return kind.key
    if isinstance(kind, _Composite):
        return f"wp.{name}" if by_name(name) is kind else f"{kind._family_}({_extents(kind)}dtype={type_repr(kind._dtype)})"
    return f"wp.{name}" if isinstance(kind, _Type) else str(name or kind)


def __getattr__(name):
    found = by_name(name)
    if found is None:
        raise AttributeError(name)
    return found
