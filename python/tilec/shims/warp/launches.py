"""Kernels, functions and launches."""

import ast
import ctypes
import inspect
import math
import operator
import os
import re
import sys
import threading
import types as _python
import weakref
from functools import cached_property
from typing import Any as _Any
from typing import Callable as _Callable
from typing import ParamSpec as _ParamSpec
from typing import TypeVar
from typing import overload as _overload_of_types

import numpy

from tilec import native as _native
from tilec import session as _session
from tilec import source as _source
from tilec.calls import Given as _Given
from tilec.kernels import Compiled as _Compiled
from tilec.modules import Described
from tilec.session import Remote as _Remote
from tilec.session import Text as _Text
from tilec.session import joined as _joined
from warp import access as _access
from warp import bounds as _bounds
from warp import builds as _builds
from warp import checks as _checks
from warp import determinism as _determinism
from warp import devices as _devices
from warp import finite as _finite
from warp import graphs as _graphs
from warp import packing as _packing
from warp import statics as _statics
from warp import subscripts as _subscripts
from warp import tape as _tape
from warp import timing as _timing
from warp import types
from warp import words as _words
from warp.adjoint import Adjoint
from warp.arrays import array, array_annotation, array_annotation_base, fixed_annotation, fixedarray
from warp.determinism import WarpDeterminismError
from warp.digest import Digest
from warp.hashers import ModuleHasher, resolve_grid_stride
from warp._src.logger import log_info, log_warning
from warp.types import Struct, StructInstance, _Composite, _Type, as_type, scalar_base


_Given_, _Result = _ParamSpec("_Given_"), TypeVar("_Result")  # for who reads types only


class Function:
    """What @wp.func makes: for kernels the compiler's; called in Python it is Python's."""

    snippets = ()  # of C++, see func_native()

    def __init__(self, function, around, name=None, module=None, inline=None):
        self.func = function
        _source.keep(function)
        self.statics = _statics.resolve(function)
        self.around = around
        self.key = self.__name__ = name or function.__name__
        self.inline_hint = {None: None, True: "forceinline", False: "noinline"}[inline]
        self.module = self._own_module(module)
        known = self.module.functions
        earlier = known.get(self.key) if "<locals>" not in function.__qualname__ else None
        if _is_of_other_text(earlier, function):
            forget_all()
            earlier = None
        namesake, known[self.key] = known.get(self.key), self
        _forget_users_of((around or {}).get(function.__name__))
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.remote = None
        self.__tile_called__ = not _is_beside(namesake, function)
        annotations = _annotations(function)
        _subscripts.check_no_union(function, annotations)
        _packing.check_annotations(function.__name__, annotations)
        self.__signature__ = inspect.signature(function)
        self.result_kind = annotations.get("return")
        names = [name for name in self.__signature__.parameters if name in annotations]
        self.input_types = {name: as_type(annotations[name]) if isinstance(annotations[name], type) else annotations[name] for name in names}
        _check_references(self, namesake)
        same = earlier is not None and earlier.input_types == self.input_types
        self.earlier = [] if earlier is None or same else [*earlier.earlier, earlier]  # of the same name, of other types

    def _own_module(self, module):
        if module == "unique":
            digest = Digest().add(str(self.inline_hint), repr(self.snippets)).function(self.func, self.around).bytes().hex()
            return get_module(f"{self.func.__module__}_{self.key}_{digest[:8]}")
        if module is None:
            return get_module(self.func.__module__)
        return module if isinstance(module, Module) else get_module(module)

    @cached_property
    def adj(self):
        return Adjoint(self.func, None, self.statics)

    def get_overload(self, args, named):
        """Of the functions of this name that whose parameters are of the arguments' types; None: none is."""
        for one in [self, *reversed(self.earlier)]:
            try:
                bound = one.__signature__.bind(*args, **named).arguments
            except TypeError:
                continue
            if all([_takes(one.input_types.get(name), value) for name, value in bound.items()]):
                return one
        return None

    @property
    def __tile_function__(self):
        return self.func

    def __tile_remote__(self):
        if self.remote is None:
            _checks.check_function(self.func, self.result_kind)
            _statics.resolve_again(self.func, self.statics)
            found = _session.text_of(self.func) if _source.name_of(self.func) == "<lambda>" else _source.definition(self.func, self.around)
            self.remote = _Remote(_Text(_session.module("warp"), ".func(", found, ")"))
        return self.remote

    def __call__(self, *args, **kwargs):
        found = self.get_overload(args, kwargs)
        if found is None:
            raise RuntimeError(f"Error calling function '{self.key}', no overload found for arguments {args}")
        expected, count = len(found.__signature__.parameters), len(args) + len(kwargs)
        if count > expected and not found.func.__code__.co_flags & inspect.CO_VARARGS:
            raise RuntimeError(f"Invalid number of arguments for function '{self.key}', expected {expected}, got {count}")
        return found.func(*args, **kwargs)


def _forget_users_of(function):
    """A name of a function's is bound to another one: kernels that are made in it mean that by it."""
    for kernel in list(function.module.made) if isinstance(function, Function) else []:
        if any([value is function for value in _source.cells(kernel.func).values()]):
            kernel.forget()
            kernel.hash = None


def _check_references(function, earlier):
    """Two functions of one name are told apart by more than what they write in its place."""

    def types_of(one):
        return [getattr(kind, "value_type", kind) for kind in one.input_types.values()]

    if earlier is None or earlier.func.__qualname__ != function.func.__qualname__ or earlier.input_types == function.input_types:
        return
    if list(earlier.input_types) == list(function.input_types) and types_of(earlier) == types_of(function):
        raise RuntimeError(f"function '{function.key}': two of its overloads differ only by wp.ref of a parameter")


def _takes(kind, value):
    """Whether a parameter of a function that Python calls is of the value's type."""
    if kind is None or kind is _Any or value is None:
        return True
    if getattr(kind, "__module__", "") == "collections.abc" or getattr(kind, "_name", None) == "Callable" or kind in (callable, Function):
        return isinstance(value, Function) or type(value).__name__ == "Builtin"
    if isinstance(kind, array_annotation_base):
        if _packing.resolve_family(value) is None:
            return _packing.plain_type(value) is None
        return not isinstance(kind, array_annotation) or _packing.matches(_packing.described(value), kind)
    if isinstance(kind, _Type) and not _is_open(kind):
        found = _packing.plain_type(value)
        return found is kind or found is None and _packing.resolve_family(value) is None
    return True


def _is_beside(earlier, function):
    """Whether a function's own scope defines the name more than once, for other types: only the text tells them apart."""
    other = getattr(earlier, "func", None)
    return other is not None and other.__qualname__ == function.__qualname__ and other.__code__.co_firstlineno != function.__code__.co_firstlineno


def _is_of_other_text(earlier, function):
    return earlier is not None and getattr(earlier.func, "__tile_version__", None) != getattr(function, "__tile_version__", None)


def forget_all():
    """A file was written anew and imported again: what other modules import of it is another thing, too."""
    _session.the.leave()
    for module in list(_modules.values()):
        module.mark_modified()


@_overload_of_types
def func(function: _Callable[_Given_, _Result], /) -> _Callable[_Given_, _Result]: ...


@_overload_of_types
def func(*, name: str | None = ..., module: "Module | str | None" = ..., inline: bool | None = ...,
         ) -> _Callable[[_Callable[_Given_, _Result]], _Callable[_Given_, _Result]]: ...


def func(function=None, *, name=None, module=None, inline=None):
    """A function for kernels; inline says nothing new, as all functions are."""
    if inline is not None and not isinstance(inline, bool):
        raise TypeError(f"inline must be a bool, not {inline!r}")
    around = _source.surroundings(1)

    def made(given):
        return Function(given, around, name, module, inline)

    return made if function is None else made(function)


class _Native(Function):
    """A function whose body is a snippet of C++, which the compiler reads."""

    def __init__(self, function, around, snippets):
        self.native_snippet, self.adj_native_snippet, self.replay_snippet = self.snippets = snippets
        super().__init__(function, around)

    def __tile_remote__(self):
        if self.remote is None:
            _check_native(self)
            found = _source.definition(self.func, self.around)
            self.remote = _Remote(_Text(_session.module("warp"), f".func_native({', '.join(map(repr, self.snippets))})(", found, ")"))
        return self.remote

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"Native function '{self.key}' is called in kernels and their functions only")


def _check_native(function):
    kind = function.result_kind
    if isinstance(kind, Struct):
        raise _native.CompileError(f"Native function '{function.key}' has unsupported return type `{kind.key}`: expected a number, a vector, a matrix or an "
                               "array; write to a parameter of type wp.ref[...] instead")


def func_native(snippet, adj_snippet=None, replay_snippet=None):
    """A function for kernels by what C++ says, as far as the language has it, too."""
    around = _source.surroundings(1)
    return lambda function: _Native(function, around, (snippet, adj_snippet, replay_snippet))


def _belonging(attribute):
    """func_grad or func_replay: what is said of a function, the compiler finds in the text."""
    def of(forward):
        def kept(given):
            setattr(forward, attribute, given)
            return given

        return kept

    return of


func_grad, func_replay = _belonging("gradient"), _belonging("replay")


_OF_OTHER_ARRAY = re.compile(r"\[E0(439|440)\]")  # an argument of another type or rank


def _checked_options(more, launch_bounds, enable_backward):
    """Those that a kernel is given, apart from what is the same as nothing."""
    found = {name: value for name, value in more.items() if value is not None}
    if "cluster_dim" in found:
        _builds.check_cluster(found["cluster_dim"])
    _check_entry_point(found.get("entry_point_abi", "warp"), enable_backward)
    most = found.get("cuda_max_registers")
    if most is not None:
        if type(most) is not int:
            raise TypeError(f"cuda_max_registers is an integer, not {most!r}")
        if most <= 0:
            raise ValueError(f"cuda_max_registers is positive, not {most}")
        if launch_bounds is not None:
            raise ValueError("cuda_max_registers and launch_bounds are not given at once")
    if type(found.get("enable_cuda_smem_spilling", False)) is not bool:
        raise TypeError(f"enable_cuda_smem_spilling is True or False, not {found['enable_cuda_smem_spilling']!r}")
    if not found.get("enable_cuda_smem_spilling", True):
        del found["enable_cuda_smem_spilling"]
    return found


def _check_entry_point(abi, enable_backward):
    if abi not in ("warp", _checks.OF_OTHERS):
        raise ValueError(f"entry_point_abi must be 'warp' or '{_checks.OF_OTHERS}', not {abi!r}")
    if abi == _checks.OF_OTHERS and enable_backward is not False:
        raise ValueError(f"entry_point_abi='{_checks.OF_OTHERS}' requires enable_backward=False")


def _check_launched(kernel):
    if _checks.is_of_others(kernel):
        raise RuntimeError(f"Kernel '{kernel.key}' is an entry point for other launchers (entry_point_abi='{_checks.OF_OTHERS}'): it cannot be launched "
                           "with wp.launch()")


_warp = sys.modules["warp"]
naming = threading.RLock()  # names are made and forgotten one after the other


class Kernel:
    def __init__(self, func=None, key=None, module=None, options=None, around=None, enable_backward=None, remote=None,
                 launch_bounds=None, grid_stride=None, **more):
        if more.get("code_transformers"):
            raise NotImplementedError("code_transformers are not taken: kernels are compiled from their files' text")
        self.func = func
        _source.keep(func)
        self.statics = _statics.resolve(func) if remote is None else []
        self.__module__, self.__doc__ = func.__module__, func.__doc__
        self.key = self.__name__ = key or func.__name__
        self.around = around
        self.module = module if isinstance(module, Module) else get_module(func.__module__)
        own = {"enable_backward": enable_backward, "grid_stride": grid_stride, "launch_bounds": launch_bounds}
        self.options = {**(options or {}), **{name: value for name, value in own.items() if value is not None},
                        **_checked_options(more, launch_bounds, enable_backward)}
        self.more_options = {name: self.options[name] for name in more if name in self.options}
        self.enable_backward = self.options.get("enable_backward") if enable_backward is None else enable_backward
        self.remote = remote
        self.asked = None  # by its module when it was made: see asked_now()
        self.is_instance = remote is not None  # of one that leaves types open
        bounds = launch_bounds[0] if isinstance(launch_bounds, (tuple, list)) and launch_bounds else launch_bounds
        self.most_threads = bounds or 1024
        self.grid_stride = grid_stride  # known of every kernel once its module has a hash
        self.calls = {}
        self.overloads = {}  # by their signatures
        self.instances = {}  # those of launches
        self.parameters = list(inspect.signature(func).parameters)
        annotations = _annotations(func)
        _subscripts.check_no_union(func, annotations)
        _packing.check_annotations(func.__name__, annotations)
        self.kinds = {name: as_type(kind) if isinstance(kind, type) else kind for name, kind in annotations.items()}
        self.open = [name for name in self.parameters if remote is None and _is_open(self.kinds.get(name))]
        self.is_generic = len(self.open) > 0
        if remote is None:
            self.module.kernels[self.key] = self
            self.module.made.add(self)

    @cached_property
    def adj(self):
        """What is known of its text."""
        return Adjoint(self.func, self.kinds, self.statics)

    @property
    def __tile_function__(self):
        return self.func

    _hash, _mangled_name = None, None

    @property
    def hash(self):
        """What it is told from others by that have its name."""
        if self._hash is None:
            self._hash = Digest().kernel(self).bytes()
        return self._hash

    @hash.setter
    def hash(self, value):
        with naming:
            self._hash, self._mangled_name = value, None

    @property
    def _invoke_cache(self):
        """By the forms of launches that were made, what is called."""
        return self.calls

    def get_mangled_name(self):
        """Its name beside others of its key."""
        if self.module.options["strip_hash"]:
            return self.key
        with naming:
            if self._mangled_name is None:
                self._mangled_name = f"{self.key}_{self.hash.hex()[:8]}"
            return self._mangled_name

    def is_ordered(self):
        """Whether atomic operations are to have the same results whenever it runs: its module says so."""
        return bool(self.module.options["deterministic"])

    def is_checked(self):
        """Whether its assertions are compiled: its module's mode says so."""
        return self.module.resolved_mode() == "debug"

    def is_fast(self):
        """Whether its module asks for approximate instructions."""
        return bool(self.module.options["fast_math"])

    def is_fused(self):
        """Whether products that are added to become fmas: unless its module says no."""
        return bool(self.module.options["fuse_fp"])

    def asked_now(self):
        return self.is_ordered(), self.is_checked(), self.is_fast(), self.is_fused()

    def __tile_remote__(self):
        if not self.is_instance and self.asked not in (None, self.asked_now()):
            self.forget()
        if self.remote is None and self.is_instance:
            self.remote = _overloaded(self.parent(), self.own_kinds)
        if self.remote is None:
            _checks.check_kernel(self)
            _statics.resolve_again(self.func, self.statics)
            self.asked = ordered, asserts, fast, fused = self.asked_now()
            kinds = [_Text(f"{name!r}: ", text, ", ") for name, text in self.told_kinds()]
            rank = _bounds.named_rank(self.func)
            more = "" if rank is None else f", named_rank={rank}"
            self.remote = _Remote(_Text(_session.module("warp.kernels"), ".Kernel(", _source.definition(self.func, self.around),
                                        ", kinds={", *kinds, f"}}, backward={self.enable_backward}, ordered={ordered}, "
                                        f"assertions={asserts}, fast_math={fast}, fuse_fp={fused}{more})"))
        return self.remote

    def forget(self):
        self.calls.clear()
        for one in [self, *self.overloads.values()] if not self.is_instance else []:
            one.remote = None
            one.calls.clear()

    def says_by_types(self):
        """Whether an annotation is by what Python alone has."""
        known, said = self.func.__globals__, set()
        for name in _source.node_of(self.func).args.args:
            said |= {part.id for part in ast.walk(name) if isinstance(part, ast.Name)}
        return any([getattr(known.get(name), "__tile_told__", False) for name in said])

    def _is_of_module(self, annotation, kind):
        """Whether the annotation is of a struct by a name of the module, which is that in the kernel's body, too."""
        struct = getattr(kind, "dtype", kind)
        if not isinstance(struct, Struct) or "<locals>" in struct.cls.__qualname__ or annotation is None:
            return False
        parts = [part for part in ast.walk(annotation) if isinstance(part, (ast.Name, ast.Attribute))]
        inner = {*(self.around or ()), *_source.cells(self.func)}
        is_inner = any([part.id in inner for part in parts if isinstance(part, ast.Name)])
        return not is_inner and any([_statics.meant(part, self.func.__globals__) is struct for part in parts])

    def told_kinds(self):
        """What annotations are that were evaluated in a function around the kernel's: their text may mean nothing, or something
        else, where the compiler finds it."""
        if "<locals>" not in self.func.__qualname__ and not self.says_by_types():
            return
        annotations = {one.arg: one.annotation for one in _source.node_of(self.func).args.args}
        for name in self.parameters:
            kind = self.kinds.get(name)
            if kind is None or isinstance(kind, str) or _is_open(kind) or self._is_of_module(annotations.get(name), kind):
                continue
            try:
                yield name, _annotation_text(kind)
            except _session.Unspeakable:
                continue

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"the kernel {self.key} is launched by wp.launch()")

    def of(self, values):
        """Where the kernel leaves types open: that of these arguments."""
        if not self.open:
            return self
        named = dict(zip(self.parameters, values))
        self.check_ranks(named)
        kinds = {name: _kind_of(named[name]) for name in self.open if named[name] is not None}
        key = tuple([(type(kind), kind.ndim, kind.dtype) if hasattr(kind, "ndim") else kind for kind in kinds.values()])
        if key not in self.instances:
            self.instances[key] = self.add_overload(kinds)
        return self.instances[key]

    def check_ranks(self, named):
        for name in self.open:
            kind, value = self.kinds.get(name), named[name]
            rank = getattr(value, "ndim", None)
            if isinstance(kind, array_annotation_base) and rank is not None and kind.ndim not in (rank, _Any):
                raise TypeError(f"type mismatch: argument '{name}' of kernel '{self.key}' is {types.type_repr(kind)}, and given {types.type_repr(value)}")

    def infer_argument_types(self, values):
        """The types of the arguments of a launch."""
        return _packing.infer_argument_types(values, [self.kinds.get(name) for name in self.parameters], self.parameters)

    def add_overload(self, kinds):
        """The kernel for parameters of these types, by their names or one for each; of the same types it is the same one."""
        if not isinstance(kinds, dict):
            if len(kinds) != len(self.parameters):
                raise RuntimeError(f"an overload of kernel {self.key} has {len(self.parameters)} types, not {len(kinds)}")
            kinds = dict(zip(self.parameters, kinds))
        for name, kind in kinds.items():
            if name not in self.parameters:
                raise RuntimeError(f"kernel {self.key} has no parameter '{name}', which an overload names")
            if isinstance(kind, (fixed_annotation, fixedarray)):
                raise TypeError(f"argument '{name}': a fixedarray is a thread's own: no launch is given one")
        kinds = {name: _described(kind) for name, kind in kinds.items()}
        signature = _signature({**self.kinds, **kinds}[name] if name in kinds or name in self.kinds else None for name in self.parameters)
        if signature not in self.overloads:
            made = Kernel(self.func, self.key, self.module, self.options, self.around, remote=_overloaded(self, kinds))
            made.parent, made.own_kinds = weakref.ref(self), kinds
            made.kinds.update(kinds)
            self.overloads[signature] = made
        return self.overloads[signature]

    def callee(self, shape, on_host=False):
        if (shape, on_host) not in self.calls:
            cluster = 1 if on_host or _devices.get_device().arch < 90 else _builds.cluster_of(self)
            self.calls[shape, on_host] = _Launcher(self, *shape, cluster)
        return self.calls[shape, on_host]


def _annotations(func):
    """Texts among them name what the function is defined in, too."""
    try:
        return inspect.get_annotations(func, eval_str=True, locals=_source.cells(func))
    except Exception:  # of names that only the compiler finds
        return inspect.get_annotations(func)


def _is_open(annotation):
    kind = getattr(annotation, "dtype", annotation)
    return _packing.is_open(annotation) or (isinstance(kind, Described) and kind.__tile_remote__() is not None) or isinstance(kind, TypeVar)


def _kind_of(value):
    from warp.arrays import array_annotation, indexed_annotation, indexedarray

    if isinstance(value, indexedarray):
        return indexed_annotation(value.dtype, value.ndim)
    if hasattr(value, "__tile_facts__") and hasattr(value, "dtype"):
        return array_annotation(value.dtype, value.ndim)
    kind = type(value)
    return value._struct if hasattr(value, "_struct") else kind if isinstance(kind, _Type) else as_type(kind)


class Module(_builds.Loaded):
    """The kernels of a file's: they are compiled when they are launched, or when the module is loaded."""

    def __init__(self, name, loader=None):
        from warp import config

        super().__init__()
        self.loader = loader
        self.name = name
        self.options = {
            "max_unroll": config.max_unroll, "enable_backward": config.enable_backward, "enable_mathdx_gemm": None,
            "enable_mathdx_solver": None, "enable_mathdx_fft": None, "fast_math": False, "fuse_fp": True, "lineinfo": False,
            "cuda_output": None, "mode": None, "optimization_level": None, "cpu_compiler_flags": None, "block_dim": 256,
            "compile_time_trace": False, "strip_hash": False, "extra_build_options": None, "deterministic": config.deterministic,
            "deterministic_max_records": 0, "default_grid_stride": None,
        }
        self.kernels, self.functions, self.structs = {}, {}, {}
        self.made = weakref.WeakSet()  # its kernels, of one name, too

    def _set_strip_hash(self, strips):
        """Whether its kernels are called by their keys alone."""
        self.options["strip_hash"] = bool(strips)
        self.unload()

    def hash_module(self):
        """Of its kernels and of the options that Warp's compiler has for them."""
        return self.get_module_hash()

    def get_module_hash(self, block_dim=None):
        from warp import config

        block_dim = self.options["block_dim"] if block_dim is None else block_dim
        options = self.resolved_options[block_dim] = self.resolve_options(config)
        hasher = self.hashers[block_dim] = ModuleHasher(list(self.kernels.values()), options)
        return hasher.get_hash()

    def get_module_identifier(self, block_dim=None):
        return f"wp_{self.name}" + ("" if self.options["strip_hash"] else f"_{self.get_module_hash(block_dim).hex()[:7]}")

    def _get_compile_output_name(self, device, output_arch=None, use_ptx=None):
        """Of the file that it is compiled to."""
        if device is not None and device.is_cpu:
            return f"{self.get_module_identifier()}.o"
        arch = output_arch or device.get_cuda_compile_arch()
        suffix = "" if device is None else device._get_cuda_arch_suffix(arch)
        return f"{self.get_module_identifier()}.sm{arch}{suffix}.{'ptx' if use_ptx else 'cubin'}"

    def resolved_mode(self):
        from warp import config

        return self.options["mode"] or config.mode

    def mark_modified(self):
        """What its kernels' names mean is asked anew when they are launched."""
        _source.forget_definitions()
        self.unload()
        for kernel in list(self.made):
            kernel.forget()


_modules = {}


def modules():
    return list(_modules)


def caller_module_name(stack_level=1):
    """The name of the module whose code called so many frames above."""
    frame = sys._getframe(stack_level)
    name, spec = frame.f_globals.get("__name__"), frame.f_globals.get("__spec__")
    module = inspect.getmodule(frame) if not name and (spec is None or not spec.name) else None
    found = name or getattr(spec, "name", None) or getattr(module, "__name__", None)
    if not found:
        raise RuntimeError(f"Could not determine the calling module: {frame.f_code.co_filename} has no name, so give the module itself")
    return found


def _public(name):
    """What lies below warp._src is called as its public names are."""
    return "warp." + name.removeprefix("warp._src.") if name.startswith("warp._src.") else name


def get_module(name):
    name = _public(name)
    if name not in _modules:
        _modules[name] = Module(name)
    return _modules[name]


def _check_module_options(options, module):
    if options is None:
        return
    if not isinstance(options, dict):
        raise TypeError(f"module_options must be a dict, got {type(options).__name__}")
    if module != "unique":
        raise ValueError('module_options are for kernels with module="unique"')
    valid = Module("").options
    wrong = [name for name in options if name not in valid]
    if wrong:
        raise ValueError(f"Unknown module options: {', '.join(wrong)}. Valid options: {', '.join(sorted(valid))}")
    most = options.get("deterministic_max_records", 0)
    if type(most) is not int:
        raise TypeError(f"deterministic_max_records must be an integer, got {type(most).__name__}")
    if most < 0:
        raise ValueError("deterministic_max_records must not be negative")


_unique = {}  # kernels of modules of their own


def _make_unique(given, name, options, around, settings):
    """The kernel of a module of its own: that which is there already, if it means the same."""
    module = Module("")
    module.options.update(options or {})
    made = Kernel(given, key=name, module=module, around=around, **settings)
    for why in _statics.failures(made.statics):
        raise _native.CompileError(f"Error while compiling {given.__code__.co_filename}:{given.__code__.co_firstlineno}:\n{why}")
    digest = Digest().kernel(made).value(sorted(module.options.items()))
    key = digest.bytes()
    if digest.is_whole and key in _unique:
        return _unique[key]
    module.name = _public(f"{given.__module__}_{made.key}_{key.hex()[:8]}" + ("" if digest.is_whole else f"_{len(_unique)}"))
    _modules[module.name] = module
    _unique[key if digest.is_whole else module.name] = made
    return made


def kernel(f=None, *, enable_backward=None, module=None, module_options=None, name=None, **options):
    _check_module_options(module_options, module)
    if name is not None and not (isinstance(name, str) and name.isascii() and name.isidentifier()):
        raise ValueError(f"a kernel's name is a valid C++ identifier, not {name!r}")
    settings = {"enable_backward": enable_backward, **options}

    def made(given, around):
        if module == "unique":
            return _make_unique(given, name, module_options, around, settings)
        owner = get_module(module) if isinstance(module, str) else module if isinstance(module, Module) else None
        return Kernel(given, key=name, module=owner, around=around, **settings)

    return made(f, _source.surroundings(1)) if f is not None else lambda given: made(given, _source.surroundings(1))


def overload(kernel, arg_types=None):
    if isinstance(kernel, _python.FunctionType):
        return _overload_of_stub(kernel)
    if isinstance(kernel, Function) or not isinstance(kernel, Kernel):
        return kernel  # of a function: its body is looked for when a kernel calls it
    return kernel if arg_types is None else kernel.add_overload(arg_types)


def _overload_of_stub(stub):
    """A function without a body, of a kernel's name: the kernel, with an overload of its annotations."""
    if stub.__annotations__.get("return") not in (None, _python.NoneType):
        raise TypeError(f"Return annotations are not allowed on @wp.overload stubs, as kernels return nothing: {stub.__name__}")
    module = get_module(stub.__module__)
    named = {one.key for one in list(module.made) if one.func.__qualname__ == stub.__qualname__}
    if len(named) > 1:
        raise RuntimeError(f"Ambiguous kernel lookup: {stub.__qualname__} is the function of several kernels, {', '.join(sorted(named))}: "
                           "name the one that is meant in wp.overload(kernel, types)")
    if not named:
        return stub
    found = module.kernels[named.pop()]
    found.add_overload({name: kind for name, kind in _annotations(stub).items() if name != "return"})
    return found


def _overloaded(kernel, kinds):
    texts = [_Text(f"{name!r}: ", _annotation_text(kind), ", ") for name, kind in kinds.items()]
    return _Remote(_Text(_session.module("warp"), ".overload(", kernel.__tile_remote__(), ", {", *texts, "})"))


def _described(kind):
    """What an annotation says; an array is one like it."""
    kind = _packing.described(kind)
    return as_type(kind) if isinstance(kind, type) else kind


def _signature(kinds):
    from warp.codes import get_type_code

    found = []
    for kind in kinds:
        try:
            found.append(get_type_code(kind))
        except TypeError:
            found.append(repr(kind))
    return "_".join(found)


def _annotation_text(kind):
    from warp.arrays import array, array_annotation, indexed_annotation

    if isinstance(kind, array):  # one like it
        kind = array_annotation(kind.dtype, kind.ndim)
    if isinstance(kind, array_annotation) and not isinstance(kind, indexed_annotation):
        return _Text(_session.module("warp"), ".array(dtype=", _annotation_text(kind.dtype), f", ndim={kind.ndim})")
    from typing import Any

    return _Text("None") if kind is Any else _session.text_of(kind)


class _Launcher(_Compiled):
    """Launches of one form: how many dimensions, inputs and outputs, how many threads a block, tiled or not, the gradient's, and by which
    arrays it stays."""

    def __init__(self, kernel, word, rank, inputs, outputs, block_dim, adjoint, is_wide, retained=(), cluster=1):
        names = [f"dim_{i}" for i in range(rank)] + kernel.parameters
        super().__init__(kernel.__tile_remote__(), names)
        self.word, self.rank, self.inputs, self.outputs, self.adjoint = word, rank, inputs, outputs, adjoint
        self.block_dim, self.cluster, self.retained = block_dim, cluster, retained

    def access(self):
        """What the kernel does to each array's memory, by the names of the arguments; nothing is known before a launch."""
        known = self.structure()
        return {} if known is None else {known.parameters[i].name.decode(): known.parameters[i].access for i in range(known.parameter_count)}

    def text(self, given, args, kwargs):
        texts = [given.take(value) for value in args]
        lists = texts[: self.rank], texts[self.rank :][: self.inputs], texts[self.rank + self.inputs :][: self.outputs]
        parts = [_Text(f"{name}=[", _joined(", ", one), "]") for name, one in zip(("dim", "inputs", "outputs"), lists)]
        if self.adjoint:
            rest = texts[self.rank + self.inputs + self.outputs :]
            parts.append(_Text("adj_inputs=[", _joined(", ", rest[: self.inputs]), "]"))
            parts.append(_Text("adj_outputs=[", _joined(", ", rest[self.inputs :]), "], adjoint=True"))
        if self.cluster > 1:
            parts.append(_Text(f"cluster_dim={self.cluster}"))
        if self.retained:
            parts.append(_Text(f'retained="{" ".join(self.retained)}"'))
        block = _session.text_of(self.block_dim)
        return _Text(_session.module("warp"), f".{self.word}(", self.remote, ", ", _joined(", ", parts), ", record_tape=False, block_dim=",
                     block, ")")


def _value(value):
    if isinstance(value, scalar_base):
        return value.value
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value


def _stands_for_number(value):
    """Of another library's enumeration, as pybind11 makes them."""
    kind = type(value)
    return not isinstance(value, (int, float, scalar_base)) and hasattr(kind, "__index__") and not hasattr(kind, "__len__")


def _accepted(kernel, name, value):
    """A value that is given for the parameter, as its type has it."""
    kind = kernel.kinds.get(name)
    if isinstance(kind, Struct):
        if value is None:
            raise RuntimeError(f"Error launching kernel '{kernel.key}', argument '{name}' expects {kind.key} but got None")
        return value
    if isinstance(value, (fixed_annotation, fixedarray)):
        raise TypeError(f"Error launching kernel '{kernel.key}', argument '{name}': a fixedarray is a thread's own: no launch is given one")
    if isinstance(kind, array_annotation_base) and isinstance(value, (list, tuple, int, float, str, array_annotation_base)):
        raise RuntimeError(f"Error launching kernel '{kernel.key}', argument '{name}' expects an array of type {types.type_repr(kind)}, "
                           f"but passed value has type {type(value).__name__}.")
    if isinstance(kind, array_annotation_base) and type(value) is not array:
        _packing.check_family(kernel, kind, name, value)
    if isinstance(kind, type) and issubclass(kind, scalar_base) and _stands_for_number(value):
        return operator.index(value)
    if not isinstance(kind, _Composite) or isinstance(value, kind):
        return value
    if value is None:
        raise ValueError(f"Failed to convert argument for param {name} to {kind.__name__}")
    if isinstance(value, (bool, numpy.generic, types.bool)):
        log_warning(f"a value of type `{type(value).__name__}` that is taken for all numbers of a `{kind.__name__}`, as for kernel "
                    f"parameter '{name}', is deprecated", DeprecationWarning, once=True)
        return kind(value)
    if isinstance(value, (int, float, scalar_base)):
        raise RuntimeError(f"Error launching kernel '{kernel.key}', argument '{name}' expects {kind.__name__} but got a single value")
    return kind(value) if hasattr(value, "__len__") else value


def _own(kernel, name, value):
    """A tensor of torch's as an array, whose gradient is found."""
    if type(value).__module__.partition(".")[0] != "torch" or not hasattr(value, "data_ptr"):
        return value
    from warp.arrays import from_torch

    kind = kernel.kinds.get(name)
    return from_torch(value, getattr(kind, "dtype", None))


def _dims(dim):
    return [int(extent) for extent in dim] if isinstance(dim, (tuple, list)) else [int(dim)]


def _sees_blocks(function):
    """Whether its text, or that of functions which it calls, has to do with the threads of a block."""
    names = [name for one in [function, *[one.func for one in _builds.functions_of(function)]] for name in one.__code__.co_names]
    return any([name == "block_dim" or name.startswith("tile") for name in names])


def _check_threads(kernel, dim, block_dim):
    if isinstance(block_dim, int) and block_dim > kernel.most_threads and 0 not in _dims(dim):
        raise RuntimeError(f"Error launching kernel: {kernel.key}, a block has {kernel.most_threads} threads at most, not {block_dim}: "
                           "Warp CUDA error 1: invalid argument")


def _start(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, device=None):
    if kernel.is_ordered():
        given = [*inputs, *outputs]
        gradients = [*adj_inputs, *adj_outputs]
        _determinism.check_launch(kernel.of(given), given, gradients if len(gradients) == len(given) else [None] * len(given), _dims(dim),
                                  _devices.get_device(device), adjoint)
    if not _timing.is_open():
        _run(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, device)
        return
    with _timing.measured(_timing.TIMING_KERNEL, f"{'backward' if adjoint else 'forward'} kernel {kernel.key}", _devices.get_device(device)):
        _run(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, device)


@_graphs.recorded
def _run(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, device=None):
    _check_threads(kernel, dim, block_dim)
    device = _devices.get_device(device)
    if type(block_dim) is int and (device.context, block_dim) not in kernel.module.execs:
        kernel.module.note(device, block_dim)
    if device.is_cpu:
        if block_dim == 1 and word == "launch" and not _sees_blocks(kernel.func):
            block_dim = 256  # nobody sees it
        with _session.the.on_host(), _native.in_turn():
            _begin(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, True)
    else:
        _begin(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, False)


def _begin(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, on_host):
    given = [*inputs, *outputs]
    if len(given) != len(kernel.parameters):
        raise RuntimeError(f"Error launching kernel '{kernel.key}', passed {len(given)} arguments but kernel requires "
                           f"{len(kernel.parameters)}.")
    device, copies = _devices.get_device("cpu" if on_host else None), []
    given = [_packing.taken(name, kernel.kinds.get(name), _accepted(kernel, name, value), device, copies)
             for name, value in zip(kernel.parameters, given)]
    values = [_value(value) for value in given]
    dims = _dims(dim)
    if any([extent == 0 for extent in dims]):
        return
    retained = ()
    if adjoint:
        given = [_own(kernel, name, value) for name, value in zip(kernel.parameters, given)]
        values = [_value(value) for value in given]
        access = next((one.access() for one in kernel.of(given).calls.values() if not one.adjoint and one.last), {})
        gradients, later, retained = _tape.gradients_of(kernel.parameters, values, [*adj_inputs, *adj_outputs], access)
        values += gradients
    shape = (word, len(dims), len(inputs), len(outputs), tuple(block_dim) if isinstance(block_dim, list) else block_dim, adjoint,
             math.prod(dims) > MOST_THREADS, retained)
    try:
        callee = kernel.of(given).callee(shape, on_host)
        callee(*dims, *values)
    except _native.CompileError as error:
        why = _packing.mismatch(kernel, given) if _OF_OTHER_ARRAY.search(str(error)) else None
        raise _words.reordered(error if why is None else type(error)(f"{error}\n{why}", error.status), kernel) from None
    except _native.Error as error:
        if on_host:
            _abort_after(error)
        raise
    for whole, copy in copies:
        whole.store(copy.numpy())
    if _warp.config.verify_fp:
        _finite.report(kernel, [(name, x) for name, x in zip(kernel.parameters, given) if hasattr(x, "memory")])
    if adjoint:
        for one in later:
            one()
    elif _tape.is_recording():
        _tape.mark_launch(kernel, dict([(name, x) for name, x in zip(kernel.parameters, given) if hasattr(x, "memory")]), callee.access())


def _abort_after(error):
    """Of a kernel that a processor runs in debug mode an assertion that fails ends the process, as C's does."""
    said = re.search(r"Assertion failed: .*", str(error))
    if said is not None:
        print(said.group(), file=sys.stderr, flush=True)
        os.abort()


def _check_most_blocks(kernel, max_blocks, device):
    """A launch of fewer blocks than its elements need is one whose threads go on to further elements; the results are those of any
    number of blocks."""
    from warp import config, devices

    default = kernel.module.resolve_options(config)["default_grid_stride"]
    strides = resolve_grid_stride(kernel.options, default is not False) if kernel.grid_stride is None else kernel.grid_stride
    if max_blocks > 0 and not strides and devices.get_device(device).is_cuda:
        raise RuntimeError(f"Error launching kernel '{kernel.key}': max_blocks is for kernels with grid_stride=True")


def _block_dim(device, asked):
    """Of several tuning chooses one."""
    return asked if isinstance(asked, (list, tuple)) else _builds.launch_block_dim(device, asked)


def _check_clusters(word, kernel, dim, block_dim, device, max_blocks=0):
    if _builds.cluster_of(kernel) == 1:
        return
    count = math.prod(_dims(dim))
    _builds.check_launch(kernel, device, count if word == "launch_tiled" else -(-count // block_dim), max_blocks)


def _launch(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, record_tape, max_blocks, device, stream):
    if not isinstance(kernel, Kernel):
        raise RuntimeError("Error launching kernel, can only launch functions decorated with @wp.kernel.")
    _check_launched(kernel)
    _check_most_blocks(kernel, max_blocks, device)
    from warp import config

    if config.print_launches:
        log_info(f"kernel: {kernel.key} dim: {dim} inputs: {len(inputs or ())} outputs: {len(outputs or ())} device: {device}")
    inputs, outputs = list(inputs or []), list(outputs or [])
    device = stream.device if device is None and isinstance(stream, _devices.Stream) else _devices.get_device(device)
    block_dim = _block_dim(device, block_dim)
    dim = _bounds.checked_dim(_bounds.canonical_dim(dim))
    _bounds.check_extents(kernel, dim)
    _check_clusters(word, kernel, dim, block_dim, device, max_blocks)
    _access.check_launch(kernel, [*inputs, *outputs], device)
    if _graphs.is_capturing(device):  # of what the arrays say now
        given = _packing.described_now(kernel, [*inputs, *outputs], device)
        inputs, outputs = given[: len(inputs)], given[len(inputs) :]
    if kernel.is_ordered() and device.is_cuda and _graphs.is_saved():
        raise WarpDeterminismError(f"cannot serialize the deterministic kernel '{kernel.key}' with APIC")
    if record_tape and not adjoint:
        _tape.note(_tape.launch_record(word, kernel, dim, max_blocks, inputs, outputs, device, block_dim, None))
    with _devices.ScopedStream(stream if isinstance(stream, _devices.Stream) else None, sync_enter=False):
        _start(word, kernel, dim, inputs, outputs, list(adj_inputs or []), list(adj_outputs or []), block_dim, adjoint, device)


MOST_THREADS = (1 << 31) - 1  # of a launch whose numbers are of 32 bits


class Launch:
    """A launch that is made again, of other arguments and extents if it is given some."""

    def __init__(self, kernel, device=None, hooks=None, params=None, params_addr=None, bounds=None, max_blocks=0, block_dim=None,
                 adjoint=False):
        self.kernel, self.device, self.adjoint = kernel, device, adjoint
        self.block_dim = _block_dim(_devices.get_device(device), block_dim)
        self.max_blocks = max_blocks
        self.word, self.dim, self.stream = "launch", 0, None
        self.values = [_missing(kernel.kinds.get(name)) for name in kernel.parameters]
        self.gradients = [None] * len(self.values)
        self.raw = set()  # arguments that were given as C has them
        self.own_bounds = None

    def set_param_at_index(self, index, value, adjoint=False):
        if adjoint:
            self.gradients[index] = value
        else:
            name = self.kernel.parameters[index]
            self.values[index] = _accepted(self.kernel, name, value)
            _packing.check_descriptor(self.kernel, name, value)
            self.raw.discard(index)

    def set_param_by_name(self, name, value, adjoint=False):
        self.set_param_at_index(self.kernel.parameters.index(name), value, adjoint)

    def set_params(self, values):
        for index, value in enumerate(values):
            self.set_param_at_index(index, value)

    def set_dim(self, dim):
        dim = _bounds.checked_dim(_bounds.canonical_dim(dim))
        _bounds.check_extents(self.kernel, dim)
        _check_clusters(self.word, self.kernel, dim, self.block_dim, _devices.get_device(self.device), self.max_blocks)
        self.dim, self.own_bounds = dim, None

    @property
    def bounds(self):
        if self.own_bounds is None:
            self.own_bounds = _bounds.bounds_of(self.dim, self.kernel)
        return self.own_bounds

    @property
    def module_exec(self):
        return self.kernel.module.note(_devices.get_device(self.device), self.block_dim)

    def set_param_at_index_from_ctype(self, index, value, adjoint=False):
        """What C has: an array's description, a struct's fields, a number or several."""
        kind = self.kernel.kinds.get(self.kernel.parameters[index])
        device = _devices.get_device(self.device)
        is_raw = hasattr(value, "array_of")
        if is_raw and self.kernel.is_ordered():
            raise WarpDeterminismError(f"kernel '{self.kernel.key}' is deterministic: its arrays are not set from raw ctypes values")
        if is_raw:
            value = value.array_of(kind, device) if value.data else None
        elif isinstance(kind, Struct) and isinstance(value, ctypes.Structure):
            value = StructInstance.of_ctype(kind, value, device)
        self.set_param_at_index(index, value, adjoint)
        (self.raw.add if is_raw else self.raw.discard)(index)

    def set_param_by_name_from_ctype(self, name, value, adjoint=False):
        self.set_param_at_index_from_ctype(self.kernel.parameters.index(name), value, adjoint)

    @property
    def params(self):
        """The extents, the arguments and the gradients, as a launch is given them."""
        missing = [_missing(self.kernel.kinds.get(name)) for name in self.kernel.parameters] if self.adjoint else []
        return [self.bounds, *self.values, *[zero if one is None else one for one, zero in zip(self.gradients, missing)]]

    def launch(self, stream=None):
        if self.raw:
            _graphs.refuse_in_files("a launch that was given a raw array ctype", _devices.get_device(self.device))
        given = self.gradients if self.adjoint else []
        with _devices.ScopedStream(self.stream if stream is None else stream, sync_enter=False):
            _start(self.word, self.kernel, self.dim, list(self.values), [], given, [], self.block_dim, self.adjoint, self.device)


def _command(word, kernel, dim, values, gradients, block_dim, adjoint, device, stream):
    device = stream.device if device is None and stream is not None else _devices.get_device(device)
    _access.check_launch(kernel, values, device)
    made = Launch(kernel, device=device, block_dim=block_dim, adjoint=adjoint)
    made.stream = stream
    made.word, made.values = word, [_accepted(kernel, name, value) for name, value in zip(kernel.parameters, values)]
    made.set_dim(dim)
    made.gradients[: len(gradients)] = gradients
    return made


def _missing(kind):
    """What a parameter is that nobody gave a value."""
    if isinstance(kind, Struct):
        return kind()
    if isinstance(kind, _Composite):
        return kind(*[0] * kind._length_)
    return kind() if isinstance(kind, _Type) else None


def _launching(word):
    """wp.launch or wp.launch_tiled. An error that leaves it keeps no kernel by its frames, see builds.freed."""
    def call(kernel, dim, inputs=(), outputs=(), adj_inputs=(), adj_outputs=(), device=None, stream=None, adjoint=False, record_tape=True,
             record_cmd=False, max_blocks=0, block_dim=None):
        if record_cmd:
            return _command(word, kernel, dim, [*inputs, *outputs], [*adj_inputs, *adj_outputs], block_dim, adjoint, device, stream)
        try:
            _launch(word, kernel, dim, inputs, outputs, adj_inputs, adj_outputs, block_dim, adjoint, record_tape, max_blocks, device, stream)
            return
        except _native.CompileError as error:
            failure = _builds.freed(error)
        kernel = None
        raise failure

    call.__name__ = call.__qualname__ = word
    return call


launch, launch_tiled = _launching("launch"), _launching("launch_tiled")


def constant(value):
    if not isinstance(value, (int, float, str)) and not isinstance(type(value), _Type):
        raise TypeError(f"Invalid constant type: {type(value)}")
    return value


__all__ = ["Function", "Kernel", "Launch", "constant", "func", "kernel", "launch", "launch_tiled", "overload", "_Given"]
