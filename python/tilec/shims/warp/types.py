"""Warp's types in Python: numbers, vectors, matrices, quaternions, structs, on the host's side of a launch."""

import inspect

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
        return cls.__name__


# ---- numbers ----


class _Number(metaclass=_Type):
    """A number with a type, for an argument."""

    _remote = None
    _length_ = 1

    def __init__(self, value=0):
        self.value = getattr(value, "value", value)

    @classmethod
    def _words(cls):
        return _Text(_warp(), f".{cls.__name__}")

    def __tile_text__(self):
        return _text_of(self.value)

    def __int__(self):
        return int(self.value)

    __index__ = __int__

    def __float__(self):
        return float(self.value)

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        return self.value == getattr(other, "value", other)

    def __hash__(self):
        return hash((type(self), self.value))

    def __repr__(self):
        return f"{self.value}"


def _number(name, kind, base):
    return type(_Number)(name, (_Number,), {"_numpy": numpy.dtype(kind), "_base": base, "__module__": __name__})


int8, uint8 = _number("int8", "i1", int), _number("uint8", "u1", int)
int16, uint16 = _number("int16", "i2", int), _number("uint16", "u2", int)
int32, uint32 = _number("int32", "i4", int), _number("uint32", "u4", int)
int64, uint64 = _number("int64", "i8", int), _number("uint64", "u8", int)
float16, float32, float64 = _number("float16", "f2", float), _number("float32", "f4", float), _number("float64", "f8", float)
bfloat16 = _number("bfloat16", _bfloat16(), float)
bool = _number("bool", "?", __builtins__["bool"] if isinstance(__builtins__, dict) else __builtins__.bool)
scalar_types = [int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16, float32, float64]
int_types = scalar_types[:8]
float_types = scalar_types[8:]
value_types = (int, float, *scalar_types)
_PLAIN = {int: int32, float: float32, type(True): bool}


def as_type(kind):
    """What an annotation or a dtype means: `float` is 32 bits."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, _Type) or kind is None:
        return kind
    is_numpy = isinstance(kind, numpy.dtype) or (isinstance(kind, type) and issubclass(kind, numpy.generic))
    return _FROM_NUMPY.get(numpy.dtype(kind), kind) if is_numpy else kind


type_to_warp = as_type
_FROM_NUMPY = {one._numpy: one for one in [*scalar_types, bool]}
np_dtype_to_warp_type = {numpy.dtype("?"): bool, **{one._numpy: one for one in scalar_types if one is not bfloat16}}


# ---- several numbers ----


class _Numbers(metaclass=_Type):
    _remote = None

    def __init__(self, *given, **named):
        count = int(numpy.prod(self._shape_))
        flat = [item for value in (*given, *named.values()) for item in _leaves(value)]
        if len(flat) == 0:
            flat = [0] * count
        elif len(flat) == 1:
            flat = flat * count
        if len(flat) != count:
            raise ValueError(f"{type(self).__name__} is made of {count} numbers, not {len(flat)}")
        if self._family_ == "matrix" and len(given) > 1 and all([isinstance(value, _Numbers) for value in given]):
            self.data = numpy.array(flat, self._numpy).reshape(self._shape_[::-1]).T.copy()  # columns
        else:
            self.data = numpy.array(flat, self._numpy).reshape(self._shape_)

    def __tile_text__(self):
        flat = [item.item() if hasattr(item, "item") else item for item in self.data.reshape(-1)]
        return _session.call_text(_Text(type(self).__tile_remote__()), flat, {})

    def __array__(self, dtype=None, copy=None):
        return self.data if dtype is None else self.data.astype(dtype)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, index):
        found = self.data[index]
        return found.item() if numpy.ndim(found) == 0 else _of_array(found, self._dtype)

    def __setitem__(self, index, value):
        self.data[index] = value

    def __eq__(self, other):
        return type(self) is type(other) and numpy.array_equal(self.data, other.data)

    def __hash__(self):
        return hash((type(self), self.data.tobytes()))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join([str(item) for item in self.data.reshape(-1)])})"

    def _with(self, data):
        made = object.__new__(type(self))
        made.data = data.astype(self._numpy)
        return made

    def __add__(self, other):
        return self._with(self.data + other.data)

    def __sub__(self, other):
        return self._with(self.data - other.data)

    def __neg__(self):
        return self._with(-self.data)

    def __mul__(self, other):
        if isinstance(other, _Numbers):
            return _of_array(self.data @ other.data, self._dtype) if self._family_ == "matrix" else self._with(self.data * other.data)
        return self._with(self.data * float(other))

    __rmul__ = __mul__
    __matmul__ = __mul__

    def __truediv__(self, other):
        return self._with(self.data / float(other))

    @classmethod
    def _words(cls):
        shape = f"length={cls._shape_[0]}" if cls._family_ == "vector" else f"shape={tuple(cls._shape_)}"
        word = {"quaternion": "quaternion", "transformation": "transformation"}.get(cls._family_)
        if word:
            return _Text(_warp(), f".types.{word}(dtype=", cls._dtype.__tile_remote__(), ")")
        return _Text(_warp(), f".types.{cls._family_}({shape}, dtype=", cls._dtype.__tile_remote__(), ")")


for _index, _letter in enumerate("xyzw"):
    setattr(_Numbers, _letter, property(lambda self, i=_index: self[i], lambda self, value, i=_index: self.__setitem__(i, value)))


def _of_array(data, dtype):
    kind = vector(len(data), dtype) if data.ndim == 1 else matrix(data.shape, dtype)
    made = object.__new__(kind)
    made.data = data
    return made


def _leaves(value):
    if isinstance(value, _Numbers):
        return list(value.data.reshape(-1))
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return [item for part in value for item in _leaves(part)]
    return [getattr(value, "value", value)]


_made = {}
_FAMILY = {"vector": "vec", "matrix": "mat", "quaternion": "quat", "transformation": "transform"}


def _numbers(family, shape, dtype):
    dtype = as_type(dtype)
    key = family, tuple(shape), dtype
    if key not in _made:
        sizes = "x".join([str(extent) for extent in shape]) if family in ("vector", "matrix") else ""
        name = f"{_FAMILY[family]}{sizes}_{getattr(dtype, '__name__', dtype)}"
        names = {"_family_": family, "_shape_": tuple(shape), "_dtype": dtype, "_wp_scalar_type_": dtype, "_length_": int(numpy.prod(shape)),
                 "_numpy": getattr(dtype, "_numpy", None), "__module__": __name__}
        _made[key] = _Type(name, (_Numbers,), names)
    return _made[key]


def vector(length, dtype=float):
    return _numbers("vector", (length,), dtype)


def matrix(shape, dtype=float):
    return _numbers("matrix", shape, dtype)


def quaternion(dtype=float):
    return _numbers("quaternion", (4,), dtype)


def transformation(dtype=float):
    return _numbers("transformation", (7,), dtype)


_SUFFIXES = {"": float32, "h": float16, "f": float32, "d": float64, "b": int8, "ub": uint8, "s": int16, "us": uint16, "i": int32,
             "ui": uint32, "l": int64, "ul": uint64}


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


# ---- structs ----


class StructInstance:
    def __init__(self, struct):
        self.__dict__["_struct"] = struct
        for name, kind in struct.vars.items():
            self.__dict__[name] = _initial(kind)

    def __setattr__(self, name, value):
        if name not in self._struct.vars:
            raise RuntimeError(f"{name} is not defined as an attribute of {self._struct.key}")
        kind = self._struct.vars[name]
        if isinstance(kind, _Type) and issubclass(kind, _Numbers) and not isinstance(value, kind):
            value = kind(value)
        self.__dict__[name] = value

    def __tile_take__(self, given):
        texts = [_Text(f"{name}=", given.take(_argument(self.__dict__[name])), ", ") for name in self._struct.vars]
        return _Text(self._struct.__tile_remote__(), "(", *texts, ")")

    def __tile_look__(self, given):
        return id(self._struct), tuple([given.look(_argument(self.__dict__[name])) for name in self._struct.vars])

    def numpy_value(self):
        made = numpy.zeros((), self._struct._numpy)
        for name in self._struct.vars:
            value = self.__dict__[name]
            made[name] = value.numpy_value() if isinstance(value, StructInstance) else numpy.asarray(getattr(value, "value", value))
        return made[()]

    def to(self, device):
        """With its arrays on that device."""
        made = StructInstance(self._struct)
        for name in self._struct.vars:
            value = self.__dict__[name]
            made.__dict__[name] = value.to(device) if hasattr(value, "to") else value
        return made


def _argument(value):
    return value.value if isinstance(value, _Number) else value


def _initial(kind):
    if isinstance(kind, Struct):
        return kind()
    if isinstance(kind, _Type):
        return kind() if issubclass(kind, _Numbers) else kind._base(0)
    return None


class Struct:
    """What @wp.struct makes of a class."""

    _length_ = 1

    def __init__(self, cls, around):
        self.cls = cls
        self.key = self.__name__ = cls.__name__
        self.around = around
        annotations = {}
        for base in reversed(cls.__mro__):
            annotations.update(inspect.get_annotations(base, eval_str=False))
        self.vars = {name: as_type(kind) for name, kind in annotations.items()}
        self.remote = None
        self.line = None

    @property
    def _numpy(self):
        fields = []
        for name, kind in self.vars.items():
            if hasattr(kind, "ndim"):
                raise TypeError(f"an array of {self.key} is not possible: its field {name} is an array")
            shape = getattr(kind, "_shape_", ()) if not isinstance(kind, Struct) else ()
            fields.append((name, kind._numpy, shape))
        return numpy.dtype(fields, align=True)

    def numpy_dtype(self):
        return self._numpy

    def __call__(self, **values):
        made = StructInstance(self)
        for name, value in values.items():
            setattr(made, name, value)
        return made

    def __tile_remote__(self):
        if self.remote is None:
            self.remote = _Remote(_Text(_warp(), ".struct(", _source.class_definition(self.cls, self.around), ")"))
        return self.remote


def struct(cls=None, **options):
    if cls is None:
        return lambda given: Struct(given, _source.surroundings(1))
    return Struct(cls, _source.surroundings(1))


# ---- sizes ----


def inner_shape(kind):
    """The dimensions of an element in memory."""
    return tuple(kind._shape_) if isinstance(kind, _Type) and issubclass(kind, _Numbers) else ()


def element_type(kind):
    """numpy's of the numbers, or of the record."""
    return kind._numpy


def type_size_in_bytes(kind):
    kind = as_type(kind)
    return kind._numpy.itemsize * int(numpy.prod(inner_shape(kind), dtype=int))


def type_scalar_type(kind):
    return getattr(kind, "_wp_scalar_type_", as_type(kind))


def type_length(kind):
    return getattr(kind, "_length_", 1)


def type_is_float(kind):
    return type_scalar_type(kind) in float_types


def type_is_int(kind):
    return type_scalar_type(kind) in int_types


def types_equal(a, b):
    return as_type(a) is as_type(b)


def type_repr(kind):
    return getattr(kind, "__name__", str(kind))


def is_array(value):
    return hasattr(value, "__tile_facts__")


def __getattr__(name):
    found = by_name(name)
    if found is None:
        raise AttributeError(name)
    return found
