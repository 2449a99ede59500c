"""What programs use of tilus.utils."""

from tilec import kernels as _kernels
from tilec import modules as _modules
from tilec.session import Remote as _Remote

_TORCH = {"boolean": "bool", "float8_e4m3": "float8_e4m3fn", "tfloat32": "float32"}


def cdiv(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    return (a + (b - 1)) // b


def idiv(a, b):
    if a % b != 0:
        raise ValueError(f"{a} is no multiple of {b}")
    return a // b


def gcd(*numbers):
    import math

    return math.gcd(*numbers)


def lcm(*numbers):
    import math

    return math.lcm(*numbers)


def is_power_of_two(number):
    return number > 0 and number & (number - 1) == 0


def floor_log2(number):
    if number <= 0:
        raise ValueError(f"{number} has no logarithm")
    return number.bit_length() - 1


def nbytes_from_nbits(nbits):
    if nbits % 8 != 0:
        raise ValueError(f"{nbits} bits are no whole bytes")
    return nbits // 8


def same_list(a, b):
    return len(a) == len(b) and all(x == y for x, y in zip(a, b))


def prod(values, initial=None):
    product = 1 if initial is None else initial
    for value in values:
        product = product * value
    return product


def benchmark_func(run_func, warmup=1, repeat=5, maximum_warmup_time=None, maximum_repeat_time=None, median=True, clear_l2_cache=True,
                   **options):
    """Milliseconds of a call: the median, or with median=False all of them."""
    found = _kernels.times(run_func, warmup=warmup, repeat=repeat, flush=clear_l2_cache)
    return _kernels.summary(found, mode="median") if median else found


def dtype_to_torch(dtype):
    import torch

    name = str(dtype)
    return getattr(torch, _TORCH.get(name, name))


def dtype_from_torch(torch_dtype):
    import tilus

    if isinstance(torch_dtype, _Remote):
        return torch_dtype
    return getattr(tilus, {"bool": "boolean", "float8_e4m3fn": "float8_e4m3"}.get(name := str(torch_dtype).removeprefix("torch."), name))


def clear_cache(*names):
    """Results are kept by what kernels are: none is stale."""


def ncu_run(func, *args, kernel_regex=".*", **kwargs):
    """Without the profiler: the function is run."""
    func(*args, **kwargs)


nsys_run = ncu_run


def initialize(*args, **kwargs):
    """There is nothing to prepare."""


_modules.become(__name__)
