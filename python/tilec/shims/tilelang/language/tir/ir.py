"""The words of tilelang.language by another name."""

from tilec import modules as _modules

_VALID_CAST_ROUNDING_MODES = {"", "rn", "rz", "rp", "rm", "rs"}

_modules.become(__name__, remote="tilelang.language")
