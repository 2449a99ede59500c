"""Warp, compiled by tilec: kernels go to libtilec, arrays and launches are here."""

import importlib.abc as _abc
import importlib.util as _util
import os as _os
import sys as _sys
import types as _types_module

from tilec import modules as _modules

from warp import arrays as _arrays
from warp import devices as _devices
from warp import launches as _launches
from warp import tape as _tape
from warp import types
from warp._src import context
from warp.types import StructInstance, matrix, quaternion, struct, transformation, vector  # noqa: F401

for _module in (_arrays, _devices, _launches, _tape):
    for _name in dir(_module):
        if not _name.startswith("_") and getattr(getattr(_module, _name), "__module__", "").startswith("warp"):
            globals()[_name] = getattr(_module, _name)
for _kind in [*types.scalar_types, types.bool]:
    globals()[_kind.__name__] = _kind
__version__ = "1.17.0"


class _Config(_types_module.SimpleNamespace):
    """Settings of Warp's own compiler: what is set is kept, and changes nothing here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


config = _Config(quiet=True, verify_fp=False, mode="release", verbose=False, enable_backward=True, kernel_cache_dir=None)


def init():
    """There is nothing to set up."""


def set_module_options(options, module=None):
    """See config."""


def get_module_options(module=None):
    return {}


def get_module(name=None):
    return _launches.Module(name)


def load_module(module=None, device=None, recursive=False, **options):
    """A kernel is compiled when it is launched."""


force_load = clear_kernel_cache = clear_lto_cache = load_module


class ScopedCapture:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("wp.ScopedCapture: launches are captured by the CUDA runtime, see libtile(3)")


class _Tests(_abc.MetaPathFinder):
    """warp.tests of a tree of Warp's own that is on the path: its tests are data here."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[:2] != ["warp", "tests"]:
            return None
        for folder in _sys.path:
            stem = _os.path.join(folder, *name.split("."))
            for file, inner in ((_os.path.join(stem, "__init__.py"), [stem]), (f"{stem}.py", None)):
                if _os.path.isfile(file):
                    return _util.spec_from_file_location(name, file, submodule_search_locations=inner)
        return None


class _Warp(_modules.DialectModule):
    described = frozenset(["tile", "tile_stack", "ref", "Int", "Float", "Scalar"])

    def __getattr__(self, name):
        kind = types.by_name(name)
        if kind is not None:
            self.__dict__[name] = kind
            return kind
        return super().__getattr__(name)


_sys.meta_path.append(_Tests())
_modules.offer("warp")
_modules.become(__name__, _Warp)
