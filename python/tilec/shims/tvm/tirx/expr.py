"""tvm.tirx.expr: what tvm.tirx has, too."""

from tilec import modules as _modules
from tvm.tirx import Call, FloatImm, IntImm, PrimExpr, Var  # noqa: F401

_modules.become(__name__, _modules.sys.modules["tvm"].__class__, remote="tvm.tirx")
