"""See warp.types."""

from warp import types as _types
from warp._src import absent
from warp.types import *  # noqa: F403
from warp.types import _Numbers  # noqa: F401

_absent = absent(__name__)


def __getattr__(name):
    return getattr(_types, name) if hasattr(_types, name) else _absent(name)
