"""Triangle meshes, of which kernels read points, velocities and corners. There are no geometry queries, and so nothing is built to
answer some."""

import functools

from warp import arrays as _arrays
from warp import types as _types

_vec3 = _types.by_name("vec3")


@functools.cache
def _data():
    """What kernels know of one."""
    @_types.struct
    class Mesh:
        points: _arrays.array(dtype=_vec3)
        velocities: _arrays.array(dtype=_vec3)
        indices: _arrays.array(dtype=_types.int32)

    return Mesh


def _check(array, dtype, what, kind):
    if array.dtype != dtype or not array.is_contiguous:
        raise RuntimeError(f"Mesh {what} should be a contiguous array of type wp.{kind}")


class Mesh:
    """`id` is what kernels are given."""

    def __init__(self, points, indices, velocities=None, support_winding_number=False, bvh_constructor=None, bvh_leaf_size=None, groups=None):
        if points.device != indices.device:
            raise RuntimeError("Mesh points and indices must live on the same device")
        _check(points, _vec3, "points", "vec3")
        if velocities is not None:
            _check(velocities, _vec3, "velocities", "vec3")
        _check(indices, _types.int32, "indices", "int32")
        if indices.ndim > 1:
            raise RuntimeError("Mesh indices should be a flattened 1d array of indices")
        if groups is not None and len(groups) != len(indices) // 3:
            raise RuntimeError("groups must have the same length as indices / 3")
        self.device, self.indices, self.groups = points.device, indices, groups
        self.support_winding_number = support_winding_number
        self._points, self._velocities = points, velocities
        self._told = self._tell()
        self.id = self._told.ptr

    def _tell(self):
        data = _data()()
        data.points, data.indices = self._points, self.indices
        if self._velocities is not None:
            data.velocities = self._velocities
        return _arrays.array([data], dtype=_data(), device=self.device)

    def _set(self, array, old, what):
        if array.device != self.device:
            raise RuntimeError(f"{what} must live on the same device as the mesh")
        _check(array, _vec3, what, "vec3")
        if old is not None and array.shape != old.shape:
            raise RuntimeError(f"the {what} of a mesh stay as many")
        return array

    @property
    def points(self):
        return self._points

    @points.setter
    def points(self, points):
        self._points = self._set(points, self._points, "points")
        self._told.assign(self._tell())

    @property
    def velocities(self):
        return self._velocities

    @velocities.setter
    def velocities(self, velocities):
        self._velocities = self._set(velocities, self._velocities, "velocities")
        self._told.assign(self._tell())

    def refit(self):
        """Nothing was built of where its points were."""
