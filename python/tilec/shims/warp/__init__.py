"""Warp, compiled by tilec: kernels go to libtilec, arrays and launches are here."""

import os as _os
import sys as _sys

from tilec import modules as _modules
from tilec import native as _native
from tilec import session as _session
from tilec.session import Remote as _Remote
from tilec.session import Text as _Text

from warp import access as _access
from warp import aot as _aot
from warp import arrays as _arrays
from warp import boxes as _boxes
from warp import builds as _builds
from warp import builtins as _builtins
from warp import captures as _captures
from warp import devices as _devices
from warp import diagnostics as _diagnostics
from warp import dlpack as _dlpack
from warp import fabric as _fabric
from warp import graphs as _graphs
from warp import grids as _grids
from warp import jax as _jax
from warp import jax_calls as _jax_calls
from warp import launches as _launches
from warp import maps as _maps
from warp import memory as _memory
from warp import meshes as _meshes
from warp import settings as _settings
from warp import subscripts as _subscripts
from warp import tape as _tape
from warp import textures as _textures
from warp import timing as _timing
from warp import types, utils
from warp._src import context
from warp.builtins import transform_expand, transform_set_rotation, transform_set_translation  # noqa: F401
from warp._src.codegen import *  # noqa: F403
from warp._src.logger import (  # noqa: F401
    LOG_DEBUG, LOG_ERROR, LOG_INFO, LOG_WARNING, Logger, LoggerBasic, ScopedLogger, ScopedLogLevel, get_logger, set_logger,
)
from warp._src import types as _src_types  # noqa: F401
from warp._src import utils as _src_utils  # noqa: F401
from warp.devices import DeviceLike  # noqa: F401
from warp.settings import DeterministicMode  # noqa: F401
from warp.types import StructInstance, matrix, quaternion, ref, struct, transformation, vector  # noqa: F401

vec, mat = vector, matrix  # as older releases call them

for _module in (_access, _aot, _arrays, _boxes, _builds, _captures, _devices, _diagnostics, _dlpack, _fabric, _graphs, _grids, _jax, _jax_calls, _launches, _maps, _memory,
                _meshes, _tape, _textures, _timing):
    for _name in _module.__all__ if _module in (_aot, _builds, _timing) else dir(_module):
        if _module is _timing or not _name.startswith("_") and getattr(getattr(_module, _name), "__module__", "").startswith("warp"):
            globals()[_name] = getattr(_module, _name)
for _kind in [*types.scalar_types, types.bool, types.handle]:
    globals()[_kind.__name__] = _kind
__version__ = "1.19.0"


config = _settings.config_of(__version__)
_sys.modules[f"{__name__}.config"] = config


_is_initialized = []


def init():
    """Where the program chooses a folder for compiled code, that is it. What was known of modules' options before is asked anew."""
    from warp._src import build

    if not _is_initialized:
        _is_initialized.append(True)
        for name in _launches.modules():
            _launches.get_module(name).forget_options()

    if (config.kernel_cache_dir or _os.environ.get("WARP_CACHE_PATH")) and build._resolved_kernel_cache_dir is None:
        build.init_kernel_cache(config.kernel_cache_dir)


def _module_of(module):
    if isinstance(module, _launches.Module):
        return module
    if module is None:
        return _launches.get_module(_launches.caller_module_name(3))
    return _launches.get_module(module if isinstance(module, str) else module.__name__)


def set_module_options(options, module=None):
    """See config."""
    found = _module_of(module)
    found.options.update(options)
    if not options.keys().isdisjoint(("deterministic", "mode", "fast_math", "fuse_fp")):
        for kernel in list(found.made):
            kernel.forget()


def get_cpu_kernel_cache_key(*, cpu_compiler_flags=None):
    raise RuntimeError("Warp's LLVM is not here: code for processors is made by tilec when it runs, and depends on no flags")


def get_module_options(module=None):
    return _module_of(module).options


def load_module(module=None, device=None, recursive=False, block_dim=None):
    """Compiles its kernels, which else are compiled when they are launched."""
    found = _module_of(module)
    names = [name for name in _launches.modules() if recursive and name.startswith(f"{found.name}.")]
    modules = [found, *[_launches.get_module(name) for name in names]]
    if found.name.partition(".")[0] != "warp" and not any([one.is_anything() for one in modules]):
        raise RuntimeError(f"Module '{found.name}' does not contain any Warp kernels, functions, or structs")
    force_load(device, modules, block_dim)


def force_load(device=None, modules=None, block_dim=None, max_workers=None):
    """Without modules there is nothing to do: a kernel is compiled when it is launched. Several workers, which are one here, load what can be
    loaded before an error is raised."""
    failure = None
    is_serial = (config.load_module_max_workers if max_workers is None else max_workers) == 0
    for one in modules or ():
        for place in get_devices() if device is None else [get_device(device)]:  # noqa: F405
            try:
                _builds.load_on(_module_of(one), place, block_dim)
            except _native.CompileError as error:
                failure = _builds.freed(error) if failure is None else failure
        if failure is not None and is_serial:
            break
    if failure is not None:
        raise failure


def clear_kernel_cache():
    """What is compiled is kept by what it is compiled of: nothing of it is ever wrong."""


clear_lto_cache = clear_kernel_cache


class _Refused(type):
    """Of a class of the origin's that is not here: programs name it in annotations and ask for it by isinstance; to make one is an error."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _modules.Absent(f"warp.{cls.__name__}.{name}")

    def __call__(cls, *args, **kwargs):
        raise _modules.AbsentError(cls.__doc__)


_REFUSED = frozenset("""
    BvhQuery BvhQueryTiled GLTextureResource MarchingCubes MeshQuery MeshQueryAABB MeshQueryAABBTiled
    MeshQueryPoint MeshQueryRay RegisteredGLBuffer TextureResourceFlags Volume
""".split())


class _Warp(_modules.DialectModule):
    described = frozenset(["tile_stack", "Int", "Float", "Scalar"])

    def __getattr__(self, name):
        if name == "tile":
            self.__dict__[name] = _subscripts.Tiles(_Text(self.__dict__["_remote"], ".tile"))
            return self.__dict__[name]
        kind = types.by_name(name)
        if kind is not None:
            self.__dict__[name] = kind
            return kind
        if name in _REFUSED:
            why = _session.evaluate(_Text(_session.module("warp.missing"), f".reason({name!r})"))
            self.__dict__[name] = _Refused(name, (), {"__doc__": why, "__module__": "warp"})
            return self.__dict__[name]
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_"):
                raise
        raise AttributeError(_session.evaluate(_Text(_session.module("warp.missing"), f".reason({name!r})")))

    def converted(self, name, value):
        """A function of kernels is called in Python, too."""
        if isinstance(value, _Remote) and _session.evaluate(_Text("callable(", value, ")")):
            return _builtins.Builtin(name, value)
        return value


_modules.offer("warp", kernels=["examples", "optim", "_src.optim", "sparse", "_src.sparse", "tests"])
_modules.become(__name__, _Warp)
