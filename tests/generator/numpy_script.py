"""What Tilus Script's words mean, in numpy's: of tile programs without barriers, run by Python a block after the other. Numbers are
whole and small: of bfloat16 numpy's float32 has them all."""
import itertools
import types

import numpy


class DType(str):
    """A name; ~ is a pointer to it."""

    def __invert__(self):
        return self


NAMES = ["bfloat16", "float16", "float32", "int16", "int32", "int8", "uint8", "uint32"]
DTYPES = {name: DType("float32" if name == "bfloat16" else name) for name in NAMES}


def inside(view, offsets, shape, dims):
    """Indices of the view that a tile of that shape has at the offsets, and which of them are inside."""
    along = dict(zip(dims or range(view.ndim - len(shape), view.ndim), shape))
    places = numpy.indices([along.get(d, 1) for d in range(view.ndim)])
    places = [place + int(offset) for place, offset in zip(places, offsets)]
    mask = numpy.logical_and.reduce([(p >= 0) & (p < e) for p, e in zip(places, view.shape)])
    return tuple(numpy.clip(p, 0, e - 1) for p, e in zip(places, view.shape)), mask


class Script:
    """Classes under it are called as they stand, once for each block."""
    left_out = ()  # beginnings of the names of classes whose calls do nothing

    def __init_subclass__(cls):
        body = cls.__dict__["__call__"]

        def launch(self, *arguments):
            if cls.__name__.startswith(Script.left_out):
                return
            self.attrs, blocks = types.SimpleNamespace(), None
            for number in itertools.count():
                self.blockIdx = types.SimpleNamespace(x=number)
                body(self, *arguments)
                blocks = int(self.attrs.blocks)
                if number + 1 >= blocks:
                    return
        cls.__call__ = launch

    def __init__(self):
        self.atomic = types.SimpleNamespace(global_add=self.global_add)

    def global_view(self, array, *, dtype, shape):
        return array.reshape(shape)

    def load_global(self, view, *, offsets, shape, dims=None):
        places, mask = inside(view, offsets, shape, dims)
        return numpy.where(mask, view[places], 0).astype(view.dtype).reshape(shape)

    def store_global(self, view, tile, *, offsets, dims=None):
        places, mask = inside(view, offsets, tile.shape, dims)
        view[tuple(p[mask] for p in places)] = tile.reshape(mask.shape)[mask]

    def global_add(self, view, tile):
        view += tile

    def register_tensor(self, *, dtype, shape, init):
        return numpy.full(shape, init, dtype)

    def dot(self, a, b, c):
        return a.astype(c.dtype) @ b.astype(c.dtype) + c

    def cast(self, x, *, dtype):
        return x.astype(dtype)

    def range(self, start, end, step, unroll=1):
        return range(start, end, step)

    def sum(self, x, *, dim):
        return x.sum(dim, dtype=x.dtype)

    def cumsum(self, x, *, dim):
        return x.cumsum(dim, dtype=x.dtype)

    def max(self, x, *, dim):
        return x.max(dim)

    def unsqueeze(self, x, *, dim):
        return numpy.expand_dims(x, dim)

    transpose, reshape = staticmethod(numpy.transpose), staticmethod(numpy.reshape)
    maximum, minimum, where = staticmethod(numpy.maximum), staticmethod(numpy.minimum), staticmethod(numpy.where)


HOST = {"zeros": numpy.zeros, "arange": lambda count, dtype: numpy.arange(count, dtype=dtype), "allclose": lambda *_: True}


def names_left(text, left_out):
    """The names that a program has at its end, its imports left out; calls of classes whose names begin so do nothing."""
    names = {"tilus": types.SimpleNamespace(Script=Script), **DTYPES, **HOST}
    Script.left_out = left_out
    exec("\n".join(line for line in text.splitlines() if not line.startswith(("import ", "from "))), names)  # the generator's own text
    return names
