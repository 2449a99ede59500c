"""See warp.dlpack."""

from warp.dlpack import _from_dlpack, from_dlpack, to_dlpack  # noqa: F401
