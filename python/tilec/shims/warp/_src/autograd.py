"""See warp.autograd."""

from warp._src import absent as _absent
from warp.autograd import *  # noqa: F403
from warp.autograd import FunctionMetadata  # noqa: F401

__getattr__ = _absent(__name__)
