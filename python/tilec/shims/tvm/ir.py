"""tvm.ir: ranges, and what is built alike."""

from tilec import modules as _modules


class Range:
    def __init__(self, begin, end=None):
        self.min, self.extent = (0, begin) if end is None else (begin, end - begin)

    @staticmethod
    def from_min_extent(min_value, extent):
        made = Range(0, extent)
        made.min = min_value
        return made


def structural_equal(lhs, rhs, map_free_vars=False):
    """Of numbers, layouts and shapes, and of expressions that were written alike."""
    return lhs is rhs or (repr(lhs) == repr(rhs) if hasattr(lhs, "is_of_kernel") else bool(lhs == rhs))


_modules.become(__name__, _modules.sys.modules["tvm"].__class__)
