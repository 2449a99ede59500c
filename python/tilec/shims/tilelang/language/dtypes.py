"""Element types by their names."""

from tilelang import language as _language
from tilelang.types import dtype  # noqa: F401


def __getattr__(name):
    found = getattr(_language, name)
    if not isinstance(found, dtype):
        raise AttributeError(name)
    return found
