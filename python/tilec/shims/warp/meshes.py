"""Triangle meshes, of which kernels read points, velocities and corners. There are no geometry queries, and so nothing is built to
answer some."""

import functools

from warp import arrays as _arrays
from warp import handles as _handles
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


def _replaceable(name):
    """An array of one vec3 a point, in whose place another one may be put."""
    def replace(self, array):
        old = getattr(self, "_" + name)
        if array.device != self.device:
            raise RuntimeError(f"{name} must live on the same device as the mesh")
        _handles.check(array, f"Mesh {name}", _vec3, "vec3")
        if old is not None and array.shape != old.shape:
            raise RuntimeError(f"the {name} of a mesh stay as many")
        setattr(self, "_" + name, array)
        self._describe_all()

    return property(lambda self: getattr(self, "_" + name), replace)


class Mesh(_handles.Handle):
    _data = staticmethod(_data)
    points, velocities = _replaceable("points"), _replaceable("velocities")

    def __init__(self, points, indices, velocities=None, support_winding_number=False, bvh_constructor=None, bvh_leaf_size=None, groups=None):
        if points.device != indices.device:
            raise RuntimeError("Mesh points and indices must live on the same device")
        _handles.check(points, "Mesh points", _vec3, "vec3")
        if velocities is not None:
            _handles.check(velocities, "Mesh velocities", _vec3, "vec3")
        _handles.check(indices, "Mesh indices", _types.int32, "int32")
        if indices.ndim > 1:
            raise RuntimeError("Mesh indices should be a flattened 1d array of indices")
        if groups is not None and len(groups) != len(indices) // 3:
            raise RuntimeError("groups must have the same length as indices / 3")
        self.device, self.indices, self.groups = points.device, indices, groups
        self.support_winding_number = support_winding_number
        self._points, self._velocities = points, velocities
        self._describe_all()

    def _describe_all(self):
        self._describe(points=self._points, velocities=self._velocities, indices=self.indices)

    def refit(self):
        """Nothing was built of where its points were."""
