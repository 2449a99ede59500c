"""What programs use of tvm.testing."""

from tilec import modules as _modules
from tilelang.testing import main, requires_cuda, requires_package  # noqa: F401


def assert_allclose(actual, desired, rtol=1e-7, atol=1e-7, verbose=True):
    import numpy

    numpy.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=verbose)


_modules.become(__name__, _modules.sys.modules["tvm"].__class__)
