"""What TileLang programs name of TVM."""

import pkgutil as _pkgutil
import types as _types
from importlib import import_module as _import_module

from tilec import modules as _modules
from tilec import native as _native
from tilelang.types import dtype as DataType  # noqa: F401

error = _types.SimpleNamespace(
    TVMError=_native.Error, InternalError=_native.Error, DiagnosticError=_native.Error, OpError=_native.Error)


class _PassContext:
    """Options of TVM's passes, which nothing here depends on."""

    entered = []

    def __init__(self, opt_level=2, config=None, **options):
        self.opt_level = opt_level
        self.config = dict(config or {})

    def __enter__(self):
        self.entered.append(self)
        return self

    def __exit__(self, *ignored):
        self.entered.pop()

    @classmethod
    def current(cls):
        return cls.entered[-1] if cls.entered else cls()


transform = _types.SimpleNamespace(PassContext=_PassContext)
TVMError = _native.Error


_FILES = {_one.name for _one in _pkgutil.iter_modules(__path__)}


class _TVM(_modules.DialectModule):
    """Names that kernels have no use for are errors where they are used."""

    def __getattr__(self, name):
        whole = f"{self.__name__}.{name}"
        try:
            found = not name.startswith("__") and (name in _FILES or _modules.exists(whole))
            return _import_module(whole) if found else super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            return _modules.Absent(whole)


_modules.offer("tvm", _TVM)
_modules.become(__name__, _TVM)

target, testing = _import_module("tvm.target"), _import_module("tvm.testing")
