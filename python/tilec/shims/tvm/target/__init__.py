"""Names of targets: kernels are for the device that there is."""

import types as _types

from tilec import modules as _modules


class Target:
    """A name, and what it is said to have; within it, what does not name another is compiled for it."""

    entered = []

    def __init__(self, name="cuda", host=None):
        self.attrs = dict(name) if isinstance(name, dict) else {}
        self.name = self.attrs.get("kind", "cuda") if self.attrs else name
        self.kind = _types.SimpleNamespace(name=str(self.name).partition(" ")[0])
        self.arch = self.attrs.get("arch")
        self.host = host

    def __enter__(self):
        self.entered.append(self)
        return self

    def __exit__(self, *ignored):
        self.entered.pop()

    @classmethod
    def current(cls, allow_none=True):
        if not cls.entered and not allow_none:
            raise ValueError("no target is entered")
        return cls.entered[-1] if cls.entered else None

    def __str__(self):
        return str(self.name)


_modules.become(__name__, _modules.sys.modules["tvm"].__class__)
