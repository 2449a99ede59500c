"""What TileLang programs name of TVM."""

from tilec import modules as _modules

_modules.offer("tvm")
_modules.become(__name__)
