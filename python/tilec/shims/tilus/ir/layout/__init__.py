"""tilus.ir.layout: the library's layouts."""

from tilec import modules as _modules

_modules.become(__name__)
