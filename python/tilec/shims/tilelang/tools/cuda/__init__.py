"""tilelang.tools.cuda"""

from tilec import modules as _modules
from tilelang.tools.cuda import iket  # noqa: F401

_modules.become(__name__)
