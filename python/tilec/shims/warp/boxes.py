"""Boxes and their groups. There are no geometry queries, and so no tree is built to answer some: a kernel that asks is refused."""

import enum as _enum
import functools

from warp import arrays as _arrays
from warp import handles as _handles
from warp import types as _types

_vec3 = _types.by_name("vec3")


class _Kind(_enum.IntEnum):
    SAH, MEDIAN, LBVH, CUBQL = 0, 1, 2, -1


@functools.cache
def _data():
    """What kernels know of one."""
    @_types.struct
    class Bvh:
        lowers: _arrays.array(dtype=_vec3)
        uppers: _arrays.array(dtype=_vec3)
        groups: _arrays.array(dtype=_types.int32)

    return Bvh


def _constructor(asked):
    if asked is None or isinstance(asked, _Kind):
        return asked
    if asked.upper() not in _Kind.__members__:
        raise ValueError(f"Unknown BVH constructor '{asked}', expected one of: {', '.join(name.lower() for name in _Kind.__members__)}")
    return _Kind[asked.upper()]


class Bvh(_handles.Handle):
    _data = staticmethod(_data)

    def __init__(self, lowers, uppers, constructor=None, groups=None, leaf_size=1):
        if len(lowers) != len(uppers):
            raise RuntimeError("The same number of lower and upper bounds must be provided")
        if lowers.device != uppers.device:
            raise RuntimeError("Lower and upper bounds must live on the same device")
        _handles.check(lowers, "lowers", _vec3, "vec3")
        _handles.check(uppers, "uppers", _vec3, "vec3")
        if groups is not None:
            _handles.check(groups, "groups", _types.int32, "int32")
            if groups.device != lowers.device:
                raise RuntimeError("groups must live on the same device as lowers/uppers")
            if len(groups) != len(lowers):
                raise RuntimeError("groups must have the same length as lowers/uppers")
        if _constructor(constructor) == _Kind.CUBQL and groups is not None:
            raise RuntimeError("Grouped BVHs are not supported with constructor='cubql'")
        if leaf_size < 1:
            raise ValueError(f"leaf_size must be greater than or equal to 1, current value: {leaf_size}")
        self.device, self.lowers, self.uppers, self.groups = lowers.device, lowers, uppers, groups
        self._describe(lowers=lowers, uppers=uppers, groups=groups)

    def refit(self):
        """Nothing was built of where its boxes were."""

    def rebuild(self, constructor=None):
        _constructor(constructor)
