"""tilus.lang: scripts."""

from tilec import modules as _modules

from tilus.lang.script import Class, Script, autotune  # noqa: F401

_modules.become(__name__)
