"""tvm.arith: of numbers that are known, and of layouts' numbers, whether they are the same."""

from tilec import modules as _modules


class Analyzer:
    def can_prove_equal(self, lhs, rhs):
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs == rhs
        if hasattr(lhs, "equals"):
            return lhs.equals(rhs)
        raise _modules.AbsentError(f"tvm.arith.Analyzer knows no expressions: is {lhs!r} equal to {rhs!r}?")

    def __getattr__(self, name):
        raise AttributeError(f"tvm.arith.Analyzer has no {name!r} in tilec, which has no expressions of TVM's")


_modules.become(__name__, _modules.sys.modules["tvm"].__class__)
