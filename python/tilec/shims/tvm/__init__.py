"""What TileLang programs name of TVM."""

import types as _types

from tilec import modules as _modules
from tilec import native as _native

error = _types.SimpleNamespace(
    TVMError=_native.Error, InternalError=_native.Error, DiagnosticError=_native.Error, OpError=_native.Error)


class _Target:
    """A name of a target: kernels are for the device that there is."""

    def __init__(self, name="cuda", host=None):
        self.name = name
        self.kind = _types.SimpleNamespace(name=str(name).partition(" ")[0])

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        return None

    def __str__(self):
        return str(self.name)


target = _types.SimpleNamespace(Target=_Target)
_modules.offer("tvm")
_modules.become(__name__)
