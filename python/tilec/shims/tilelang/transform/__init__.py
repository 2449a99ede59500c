"""Options of TileLang's passes: tilec has its own, and takes none of them."""

from tilec import modules as _modules
from tilelang.transform.simplify import apply_simplify, simplify_prim_func  # noqa: F401


class _Keys(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name.lower().replace("_", ".", 1)


class PassConfigKey(metaclass=_Keys):
    """Any name is one."""


_modules.become(__name__)
