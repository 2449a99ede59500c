"""python -m tilec run FILE.py [ARGUMENTS]: the program, with the dialects' names being tilec's.
python -m tilec test [PYTEST'S ARGUMENTS]: pytest, likewise."""

import importlib.abc
import importlib.machinery
import os
import runpy
import sys

USAGE = "usage: python -m tilec run FILE.py [ARGUMENTS] | test [PYTEST'S ARGUMENTS]"


class Shims(importlib.abc.MetaPathFinder):
    """The dialects by their names, before any folder that a program or pytest puts on the path."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, [self.folder]) if "." not in name else None


def enter():
    """import tilus, tilelang and warp find the shims, in this process and in those that it starts."""
    here = os.path.dirname(os.path.abspath(__file__))
    shims, package = os.path.join(here, "shims"), os.path.dirname(here)
    sys.meta_path.insert(0, Shims(shims))
    sys.path[:0] = [shims, package]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [shims, package, os.environ.get("PYTHONPATH")]))
    from tilec import device

    if device.is_emulator():
        from tilec import emulated

        emulated.enter()


def run(words):
    enter()
    sys.argv = words
    sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
    runpy.run_path(words[0], run_name="__main__")


def test(words):
    enter()
    import pytest

    sys.exit(pytest.main(words))


def main():
    if len(sys.argv) >= 3 and sys.argv[1] == "run":
        run(sys.argv[2:])
    elif len(sys.argv) >= 2 and sys.argv[1] == "test":
        test(sys.argv[2:])
    else:
        sys.exit(USAGE)


main()
