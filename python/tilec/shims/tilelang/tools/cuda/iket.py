"""tilelang.tools.cuda.iket: sessions and their folders are the program's; ranges and marks are empty in tilec's kernels, so that nothing
is traced."""

import contextlib
import pathlib
import tempfile

from tilec import modules as _modules

_state = {"enabled": False, "payloads": False, "folder": None}


def enable(output_dir=None, runtime_payloads=None, **options):
    _state["enabled"] = True
    if output_dir is not None:
        _state["folder"] = pathlib.Path(output_dir)
    if runtime_payloads is not None:
        _state["payloads"] = bool(runtime_payloads)


def disable():
    _state.update(enabled=False, payloads=False)


def reset():
    pass


def is_enabled():
    return _state["enabled"]


def enable_runtime_payloads():
    _state["payloads"] = True


def disable_runtime_payloads():
    _state["payloads"] = False


def runtime_payloads_enabled():
    return _state["payloads"]


@contextlib.contextmanager
def session(output_dir=None, runtime_payloads=False, **options):
    before = dict(_state)
    enable(output_dir, runtime_payloads)
    try:
        yield
    finally:
        _state.update(before, folder=_state["folder"])


def event_table():
    return {}


def output_dir():
    return _state["folder"]


def output_path(name, directory=None):
    """In the folder, which is there then."""
    folder = pathlib.Path(directory or _state["folder"] or tempfile.gettempdir())
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def trace_files(directory=None):
    return []


_modules.become(__name__)
