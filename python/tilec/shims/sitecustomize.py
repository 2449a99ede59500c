"""Programs, and the processes that they start, find the dialects' names here, whatever folders come first on their path. Python imports
this when it begins, as the folder is in PYTHONPATH then (tilec.__main__.enter())."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class Shims:
    """The dialects by their names, before any folder that a program or pytest puts on the path."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, [_HERE]) if "." not in name and name != "sitecustomize" else None


def _import_hidden():
    """The module of this name that Python would have imported without this one."""
    folders = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
    found = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if found is not None and found.loader is not None:
        found.loader.exec_module(importlib.util.module_from_spec(found))


sys.meta_path.insert(0, Shims)
if __name__ == "sitecustomize":
    _import_hidden()
