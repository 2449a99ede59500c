"""tilus.hidet: the library's types, and expressions."""

from tilec import modules as _modules

_modules.become(__name__)
