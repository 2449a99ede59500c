"""tilelang.language: the words of kernels are the compiler's; in Python they describe parameters."""

from tilec import modules as _modules
from tilec.session import Remote as _Remote
from tilelang.expressions import Constant as _Constant
from tilelang.kernels import Macro as _Macro
from tilelang.kernels import PrimFunc as _PrimFunc
from tilelang.types import dtype  # noqa: F401


def prim_func(function=None, **options):
    if function is None:
        return lambda given: _PrimFunc(given, _source.surroundings(1))
    return _PrimFunc(function, _source.surroundings(1))


def macro(function=None, **options):
    if function is None:
        return lambda given: _Macro(given, _source.surroundings(1))
    return _Macro(function, _source.surroundings(1))


def ceildiv(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    return _language.ceildiv(a, b)


def cast(value, to, **options):
    """As the compiler's; a number that it makes has its type here, too."""
    return _language.cast(value, to, **options) if options or not isinstance(value, (int, float)) else _Constant(dtype(to), value)


def Cast(to, value):
    return cast(value, to)


class _OfRemotes(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _Remote) and not isinstance(value, dtype)


class PrimExpr(metaclass=_OfRemotes):
    """What a program has of numbers that calls tell: extents, and what is computed of them."""


class Var(PrimExpr):
    """See PrimExpr."""


from tilec import source as _source  # noqa: E402


class _Language(_modules.DialectModule):
    described = frozenset(["Tensor", "StridedTensor", "Buffer", "SharedBuffer", "FragmentBuffer", "LocalBuffer", "ptr", "Ptr", "handle"])

    def __getattr__(self, name):
        return dtype(name) if dtype.is_name(name) else super().__getattr__(name)

    def converted(self, name, value):
        return dtype(name) if isinstance(value, _Remote) and dtype.is_one(value) else value


_language = _modules.become(__name__, _Language)._remote
