"""tvm.tirx: scalars, as programs make them outside of kernels."""

from tilec import modules as _modules
from tilelang.expressions import Constant as _Constant
from tilelang.expressions import Staged as PrimExpr  # noqa: F401
from tilelang.expressions import Variable as Var  # noqa: F401
from tilelang.types import dtype as _dtype


class _Calls(type):
    def __instancecheck__(cls, value):
        return isinstance(value, PrimExpr) and not isinstance(value, (Var, _Constant))


class Call(metaclass=_Calls):
    """What a function makes of expressions."""


class IntImm(_Constant):
    """A number of an integer type."""


class FloatImm(_Constant):
    """A number of a float type."""


class Buffer:
    """What layouts are made for: a shape, and a type."""

    def __init__(self, shape, dtype="float32", name="buffer", scope="global"):
        self.shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
        self.dtype = _dtype(dtype)
        self.name = name
        self._scope = scope or "global"

    def scope(self):
        return self._scope


def decl_buffer(shape, dtype="float32", name="buffer", data=None, strides=None, elem_offset=None, scope="", **options):
    if data is not None or strides is not None or elem_offset is not None:
        raise _modules.AbsentError("tvm.tirx.decl_buffer: of a shape and a type alone")
    return Buffer(shape, dtype, name, scope)


def const(value, dtype="int32"):
    return (FloatImm if str(dtype).startswith(("float", "bfloat")) else IntImm)(dtype, value)


_modules.become(__name__, _modules.sys.modules["tvm"].__class__)
