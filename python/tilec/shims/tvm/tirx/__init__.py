"""tvm.tirx: scalars, as programs make them outside of kernels."""

from tilec import modules as _modules
from tilelang.expressions import Constant as _Constant
from tilelang.expressions import Staged as PrimExpr  # noqa: F401
from tilelang.expressions import Variable as Var  # noqa: F401


class _Calls(type):
    def __instancecheck__(cls, value):
        return isinstance(value, PrimExpr) and not isinstance(value, (Var, _Constant))


class Call(metaclass=_Calls):
    """What a function makes of expressions."""


class IntImm(_Constant):
    """A number of an integer type."""


class FloatImm(_Constant):
    """A number of a float type."""


def const(value, dtype="int32"):
    return (FloatImm if str(dtype).startswith(("float", "bfloat")) else IntImm)(dtype, value)


_modules.become(__name__, _modules.sys.modules["tvm"].__class__)
