"""tilus.ir: layouts are the library's; nodes of Tilus's IR, which programs make by hand, are here."""

from tilec import modules as _modules

_modules.become(__name__)
