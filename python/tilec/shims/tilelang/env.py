"""What the original reads of the environment, where programs ask for it."""

import os

from tilec import session
from tilec.modules import Absent as _Absent


def _cache_folder():
    given = os.environ.get("TILELANG_CACHE_DIR")
    return given or os.path.join(session.cache_folder() or os.path.expanduser("~/.cache/tilec"), "tilelang")


TILELANG_CACHE_DIR = _cache_folder()
TILELANG_TMP_DIR = os.environ.get("TILELANG_TMP_DIR", os.path.join(TILELANG_CACHE_DIR, "tmp"))
CUDA_HOME = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or ""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Absent(f"tilelang.env.{name}")
