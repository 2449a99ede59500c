"""See warp.utils."""

from warp._src import absent as _absent
from warp.utils import *  # noqa: F403

map_cache = {}
__getattr__ = _absent(__name__)
