"""What programs name of TVM's tests."""

from tilec import modules as _modules
from tilelang.testing import main, requires_cuda, requires_package  # noqa: F401

_modules.become(__name__, _modules.sys.modules["tvm"].__class__)
