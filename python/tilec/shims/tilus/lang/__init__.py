"""tilus.lang: scripts."""

from tilec import modules as _modules

from tilus.lang.script import Script, autotune  # noqa: F401

_modules.become(__name__)
