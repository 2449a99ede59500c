"""The older place of tilelang.backend.target."""

from tilelang.backend.target import *  # noqa: F401, F403
