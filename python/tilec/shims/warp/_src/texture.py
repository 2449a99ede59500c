"""See warp.textures."""

from warp._src import absent
from warp.textures import (  # noqa: F401
    Texture, Texture1D, Texture2D, Texture3D, TextureAddressMode, TextureFilterMode, texture1d_t, texture2d_t, texture3d_t,
)

__getattr__ = absent(__name__)
