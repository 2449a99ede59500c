"""warp.config: settings of Warp's own compiler, too. What is set is kept; most of it changes nothing here."""

import enum
import os
import sys
import types

from warp._src.logger import log_warning


class LaunchArrayAccessMode(enum.IntEnum):
    RELAXED, CHECKED, STRICT = range(3)


class DeterministicMode(enum.IntEnum):
    NOT_GUARANTEED, RUN_TO_RUN, GPU_TO_GPU = range(3)


_CHECKED = {"launch_array_access_mode": (LaunchArrayAccessMode, "warp.config.LaunchArrayAccessMode"),
            "deterministic": (DeterministicMode, "warp.DeterministicMode")}
_OLD = {"verbose": "use warp.config.log_level = warp.LOG_DEBUG instead.",
        "quiet": "use warp.config.log_level = warp.LOG_WARNING to suppress the init banner."}


def _tell_old(name):
    """Who reads or sets an old setting is told once what has taken its place; Warp's own modules are not."""
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if name in _OLD and caller.partition(".")[0] != "warp":
        log_warning(f"warp.config.{name} is deprecated; {_OLD[name]}", category=DeprecationWarning, stacklevel=3)


class Config(types.SimpleNamespace):
    def __getattribute__(self, name):
        _tell_old(name)
        return super().__getattribute__(name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __setattr__(self, name, value):
        _tell_old(name)
        kind, words = _CHECKED.get(name, (object, ""))
        if not isinstance(value, kind):
            raise ValueError(f"warp.config.{name} must be a {words} value, got {value!r}")
        super().__setattr__(name, value)


def _has_pools():
    return os.environ.get("WARP_ENABLE_MEMPOOLS_AT_INIT", "1").lower() not in ("0", "false", "no")


def config_of(version):
    return Config(
        version=version, LaunchArrayAccessMode=LaunchArrayAccessMode, DeterministicMode=DeterministicMode,
        launch_array_access_mode=LaunchArrayAccessMode.RELAXED, deterministic=DeterministicMode.NOT_GUARANTEED, deterministic_max_records=0,
        deterministic_debug=False, verify_fp=False, verify_cuda=False, print_launches=False, mode="release", optimization_level=None, verbose=False,
        verbose_warnings=False, quiet=False, log_level=20, verify_autograd_array_access=False, enable_vector_component_overwrites=False,
        legacy_scalar_return_types=False, cache_kernels=True, kernel_cache_dir=None, cuda_output=None, ptx_target_arch=None, cuda_arch_suffix=None,
        lineinfo=False, line_directives=True, compile_time_trace=False, enable_backward=True, default_grid_stride=True, enable_mathdx_gemm=True,
        enable_mathdx_solver=True, enable_mathdx_fft=True, cpu_compiler_flags=None, llvm_cuda=False, enable_cpu_blocks=False,
        enable_graph_capture_module_load_by_default=True, enable_mempools_at_init=_has_pools(), track_memory=False, max_unroll=16,
        enable_tiles_in_stack_memory=True, use_precompiled_headers=True, legacy_cpu_linker=False, load_module_max_workers=0)
