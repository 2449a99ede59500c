"""A source file's kernels by their names."""

import os

from tilec import native, session, speech  # noqa: F401
from tilec.kernels import Compiled
from tilec.session import Remote, Text, text_of


class Program:
    def __init__(self, path, names):
        path = os.path.abspath(path)
        folder, file = os.path.split(path)
        self._remote = Remote(Text("core.module_at(", repr(path), ", ", repr(os.path.splitext(file)[0]), ", ", repr(folder), ", ",
                                   text_of(names), ")"))
        self._kernels = {}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._kernels:
            value = getattr(self._remote, name)
            if not isinstance(value, Remote):
                return value
            self._kernels[name] = Compiled(value, _parameters(value))
        return self._kernels[name]


def _parameters(kernel):
    try:
        return session.evaluate(Text("list(core.signature(", kernel, "))"))
    except native.CompileError:
        return ()  # it gives kernels, or is none
