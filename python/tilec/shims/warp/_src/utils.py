"""See warp.utils."""

from warp._src import absent as _absent
from warp.maps import _made as map_cache  # noqa: F401
from warp.utils import *  # noqa: F403

__getattr__ = _absent(__name__)
