"""The memory of a capture for a file."""

from warp._src import absent
from warp.captures import APICapture  # noqa: F401

__getattr__ = absent(__name__)
