"""What kernels mean, as bytes: those that mean the same have the same ones."""

import ast
import builtins
import enum
import hashlib
import inspect
import types as python
import weakref

import numpy

from tilec import source as _source
from tilec.modules import Described
from warp.types import Struct, StructInstance, _Numbers, _Type, scalar_base


def codes(code):
    """A function's, and those of the functions in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, python.CodeType):
            yield from codes(one)


_texts = weakref.WeakKeyDictionary()


def _text(function):
    """As its file was when it was defined."""
    if function not in _texts:
        try:
            node = _source.node_of(function)
        except (OSError, SyntaxError):
            node = None
        _texts[function] = inspect.getsource(function) if node is None else ast.unparse(node)
    return _texts[function]


class Digest:
    def __init__(self):
        self.hash = hashlib.sha256()
        self.seen = {}
        self.is_whole = True  # whether all that a kernel's names mean is in it

    def add(self, *words):
        for word in words:
            self.hash.update(f"{len(word)}:{word},".encode())
        return self

    def unknown(self, value):
        self.is_whole = False
        return self.add("unknown", type(value).__qualname__)

    def several(self, word, values):
        self.add(word, str(len(values)))
        for one in values:
            self.value(one)
        return self

    def value(self, value):
        if id(value) in self.seen:
            return self.add("again", str(self.seen[id(value)][0]))
        kind = type(value)
        if kind in (bool, int, float, str, bytes, complex, type(None)) or isinstance(value, (scalar_base, _Numbers, numpy.generic, enum.Enum)):
            return self.add(kind.__qualname__, repr(value))
        self.seen[id(value)] = len(self.seen), value
        if kind in (tuple, list):
            return self.several(kind.__name__, value)
        if kind in (set, frozenset):
            return self.several("set", sorted(value, key=repr))
        if kind is dict:
            return self.several("dict", [part for item in value.items() for part in item])
        function = getattr(value, "__tile_function__", value)
        if isinstance(function, python.FunctionType):
            self.add(str(getattr(value, "inline_hint", None))).several("earlier", getattr(value, "earlier", []))
            self.several("snippets", getattr(value, "snippets", ()))
            return self.function(function, getattr(value, "around", None))
        if isinstance(value, (python.ModuleType, python.BuiltinFunctionType)):
            return self.add("name", value.__name__)
        if isinstance(value, StructInstance):
            return self.value(value._struct).several("fields", [vars(value)[name] for name in value._struct.vars])
        if isinstance(value, Struct):
            return self.add("struct", value.key, *value.vars).several("fields", list(value.vars.values()))
        if isinstance(value, _Type) or isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
            return self.add("type", value.__module__, value.__qualname__)
        if isinstance(value, enum.EnumMeta):
            return self.several("enum", [part for one in value for part in (one.name, one.value)])
        if isinstance(value, Described):
            return self.add("described", repr(value)) if kind is not Described else self.unknown(value)
        if hasattr(value, "dtype") and isinstance(getattr(value, "ndim", None), int) and "annotation" in kind.__name__:
            return self.add(kind.__name__, str(value.ndim)).value(value.dtype)
        if kind.__name__ == "Builtin":
            return self.add("builtin", value.key)
        if kind.__module__ == "typing" or value is inspect.Parameter.empty:
            return self.add("typing", repr(value))
        return self.unknown(value)

    def function(self, function, around=None):
        try:
            self.add("function", _text(function))
        except (OSError, TypeError):
            self.unknown(function)
        known = dict(around or {})
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                known[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                self.add("unassigned", name)
        mentioned = {name for code in codes(function.__code__) for name in (*code.co_names, *code.co_freevars)}
        for name in sorted(mentioned):
            if name in known:
                self.add(name).value(known[name])
            elif name in function.__globals__:
                self.add(name).value(function.__globals__[name])
            elif not hasattr(builtins, name):
                self.add("absent", name)
        for name, kind in getattr(function, "__annotations__", {}).items():
            self.add(name).value(kind)
        self.several("calls", [part for call in getattr(function, "__tile_calls__", ()) for part in call[1:]])
        return self.several("defaults", list(function.__defaults__ or ()))

    def kernel(self, kernel):
        self.value(kernel.func).add(kernel.key)
        return self.value([kernel.enable_backward, kernel.most_threads, kernel.options.get("grid_stride"), kernel.more_options])

    def bytes(self):
        return self.hash.digest()
