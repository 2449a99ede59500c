"""python -m tilec run FILE.py [ARGUMENTS]: the program, with the dialects' names being tilec's.
python -m tilec run FILE.tile 'STATEMENTS': statements of Python, in which the kernels of the file are names.
python -m tilec test [PYTEST'S ARGUMENTS]: pytest, likewise.
python -m tilec bench FILE.py [NAME...]: times what the functions bench_* of the program give."""

import builtins
import contextlib
import importlib
import os
import runpy
import sys

USAGE = """usage: python -m tilec run FILE.py [ARGUMENTS]
       python -m tilec run FILE.tile 'STATEMENTS'
       python -m tilec test [PYTEST'S ARGUMENTS]
       python -m tilec bench FILE.py [NAME...]"""


def enter():
    """import tilus, tilelang and warp find the shims, in this process and in those that it starts."""
    here = os.path.dirname(os.path.abspath(__file__))
    shims, package = os.path.join(here, "shims"), os.path.dirname(here)
    sys.path[:0] = [shims, package]
    importlib.import_module("tilec.shims.sitecustomize")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [shims, package, os.environ.get("PYTHONPATH")]))
    from tilec import device

    if device.is_emulator():
        from tilec import emulated

        emulated.enter()


class Names(dict):
    """Those of statements: their own, then the kernels of the program."""

    def __init__(self, path):
        import tilec

        self.program = tilec.load(path)
        for module in ("numpy", "torch"):
            with contextlib.suppress(ImportError):
                self[module] = importlib.import_module(module)

    def __missing__(self, name):
        if name.startswith("_") or hasattr(builtins, name):
            raise KeyError(name)
        from tilec import CompileError

        try:
            return getattr(self.program, name)
        except (AttributeError, CompileError) as error:
            raise KeyError(name) from error


def run(words):
    enter()
    if words[0].endswith(".tile") and len(words) == 2:
        exec(compile(words[1], "<statements>", "exec"), {}, Names(words[0]))
        return
    sys.argv = words
    sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
    runpy.run_path(words[0], run_name="__main__")


def test(words):
    enter()
    import pytest

    sys.exit(pytest.main(words))


def bench(words):
    enter()
    from tilec import bench

    bench.main(words[0], words[1:])


def main():
    if len(sys.argv) >= 3 and sys.argv[1] == "run":
        run(sys.argv[2:])
    elif len(sys.argv) >= 2 and sys.argv[1] == "test":
        test(sys.argv[2:])
    elif len(sys.argv) >= 3 and sys.argv[1] == "bench":
        bench(sys.argv[2:])
    else:
        sys.exit(USAGE)


if __name__ == "__main__":
    main()
