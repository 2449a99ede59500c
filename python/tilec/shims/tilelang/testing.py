"""What TileLang's tests use of tilelang.testing."""

import random
import sys

from tilec import device as _device
from tilec import native as _native
from tilelang.utils.tensor import torch_assert_close  # noqa: F401


def set_random_seed(seed=42):
    import numpy
    import torch

    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def main():
    import pytest

    sys.exit(pytest.main([sys.modules["__main__"].__file__, *sys.argv[1:]]))


def _compute():
    """The emulator is the first GPU of tilec's list: 9.0."""
    return (9, 0) if _device.is_emulator() else divmod(_native.device_compute(0), 10)


def _skip_unless(condition, reason):
    import pytest

    def decorate(function):
        return pytest.mark.skipif(not condition, reason=reason)(function)

    return decorate


def requires_cuda(function):
    return function


def _never(what):
    def decorate(function):
        return _skip_unless(False, f"needs {what}")(function)

    return decorate


requires_rocm, requires_cdna, requires_gfx950 = _never("an AMD GPU"), _never("an AMD GPU"), _never("an AMD GPU")
requires_metal, requires_llvm = _never("Metal"), _never("TVM's LLVM backend")


def requires_cuda_or_cdna(function):
    return function


def requires_package(*names):
    import importlib.util

    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return _skip_unless(not missing, f"needs {', '.join(missing)}")


_COMPARISONS = {
    "ge": lambda a, b: a >= b, "gt": lambda a, b: a > b, "le": lambda a, b: a <= b, "lt": lambda a, b: a < b, "eq": lambda a, b: a == b,
}


def requires_cuda_compute_version(major, minor=0, mode="ge"):
    return _skip_unless(_COMPARISONS[mode](_compute(), (major, minor)), f"needs a compute capability {mode} {major}.{minor}")


def _by(mode):
    return lambda major, minor=0: requires_cuda_compute_version(major, minor, mode)


requires_cuda_compute_version_ge, requires_cuda_compute_version_gt = _by("ge"), _by("gt")
requires_cuda_compute_version_le, requires_cuda_compute_version_lt, requires_cuda_compute_version_eq = _by("le"), _by("lt"), _by("eq")


def process_func(function, name=None, *args, **kwargs):
    print(f"{name or function.__name__}: {function(*args, **kwargs)} ms")


def regression(*args, **kwargs):
    """A run of a file's run_regression_perf functions is TileLang's own."""
