"""See tilelang.layout."""

from tilelang.layout import Fragment

__all__ = ["Fragment"]
