"""Where compiled code is kept."""

import os

from tilec import session as _session
from warp._src import absent as _absent
from warp._src import logger as _logger

_resolved_kernel_cache_dir = None  # the folder that was chosen last


def init_kernel_cache(path=None):
    """Compiled code is kept in a folder of this version's in the one that is named, by WARP_CACHE_PATH if nothing is said, else where the
    compiler keeps it."""
    global _resolved_kernel_cache_dir
    from warp import config

    path = path or os.environ.get("WARP_CACHE_PATH") or os.path.join(
        _session.default_folder() or os.path.join(os.path.expanduser("~"), ".cache", "tilec"), "warp")
    folder = os.path.realpath(path)
    if folder != _resolved_kernel_cache_dir:
        if os.path.isdir(folder) and any([name.startswith("wp_") for name in os.listdir(folder)]):
            _logger.log_warning(f"{folder} has files of a previous Warp version: code of this one is kept in a folder of its own")
        folder = os.path.join(folder, config.version)
    os.makedirs(folder, exist_ok=True)
    config.kernel_cache_dir = _resolved_kernel_cache_dir = folder
    _session.keep_in(folder)


__getattr__ = _absent(__name__)
