"""Programs that ask torch for a GPU, on machines that have none: "cuda" is the CPU's memory, which the emulator's kernels
work on. torch's own functions then run on the CPU."""

import contextlib
import functools
import importlib.abc
import importlib.machinery
import sys
import time
import types


class _Event:
    def __init__(self, *args, **kwargs):
        self.at = 0.0

    def record(self, stream=None):
        self.at = time.perf_counter()

    def elapsed_time(self, other):
        return 1e3 * (other.at - self.at)

    def synchronize(self):
        pass

    def wait(self, stream=None):
        pass

    def query(self):
        return True


class _Stream:
    cuda_stream = 0

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        pass

    def synchronize(self):
        pass

    wait_stream = wait_event = record_event = lambda self, other=None: None


class _Device(contextlib.ContextDecorator):
    """torch.cuda.device and device_of: there is one."""

    def __init__(self, device):
        self.idx = self.prev_idx = 0

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        return False


class _Places:
    """Which tensors a GPU would have: what is made there, or of what is there. Copies between the two are copies here, too."""

    def __init__(self):
        self.default = False

    def has(self, tensor):
        return getattr(tensor, "_tile_on_gpu", False)

    def put(self, result, on_gpu):
        for one in result if isinstance(result, (tuple, list)) else [result]:
            if hasattr(one, "data_ptr"):
                one._tile_on_gpu = on_gpu
        return result

    def moved(self, tensor, on_gpu):
        return tensor if self.has(tensor) == on_gpu else self.put(tensor.clone(), on_gpu)

    def of_results(self, args, kwargs, device):
        """Whether results are there: as the device says, as any argument is, or, of none, as by default."""
        if device is not None:
            return _is_cuda(device)
        given = [one for one in [*args, *kwargs.values()] if hasattr(one, "data_ptr")]
        given += [one for some in args if isinstance(some, (tuple, list)) for one in some if hasattr(one, "data_ptr")]
        return any(map(self.has, given)) if given else self.default


class _Properties:
    """Of the GPU that the emulator is: sm_90a."""

    name = "tilec's emulator"
    major, minor = 9, 0
    multi_processor_count = 132
    total_memory = 80 << 30
    max_threads_per_multi_processor = 2048
    max_threads_per_block = 1024
    shared_memory_per_block = 49152
    shared_memory_per_block_optin = 232448
    shared_memory_per_multiprocessor = 233472
    regs_per_multiprocessor = 65536
    warp_size = 32
    L2_cache_size = 50 << 20
    gcnArchName = ""
    is_integrated = is_multi_gpu_board = 0
    pci_bus_id = pci_device_id = pci_domain_id = 0
    clock_rate, memory_clock_rate, memory_bus_width = 1980000, 2619000, 5120


def _is_cuda(device):
    return (isinstance(device, str) and device.split(":")[0] == "cuda") or getattr(device, "type", None) == "cuda"


def _nothing():
    return lambda *args, **kwargs: None


def _change(torch):
    from torch.overrides import TorchFunctionMode

    class OnCPU(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            name = getattr(function, "__name__", "")
            if name == "__get__" and function == is_cuda:
                return True
            if name == "__get__" and function == of_device:
                return torch.device("cuda", 0) if places.has(args[0]) else function(*args)
            if name == "pin_memory":
                return args[0]
            if name in ("cuda", "cpu"):
                return places.moved(args[0], name == "cuda")
            device = kwargs.get("device")
            if name == "to":
                device = next((one for one in args[1:] if isinstance(one, (str, torch.device))), device)
            if kwargs.get("pin_memory"):
                kwargs = {**kwargs, "pin_memory": False}
            on_gpu = places.of_results(args, kwargs, device)
            if _is_cuda(device):
                kwargs = {key: "cpu" if key == "device" else value for key, value in kwargs.items()}
                args = tuple("cpu" if _is_cuda(one) else one for one in args)
            result = function(*args, **kwargs)
            if name == "to" and device is not None and result is args[0]:
                return places.moved(result, on_gpu)
            return result if any(result is one for one in args) else places.put(result, on_gpu)

    places = _Places()
    is_cuda = torch.Tensor.is_cuda.__get__
    of_device = torch.Tensor.device.__get__
    OnCPU().__enter__()
    _change_operators(torch, OnCPU, places)
    cuda = torch.cuda
    cuda.is_available = lambda: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.get_device_name = lambda *args: _Properties.name
    cuda.get_device_capability = lambda *args: (9, 0)
    cuda.get_device_properties = lambda *args: _Properties
    cuda.mem_get_info = lambda *args: (64 << 30, 80 << 30)
    cuda.Event, cuda.Stream, cuda.ExternalStream = _Event, _Stream, _Stream
    cuda.stream = lambda stream: _Stream()
    cuda.device = cuda.device_of = _Device
    # A function of its own for each name: torch.compile keeps a table by function, with different rules for them.
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved"):
        setattr(cuda, name, lambda *args: 0)
    for name in ("current_stream", "default_stream"):
        setattr(cuda, name, lambda *args: _Stream())
    for name in ("synchronize", "empty_cache", "set_device", "manual_seed", "manual_seed_all", "reset_peak_memory_stats", "init"):
        setattr(cuda, name, _nothing())
    cuda.profiler.start, cuda.profiler.stop = _nothing(), _nothing()
    nothing = _nothing()
    cuda.nvtx = types.SimpleNamespace(range_push=nothing, range_pop=nothing, range=lambda *args: _Stream(), mark=nothing)
    real = torch.Generator

    class Generator(real):
        def __new__(cls, device="cpu"):
            return real.__new__(real, device="cpu" if _is_cuda(device) else device)

    torch.Generator = Generator
    torch.nn.Module.cuda = lambda self, *args: self
    module_to = torch.nn.Module.to

    def to(self, *args, **kwargs):
        args = tuple(["cpu" if _is_cuda(one) else one for one in args])
        if _is_cuda(kwargs.get("device")):
            kwargs["device"] = "cpu"
        return module_to(self, *args, **kwargs)

    torch.nn.Module.to = to

    def set_default_device(device):
        places.default = _is_cuda(device)

    torch.set_default_device = set_default_device


def _change_operators(torch, mode, places):
    """Operators of the program's own run on the CPU for the GPU, and their Python within the mode, which torch leaves in a call."""
    from torch._library.custom_ops import CustomOpDef

    def within(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            with mode():
                return function(*args, **kwargs)

        return call

    def of_gradients(function):
        def call(ctx, *gradients):
            places.put([one for one in gradients if not hasattr(one, "_tile_on_gpu")], True)  # which torch's engine made
            return function(ctx, *gradients)

        return within(functools.wraps(function)(call))

    kernel, gradient = CustomOpDef.register_kernel, CustomOpDef.register_autograd

    def register_kernel(self, device_types, fn=None):
        types = [device_types] if isinstance(device_types, str) else device_types
        types = types and ["cpu" if one == "cuda" else one for one in types]
        register = kernel(self, types)
        return (lambda fn: register(within(fn)) and fn) if fn is None else register(within(fn))

    def register_autograd(self, backward, *, setup_context=None):
        return gradient(self, of_gradients(backward), setup_context=setup_context and within(setup_context))

    CustomOpDef.register_kernel, CustomOpDef.register_autograd = register_kernel, register_autograd

    def of_subclass(cls, **kwargs):
        super(torch.autograd.Function, cls).__init_subclass__(**kwargs)
        if isinstance(vars(cls).get("backward"), staticmethod):
            cls.backward = staticmethod(of_gradients(vars(cls)["backward"].__func__))

    torch.autograd.Function.__init_subclass__ = classmethod(of_subclass)


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Changes torch when it has been imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                _change(module)

            spec.loader.exec_module = exec_module
        return spec


def enter():
    if "torch" in sys.modules:
        _change(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, _AfterTorch())
