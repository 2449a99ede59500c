"""Tuning: every configuration is compiled, timed on the call's tensors, and the fastest is kept."""

import functools
import inspect
import math

from tilec import device, native, session
from tilelang.kernels import JITKernel
from tilelang.profiler import TensorSupplyType, do_bench, get_tensor_supply

_inputs = []

__path__ = []  # what is below it in the original is named where it is used


class set_autotune_inputs:
    """The tensors that searches inside of the `with` use."""

    def __init__(self, *tensors):
        given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
        self.tensors = list(given)

    def __enter__(self):
        _inputs.append(self.tensors)
        return self

    def __exit__(self, *ignored):
        _inputs.pop()


def get_autotune_inputs():
    return _inputs[-1] if _inputs else None


class AutotuneResult:
    def __init__(self, latency, config, kernel, ref_latency=None):
        self.latency = latency
        self.config = config
        self.kernel = kernel
        self.ref_latency = ref_latency
        self.func = kernel
        self.libcode = None

    def tell(self):
        """The kernel has what was found."""
        self.kernel.config, self.kernel.latency, self.kernel.ref_latency = self.config, self.latency, self.ref_latency
        return self


class UntoldInputs(ValueError):
    """A search that makes tensors itself has no numbers to give beside them."""


def check_supply(kernel):
    if kernel.prim_func is None:  # what else its function takes are keys
        return
    tensors = {param.name for param in kernel.params}
    numbers = [name for name in kernel.parameters if name not in tensors]
    if numbers:
        raise UntoldInputs(f"{', '.join(numbers)}: a search makes tensors alone: call it inside of set_autotune_inputs(...)")


def search(make, configs, tensors=None, warmup=25, rep=100, ref_prog=None, supply_prog=None, supply_type=TensorSupplyType.Auto,
           rtol=1e-2, atol=1e-2, max_mismatched_ratio=0.01, skip_check=False, manual_check_prog=None):
    """The best of the kernels that `make(config)` gives. The emulator's times say nothing: its is the first that compiles, after
    infinite time, a number that programs can count with."""
    best = fault = None
    if configs == [{}]:  # a call that gives all of them: nothing is searched
        return AutotuneResult(None, {}, make({}))
    if not device.is_emulator():
        session.compile_ahead([functools.partial(make, config) for config in configs])
    for config in configs:
        try:
            kernel = make(config)
            if tensors is None and supply_prog is None:
                check_supply(kernel)
            if device.is_emulator():
                return AutotuneResult(math.inf, config, kernel, math.inf)
            profiler = kernel.get_profiler(supply_type)
            given = tensors
            if given is None and supply_prog is not None:
                given = supply_prog([param for param in profiler.params if not param.is_result])
            if given is None:
                given = profiler._get_inputs()
            if ref_prog is not None and not skip_check:
                if manual_check_prog is not None:
                    profiler.manual_assert_close(ref_prog, given, manual_check_prog)
                else:
                    profiler.assert_allclose(ref_prog, given, atol=atol, rtol=rtol, max_mismatched_ratio=max_mismatched_ratio)
            latency = profiler.do_bench(warmup=warmup, rep=rep, input_tensors=given)
        except UntoldInputs:
            raise
        except Exception as error:
            fault = fault or error
            continue
        if best is None or latency < best.latency:
            best = AutotuneResult(latency, config, kernel)
    if best is None:
        raise native.Error(f"none of the {len(configs)} configurations can be run: {fault}") from fault
    if ref_prog is not None:
        given = tensors if tensors is not None else best.kernel.get_profiler(supply_type)._get_inputs()
        best.ref_latency = do_bench(lambda: ref_prog(*given), warmup, rep)
    return best


def _as_dict(config, names):
    return dict(config) if isinstance(config, dict) else dict(zip(names, config))


class Tuned:
    """A function under @autotune: parameters that a call leaves open are chosen by a search, once for the others."""

    def __init__(self, function, configs, options):
        self.function = function
        self.configs = configs
        self.open = set(options.pop("do_not_specialize", None) or ())  # what a call gives of them is where the search begins
        self.options = options
        self._tuner_cache = {}  # by its original's name, as programs look how much was searched
        functools.update_wrapper(self, function, updated=())

    @property
    def __tile_function__(self):
        return self.function.__tile_function__

    def space(self, args, kwargs):
        names = self.function.parameters
        configs = self.configs
        if callable(configs):
            wanted = inspect.signature(configs).parameters
            configs = configs(*args, **kwargs) if len(wanted) >= len(args) > 0 else configs()
        configs = [_as_dict(config, names) for config in configs]
        given = set(names[: len(args)]) | set(kwargs) | ({"pass_configs"} - set(names))  # the original's passes
        if self.is_told(configs[0] if configs else {}, given):
            return [{}]
        space = []
        for config in configs:
            left = {name: value for name, value in config.items() if name not in given}
            if left not in space:
                space.append(left)
        return space

    def is_told(self, config, given):
        """A call that gives one of what is searched means the others' defaults, where they have any."""
        parameters = self.function.signature.parameters
        left = [parameters[name].default for name in config if name in parameters and name not in given]
        return any([name in parameters and name in given for name in config]) and not any([one in (None, inspect.Parameter.empty) for one in left])

    def parted(self, args, kwargs):
        """A call's arguments without those that a search changes, and these."""
        if not self.open:
            return args, kwargs, {}
        told = dict(zip(self.function.parameters, args), **kwargs)
        first = {name: told.pop(name) for name in list(told) if name in self.open}
        return (), told, first

    def result(self, args, kwargs):
        function = self.function
        args, kwargs, first = self.parted(args, kwargs)
        key = repr((args, sorted(kwargs.items()))) if function.gives_kernels else None
        if key is None or key not in self._tuner_cache:
            space = self.space(args, kwargs)
            found = search(lambda config: function.compile(*args, **kwargs, **{**first, **config}), space, get_autotune_inputs(), **self.options)
            found.tell()
            if key is None:
                return found
            self._tuner_cache[key] = found, first
        found, begun = self._tuner_cache[key]
        if first == begun:
            return found
        return AutotuneResult(found.latency, found.config, function.compile(*args, **kwargs, **{**first, **found.config}), found.ref_latency).tell()

    def __call__(self, *args, **kwargs):
        if kwargs.pop("return_kernel", False) | kwargs.pop("__return_kernel", False) or self.function.gives_kernels:
            return self.result(args, kwargs).kernel
        from tilec.calls import Given

        args, kwargs, first = self.parted(args, kwargs)
        look = Given()
        key = tuple([look.look(value) for value in args]), tuple([(name, look.look(value)) for name, value in kwargs.items()])
        if key not in self._tuner_cache:
            tensors = [value for value in [*args, *kwargs.values()] if look_is_array(value)]
            space = self.space(args, kwargs)
            self._tuner_cache[key] = search(
                lambda config: self.function.compile(*args, **kwargs, **{**first, **config}), space, tensors, **self.options).config
        return self.function(*args, **kwargs, **{**first, **self._tuner_cache[key]})

    def compile(self, *args, **kwargs):
        return self.result(args, kwargs).kernel


def look_is_array(value):
    from tilec import arrays

    return arrays.facts_of(value) is not None


_SEARCHED = "warmup rep ref_prog supply_prog supply_type rtol atol max_mismatched_ratio skip_check manual_check_prog".split()


def autotune(func=None, *, configs=None, **options):
    """Above @jit: `configs` lists what parameters may be."""
    if func is None:
        return lambda given: autotune(given, configs=configs, **options)
    if configs is None:
        raise ValueError("autotune: configs lists what is tried")
    return Tuned(func, configs, {name: options[name] for name in [*_SEARCHED, "do_not_specialize"] if name in options})


class AutoTuner:
    """A search by hand: AutoTuner.from_kernel(kernel, configs).set_compile_args(...).run()."""

    def __init__(self, kernel, configs):
        self.kernel = kernel
        self.configs = configs
        self.out_idx = self.pass_configs = None
        self.options = {}

    @classmethod
    def from_kernel(cls, kernel, configs):
        return cls(kernel, configs)

    def set_compile_args(self, out_idx=None, target=None, pass_configs=None, **options):
        self.out_idx, self.pass_configs = out_idx, pass_configs
        return self

    def set_profile_args(self, **options):
        self.options = {name: options[name] for name in _SEARCHED if name in options and options[name] is not None}
        return self

    def set_kernel_parameters(self, *ignored, **more):
        return self

    def make(self, config):
        from tilelang.jit import compile

        if isinstance(config, dict):
            names = inspect.signature(self.kernel).parameters
            config = {name: value for name, value in config.items() if name != "pass_configs" or name in names}
        made = self.kernel(**config) if isinstance(config, dict) else self.kernel(*config)
        return made if isinstance(made, JITKernel) else compile(made, out_idx=self.out_idx, pass_configs=self.pass_configs)

    def run(self, warmup=25, rep=100, timeout=30, **options):
        found = search(self.make, list(self.configs), get_autotune_inputs(), warmup, rep, **self.options)
        return found.tell()


__all__ = ["AutoTuner", "AutotuneResult", "autotune", "do_bench", "get_autotune_inputs", "get_tensor_supply", "set_autotune_inputs"]
