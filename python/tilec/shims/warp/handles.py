"""What meshes, boxes and grids have in common: a struct in the device's memory, by whose address kernels know of them."""

from warp import arrays as _arrays
from warp import memory as _memory


def check(array, what, dtype, kind):
    if array.dtype != dtype or not array.is_contiguous:
        raise RuntimeError(f"{what} should be a contiguous array of type wp.{kind}")


class Handle:
    """`id` is what kernels are given. `_data()` is the struct's type, and `device` where it lies."""

    def _describe(self, **fields):
        """The struct has these fields, at first and again later; those that are None are zero."""
        data = self._data()()
        for name, value in fields.items():
            if value is not None:
                setattr(data, name, value)
        with _memory.tracker.inside_of(type(self).__name__.lower()):
            made = _arrays.array([data], dtype=self._data(), device=self.device)
        if hasattr(self, "id"):
            self._struct.assign(made)
        else:
            self._struct, self.id = made, made.ptr
