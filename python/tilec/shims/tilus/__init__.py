"""Tilus, compiled by tilec: scripts go to libtilec, what programs use around them is here."""

from tilec import modules as _modules

_modules.offer("tilus", kernels=["kernels"])

from tilus import lang, option, target, testing, utils  # noqa: E402
from tilus.lang.script import Class, Script, autotune  # noqa: E402
from tilus.target import get_current_target  # noqa: E402
from tilus.tensor import Tensor, empty, from_torch, full, ones, rand, randint, randn, tensor_view, view_torch, zeros  # noqa: E402
from tilus.utils import cdiv  # noqa: E402

__version__ = "0.2.0"
_modules.become(__name__)
