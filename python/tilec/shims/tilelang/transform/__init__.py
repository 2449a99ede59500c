"""Options of TileLang's passes: tilec has its own, and takes of them what is said of fast math, of fmas and of waiting threads."""

from tilec import modules as _modules
from tilelang.transform.simplify import apply_simplify, simplify_prim_func  # noqa: F401


class _Keys(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name.lower().replace("_", ".", 1)


class PassConfigKey(metaclass=_Keys):
    """Any name is one."""


FLAGS = ("--use_fast_math", "-use_fast_math")  # of the original's C++ compiler


def _words_of(flags):
    return [word for flag in ([flags] if isinstance(flags, str) else flags or []) for word in str(flag).split()]


def fast_math_of(pass_configs, compile_flags=None):
    """Whether float32 is to be computed by approximate instructions; None: nothing is said of it."""
    configs = {str(name): value for name, value in dict(pass_configs or {}).items()}
    if any([word in FLAGS for word in _words_of(compile_flags) + _words_of(configs.get("tl.device_compile_flags"))]):
        return True
    if "tl.disable_fast_math" in configs:
        return not configs["tl.disable_fast_math"]
    return bool(configs["tl.enable_fast_math"]) if "tl.enable_fast_math" in configs else None


def fuse_fp_of(pass_configs, compile_flags=None):
    """Whether products that are added to become fmas; None: nothing is said of it."""
    configs = {str(name): value for name, value in dict(pass_configs or {}).items()}
    words, said = _words_of(compile_flags) + _words_of(configs.get("tl.device_compile_flags")), None
    for i, word in enumerate(words):
        name, given, value = word.partition("=")
        if name in ("-fmad", "--fmad"):
            said = (value if given else "".join(words[i + 1:i + 2])) != "false"
    return said


def block_syncs_of(pass_configs):
    """Whether T.sync_threads() of threads apart is met by the whole block, as where the original's pass that counts them is off."""
    configs = {str(name): value for name, value in dict(pass_configs or {}).items()}
    return True if configs.get("tl.disable_thread_storage_sync") else None


_modules.become(__name__)
