"""Modules of a dialect in Python: what a program uses around kernels is Python's, all else is libtilec's."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types

from tilec import native, session
from tilec.session import Remote, Text, Unspeakable, call_text, text_of


class Described:
    """What annotations are made by: a text, which is evaluated when a kernel needs it, if ever."""

    def __init__(self, text):
        self.text = text
        self.remote = None

    def __tile_remote__(self):
        if self.remote is None:
            self.remote = Remote(self.text)
        return self.remote

    def made(self, make):
        try:
            return Described(make())
        except Unspeakable:
            return Described(Text("None"))

    def __call__(self, *args, **kwargs):
        return self.made(lambda: call_text(Text(self.__tile_remote__()), args, kwargs))

    def __getitem__(self, index):
        return self.made(lambda: Text(self.__tile_remote__(), "[", text_of(index), "]"))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__tile_remote__(), name)

    def __invert__(self):
        return self.made(lambda: Text("(~", self.__tile_remote__(), ")"))

    def __or__(self, other):
        return self

    __ror__ = __or__


class DialectModule(types.ModuleType):
    """A module whose names are those that it was given in Python, then the dialect's."""

    described = frozenset()  # names that annotations are made by

    def __tile_remote__(self):
        return self.__dict__["_remote"]

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        whole = f"{self.__name__}.{name}"
        if whole in of_origins and origin_spec(whole) is not None:
            return importlib.import_module(whole)
        remote = self.__dict__["_remote"]
        if name in self.described:
            value = Described(Text(remote, f".{name}"))
        else:
            try:
                value = self.converted(name, getattr(remote, name))
                if isinstance(value, Remote):
                    value.__dict__.setdefault("__name__", name)
            except native.CompileError as error:
                raise AttributeError(f"{self.__name__} has no {name!r}: {error}") from None
        self.__dict__[name] = value
        return value

    def __setattr__(self, name, value):
        """A module that is imported takes no name in the one above it which is a function there, as the originals' own imports have it."""
        if not (isinstance(value, types.ModuleType) and value.__name__ == f"{self.__name__}.{name}" and self.has_function(name)):
            super().__setattr__(name, value)

    def has_function(self, name):
        if name in self.__dict__ or "_remote" not in self.__dict__:
            return not isinstance(self.__dict__.get(name, self), types.ModuleType)
        try:
            return session.evaluate(Text("callable(getattr(", self.__dict__["_remote"], f", {name!r}, None))"))
        except native.CompileError:  # a module that is Python's alone
            return False

    def converted(self, name, value):
        """What Python has in the place of a Remote."""
        return value

    @property
    def __all__(self):
        names = session.evaluate(Text("core.names(", self.__dict__["_remote"], ")"))
        return sorted(set(names) | {name for name in self.__dict__ if not name.startswith("_")})


def become(name, kind=DialectModule, remote=None):
    """Makes the module of that name, which is being imported, a dialect's."""
    module = sys.modules[name]
    module.__class__ = kind
    module.__dict__.setdefault("__path__", [])  # modules of the library's alone may be below it
    module.__dict__["_remote"] = session.module(remote or name)
    return module


class AbsentError(native.Error, ImportError):
    """Programs that do without a module that is not there do so here."""


class Absent(types.ModuleType):
    """A name of the original's that the dialect has nothing for: an error where it is used, not where it is imported."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __call__(self, *args, **kwargs):
        if is_of_origin(self.__name__):
            root = self.__name__.partition(".")[0]
            raise AbsentError(f"{self.__name__} is taken from {root}'s own package, which is not found: install it, or name the folder that "
                              f"has {root}/ in TILE_ORIGINS")
        raise AbsentError(f"{self.__name__} is no part of tilec")

    def __mro_entries__(self, bases):
        return ()

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __instancecheck__(self, value):
        return False

    __subclasscheck__ = __instancecheck__


def exists(name):
    """Whether the dialects' library has that module."""
    with session.lock:
        told = session.the.run(f"try:\n    import {name} as _m\n    give(True)\nexcept ImportError:\n    give(False)")
    return told["values"][0]


of_origins = set()  # modules that are taken from a system's own package


def is_of_origin(name):
    return any([name == one or name.startswith(one + ".") for one in of_origins])


def origin_spec(name):
    """Where the system's own package has that module, if it is installed: on the path, or in a folder that TILE_ORIGINS names."""
    root, _, rest = name.partition(".")
    shims = os.path.dirname(os.path.abspath(sys.modules[root].__file__))
    for folder in [*filter(None, os.environ.get("TILE_ORIGINS", "").split(os.pathsep)), *sys.path]:
        package = os.path.join(os.path.abspath(folder), root)
        if package == shims or not os.path.isdir(package):
            continue
        base = os.path.join(package, *rest.split("."))
        for file, inside in ((os.path.join(base, "__init__.py"), [base]), (base + ".py", None)):
            if os.path.isfile(file):
                session.the.add_package(name, file, os.path.abspath(folder))
                return importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    return None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules of the dialects that have no file in Python: the library's, and those that nothing is there for."""

    def __init__(self, root, kind=DialectModule):
        self.root = root
        self.kind = kind

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(self.root + "."):
            return None
        if is_of_origin(name):
            found = origin_spec(name)
            if found is not None:
                return found
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        if not exists(spec.name):
            return Absent(spec.name)
        module = self.kind(spec.name)
        module.__dict__["_remote"] = session.module(spec.name)
        return module

    def exec_module(self, module):
        module.__path__ = []


def offer(root, kind=DialectModule, kernels=()):
    """Behind all other finders, so that files of Python win. `kernels`: parts of the system's own package that are kernels
    and what calls them, which are compiled as a program's are."""
    of_origins.update([f"{root}.{one}" for one in kernels])
    sys.meta_path.append(Finder(root, kind))
