"""What programs use of tilelang.backend."""

from tilec import modules as _modules

_modules.become(__name__)
