"""See tilelang.layout."""

from tilelang.layout import Layout

__all__ = ["Layout"]
