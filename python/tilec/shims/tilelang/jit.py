"""tilelang.jit and compile: see tilelang.kernels."""

import functools
import inspect

from tilec import modules as _modules
from tilec import session, source
from tilec.session import Remote, Text
from tvm.target import Target

from tilelang.kernels import (
    HostKernel, HostListing, HostSpecialised, JITKernel, Listing, PrimFunc, SpecialisedKernel, has_prim_func, is_of_host, specialised,
)
from tilelang.transform import block_syncs_of, fast_math_of, fuse_fp_of


def _settings_of(pass_configs, compile_flags):
    """The attributes of the kernel that they set, by their names."""
    said = {"__fast_math__": fast_math_of(pass_configs, compile_flags), "__fuse_fp__": fuse_fp_of(pass_configs, compile_flags),
            "__block_syncs__": block_syncs_of(pass_configs)}
    return {name: value for name, value in said.items() if value is not None}


def compile(func=None, out_idx=None, execution_backend=None, target=None, target_host=None, verbose=False, pass_configs=None,
            compile_flags=None, instances=None, **options):
    """The kernel of a prim_func; out_idx says which of its tensors it makes and returns."""
    if isinstance(func, JITKernel):
        return func
    if not isinstance(func, PrimFunc):
        raise TypeError(f"tilelang.compile: a T.prim_func is needed, not {func!r}")
    kind = HostKernel if is_of_host(Target.current() if target is None else target) else JITKernel
    remote, settings = func.__tile_remote__(), _settings_of(pass_configs, compile_flags)
    if settings:
        remote = Remote(Text(remote, f".told(settings={settings})"))
    return kind(remote, func.parameters, func, out_idx, target=target)


def par_compile(funcs, out_idx=None, num_workers=None, ignore_error=False, **options):
    funcs = list(funcs)
    session.compile_ahead([functools.partial(compile, one, out_idx=out_idx, **options) for one in funcs])
    made = []
    for one in funcs:
        try:
            made.append(compile(one, out_idx=out_idx, **options))
        except Exception:
            if not ignore_error:
                raise
            made.append(None)
    return made


class CompiledArtifact:
    def __init__(self, kernel):
        self.kernel = kernel
        self.params = None

    @property
    def kernel_source(self):
        return self.kernel.code_text()

    @property
    def host_mod(self):
        return self.kernel_source

    device_mod = rt_mod = host_mod


def lower(func, target=None, **options):
    return CompiledArtifact(compile(func, target=target))


class JITImpl:
    """A function under @jit: one that gives kernels, whose Python is run, or one that is a kernel."""

    def __init__(self, function, around, out_idx=None, **options):
        self.function = function
        self.around = around
        self.out_idx = out_idx
        self.options = options
        self.fast_math = fast_math_of(options.get("pass_configs"), options.get("compile_flags"))
        self.told = {} if self.fast_math is None else {"tl.enable_fast_math": self.fast_math}
        if fuse_fp_of(options.get("pass_configs"), options.get("compile_flags")) is False:
            self.told["tl.device_compile_flags"] = "-fmad=false"
        if block_syncs_of(options.get("pass_configs")):
            self.told["tl.disable_thread_storage_sync"] = True
        self.kept = {}
        self.remote = None
        self.eager = None
        functools.update_wrapper(self, function, updated=())
        self.signature = inspect.signature(function)

    @property
    def __tile_function__(self):
        return self.function

    func = __tile_function__

    @property
    def gives_kernels(self):
        return has_prim_func(self.function)

    @property
    def parameters(self):
        return list(self.signature.parameters)

    @property
    def of_host(self):
        target = self.options.get("target")
        return is_of_host(Target.current() if target is None else target)

    def eager_remote(self):
        return Remote(Text(self.__tile_remote__(), ".hosted()")) if self.of_host else self.__tile_remote__()

    def __tile_remote__(self):
        if self.remote is None:
            told = f", pass_configs={self.told}" if self.told else ""
            self.remote = Remote(
                Text(session.module("tilelang.jit"), ".jit(", source.definition(self.function, self.around), told, ")"))
        return self.remote

    def key(self, args, kwargs):
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return session.text_of([list(bound.arguments.items())]).key()

    def kernel(self, args, kwargs):
        try:
            key = self.key(args, kwargs)
        except session.Unspeakable:
            key = None
        if key is None or key not in self.kept:
            prim_func = self.function(*args, **kwargs)
            made = compile(prim_func, out_idx=self.out_idx, target=self.options.get("target"), pass_configs=self.told)
            if key is None:
                return made
            self.kept[key] = made
        return self.kept[key]

    def __call__(self, *args, **kwargs):
        tune = kwargs.pop("__tune_params", None)
        if tune:
            kwargs.update(tune)
        if self.gives_kernels:
            return self.kernel(args, kwargs)
        if self.eager is None:
            kind = HostListing if self.of_host else Listing
            self.eager = kind(self.eager_remote(), self.parameters)
        return self.eager(*args, **kwargs)

    def compile(self, *args, **kwargs):
        if self.gives_kernels:
            return self.kernel(args, kwargs)
        kind = HostSpecialised if self.of_host else SpecialisedKernel
        return specialised(self.eager_remote(), args, kwargs, self.parameters, kind)

    def configured(self, config):
        args, kwargs = ((), config) if isinstance(config, dict) else (config, {})
        return self.compile(*args, **kwargs)

    def par_compile(self, configs, num_workers=None, ignore_error=False):
        configs = list(configs)
        session.compile_ahead([functools.partial(self.configured, config) for config in configs])
        made = []
        for config in configs:
            try:
                made.append(self.configured(config))
            except Exception:
                if not ignore_error:
                    raise
                made.append(None)
        return made

    def get_tir(self, *args, **kwargs):
        if self.gives_kernels:
            return self.function(*args, **kwargs)
        return self.compile(*args, **kwargs)

    def get_kernel_source(self, *args, **kwargs):
        return self.compile(*args, **kwargs).get_kernel_source()


def jit(func=None, *, out_idx=None, **options):
    if isinstance(func, PrimFunc):
        return compile(func, out_idx=out_idx, **options)
    if func is not None:
        return JITImpl(func, source.surroundings(1), out_idx, **options)

    def decorate(given):
        return JITImpl(given, source.surroundings(1), out_idx, **options)

    return decorate


lazy_jit = jit


class ExecutionBackend:
    """What calls go through is libtile, whatever is asked for."""


_modules.become(__name__)
