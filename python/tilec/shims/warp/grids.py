"""Points in cells of a grid, among which kernels look for those that are near. The host sorts the points."""

import functools
import operator

import numpy

from warp import arrays as _arrays
from warp import devices as _devices
from warp import graphs as _graphs
from warp import handles as _handles
from warp import types as _types

_VECTORS = {_types.float16: "vec3h", _types.float32: "vec3f", _types.float64: "vec3d"}
_MOST_CELLS = (1 << 31) - 1
_FARTHEST = 1 << 30


@functools.cache
def _data():
    """What kernels know of one."""
    integers = _arrays.array(dtype=_types.int32)

    @_types.struct
    class HashGrid:
        starts: integers
        points: integers
        groups: integers
        extents: integers
        inverse: _types.float64

    return HashGrid


@_graphs.recorded
def _build(grid, points, radius, groups):
    """Points of a cell are in the order in which they were given."""
    exact = numpy.float64 if grid.dtype is _types.float64 else numpy.float32
    inverse = exact(1.0) / exact(radius)
    cells = numpy.floor(points.numpy().reshape(-1, 3).astype(exact) * inverse)
    cells = numpy.clip(numpy.nan_to_num(cells, nan=0.0), -_FARTHEST, _FARTHEST).astype(numpy.int32)
    x, y, z = (cells % numpy.array(grid.extents, dtype=numpy.int32)).T
    cells = (z * grid.extents[1] + y) * grid.extents[0] + x
    order = numpy.argsort(cells, kind="stable").astype(numpy.int32)
    starts = numpy.zeros(grid.cell_count + 1, dtype=numpy.int32)
    numpy.cumsum(numpy.bincount(cells, minlength=grid.cell_count), out=starts[1:])
    grid._fill(len(order), order, starts, None if groups is None else groups.numpy().reshape(-1)[order], float(inverse))


class HashGrid(_handles.Handle):
    _data = staticmethod(_data)

    def __init__(self, dim_x, dim_y, dim_z, device=None, dtype=None):
        self.dtype = _types.as_type(_types.float32 if dtype is None else dtype)
        if self.dtype not in _VECTORS:
            raise TypeError(f"Unsupported dtype {dtype} for HashGrid. Supported types: float16, float32, float64")
        self.device = _devices.get_device(device)
        try:
            self.extents = tuple([operator.index(dim) for dim in (dim_x, dim_y, dim_z)])
        except TypeError as error:
            raise TypeError("HashGrid dimensions must be integers") from error
        x, y, z = self.extents
        self.cell_count = x * y * z
        if min(self.extents) <= 0:
            raise RuntimeError("Hash grid dimensions must be positive")
        if self.cell_count > _MOST_CELLS:
            raise RuntimeError(f"Hash grid cell count exceeds supported limit: {x} * {y} * {z} = {self.cell_count} > {_MOST_CELLS}")
        self.reserved, self.groups = False, None
        self._kept = {"extents": _arrays.array(list(self.extents), dtype=_types.int32, device=self.device)}
        self._describe(inverse=0.0, **self._kept)

    def _room(self, name, count):
        """Memory stays where it is while there is enough."""
        if name not in self._kept or len(self._kept[name]) < count:
            self._kept[name] = _arrays.empty(count, dtype=_types.int32, device=self.device)
        return self._kept[name]

    def _fill(self, count, order, starts, groups, inverse):
        for name, values in (("points", order), ("starts", starts), ("groups", groups)):
            if values is not None:
                room = self._room(name, max(len(values), 1))
                _arrays.copy(room, _arrays.array(values, dtype=_types.int32, device=self.device), count=len(values))
        if groups is None:
            self._kept.pop("groups", None)
        self._describe(inverse=inverse, **self._kept)

    def build(self, points, radius, groups=None):
        if points.dtype != _types.by_name(_VECTORS[self.dtype]):
            raise TypeError(f"Hash grid points should have type {_VECTORS[self.dtype]}, got {_types.type_repr(points.dtype)}")
        if radius <= 0.0:
            raise ValueError(f"Hash grid cell width must be positive, got {radius}")
        if points.device != self.device:
            raise RuntimeError("points must live on the same device as this HashGrid")
        if groups is not None:
            if groups.dtype != _types.int32:
                raise RuntimeError("groups should be an array of type wp.int32")
            if groups.device != self.device:
                raise RuntimeError("groups must live on the same device as this HashGrid")
            if groups.size != points.size:
                raise RuntimeError("groups must have the same length as points")
        self.groups = groups
        _build(self, points, radius, groups)
        self.reserved = True

    def reserve(self, num_points, with_groups=False):
        self._room("points", max(num_points, 1))
        self.reserved = True
