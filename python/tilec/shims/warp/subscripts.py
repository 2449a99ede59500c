"""Types that annotations say by subscripts: Vector[float, Literal[3]], wp.tile[float, 8, 4], wp.array[float, Literal[2]]."""

import types as _python
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from tilec.modules import Described as _Described
from tilec.session import Text as _Text
from tilec.session import text_of as _text_of
from warp import types as _types

MOST_DIMENSIONS = 4


def number(value):
    """The number that a subscript says, itself or as a Literal."""
    if get_origin(value) is Literal:
        said = get_args(value)
        if len(said) != 1:
            raise TypeError(f"Expected a single Literal value, got {value}")
        value = said[0]
    return value


def positive(value, what):
    value = number(value)
    if value is Any:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise TypeError(f"{what} is a positive integer, not {value!r}")
    return value


def rank_of(value):
    """How many dimensions the subscript of an array says."""
    rank = number(value)
    if rank is not Any and not 1 <= rank <= MOST_DIMENSIONS:
        raise ValueError(f"ndim must be between 1 and {MOST_DIMENSIONS}, got {rank}")
    return rank


class _Generic:
    """A family of types: of a dtype, then of extents."""

    _extents_ = 0
    __tile_told__ = True  # the compiler is told the type, as no text of a program's says it there

    def __class_getitem__(cls, given):
        given = given if isinstance(given, tuple) else (given,)
        if any([isinstance(one, TypeVar) for one in given]):
            return _python.GenericAlias(cls, given)
        if len(given) != 1 + cls._extents_:
            raise TypeError(f"{cls.__name__} requires {1 + cls._extents_} parameters, got {len(given)}")
        return cls._made(given[0], *[positive(one, f"an extent of {cls.__name__}") for one in given[1:]])


class Vector(_Generic):
    _extents_ = 1

    @staticmethod
    def _made(dtype, length):
        return _types.vector(length, dtype)


class Matrix(_Generic):
    _extents_ = 2

    @staticmethod
    def _made(dtype, rows, columns):
        return _types.matrix((rows, columns), dtype)


class Quaternion(_Generic):
    @staticmethod
    def _made(dtype):
        return _types.quaternion(dtype)


class Transformation(_Generic):
    @staticmethod
    def _made(dtype):
        return _types.transformation(dtype)


# Variables that annotations of programs are made with, and an array in those that a program alone reads.
Int, Float, Scalar, DType, NDim = TypeVar("Int"), TypeVar("Float"), TypeVar("Scalar"), TypeVar("DType"), TypeVar("NDim")
Length, Rows, Cols, Shape = TypeVar("Length"), TypeVar("Rows"), TypeVar("Cols"), TypeVar("Shape")


class Array(Generic[DType]):
    pass


FAMILIES = {"vector": Vector, "matrix": Matrix, "quaternion": Quaternion, "transformation": Transformation}


# ---- tiles ----


class tile_annotation(_Described):
    """What wp.tile[float, 8, 4] says of a parameter; without extents it is of any."""

    storage = "register"

    def __init__(self, text, dtype, shape):
        super().__init__(text)
        self.dtype, self.shape = dtype, shape

    def __getattr__(self, name):
        raise AttributeError(f"a tile's annotation has no {name!r}")

    def __repr__(self):
        return f"tile(dtype={_types.type_repr(self.dtype)}, shape={self.shape})"


class Tiles(_Described):
    """wp.tile, which annotations are made by."""

    def __call__(self, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        if args or "dtype" not in kwargs:
            return made
        shape = kwargs.get("shape", Any)
        return tile_annotation(made.text, _types.as_type(kwargs["dtype"]), tuple(shape) if isinstance(shape, (tuple, list)) else shape)

    def __getitem__(self, given):
        given = given if isinstance(given, tuple) else (given,)
        if not given:
            raise TypeError("wp.tile[...] requires at least a dtype")
        dtype, extents = _types.as_type(given[0]), given[1:]
        extents = extents[0] if len(extents) == 1 and isinstance(extents[0], tuple) else extents
        shape = tuple([positive(one, "an extent of a tile") for one in extents]) or Any
        said = [] if shape is Any else [f", {extent}" for extent in shape]
        try:
            text = _Text(self.__tile_remote__(), "[", _text_of(dtype), *said, "]")
        except TypeError:  # of a type that the compiler does not know, or of any
            text = _Text("None")
        return tile_annotation(text, dtype, shape)


def is_tile(value):
    return isinstance(value, tile_annotation)


# ---- one of several ----


def union(one, other):
    return Union[one, other]


def check_no_union(function, annotations):
    """A kernel's parameters are each of one type."""
    for name, kind in annotations.items():
        if get_origin(kind) is Union or isinstance(kind, _python.UnionType):
            raise RuntimeError(f"{function.__name__}: the annotation of '{name}' is {kind}: Union type annotations are only supported at Python scope")
