"""Names of Warp's insides that its tests ask; of what is not here they hear when they use it."""

from tilec.modules import Absent as _Absent


def __getattr__(name):
    import importlib

    if name.startswith("__"):
        raise AttributeError(name)
    return importlib.import_module(f"{__name__}.{name}")


def absent(module):
    """A module's __getattr__."""

    def get(name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{module}.{name}")

    return get
