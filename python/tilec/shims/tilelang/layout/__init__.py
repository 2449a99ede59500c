"""Layouts that programs make and compare. Kernels are laid out by the compiler: it takes them and keeps nothing of them."""

import functools
import itertools

from tilec import modules as _modules
from tilec import session as _session
from tilec.session import Remote as _Remote
from tilec.session import Text as _Text


class _Spoken(type):
    """A class that kernels call by its name."""

    def __tile_remote__(cls):
        return _Remote(_Text(_session.module("tilelang.layout"), f".{cls.__name__}"))


def _numbers(given):
    return tuple([int(one) for one in (given if isinstance(given, (list, tuple)) else (given,))])


def _extents(leading):
    if isinstance(leading, int):
        leading = [leading]
    if not isinstance(leading, (list, tuple)) or not all([isinstance(one, int) for one in leading]):
        raise TypeError(f"leading extents are an integer, or a list of such, not {leading!r}")
    if any([one <= 0 for one in leading]):
        raise ValueError(f"leading extents are positive, but are {list(leading)}")
    return list(leading)


class Layout(metaclass=_Spoken):
    """Which place each index of a shape has."""

    def __init__(self, shape=(), forward_fn=None):
        self.shape = list(shape)
        self.function = forward_fn

    def __tile_remote__(self):
        return _Remote(_Text(_session.module("tilelang.layout"), ".Layout()"))

    def place(self, index):
        if self.function is None:
            raise NotImplementedError("what this layout is is the compiler's choice")
        return _numbers(self.function(*index))

    def domain(self):
        return itertools.product(*[range(int(extent)) for extent in self.shape])

    def places(self):
        return [self.place(index) for index in self.domain()]

    def get_input_shape(self):
        return list(self.shape)

    def get_output_shape(self):
        return [max(along) + 1 for along in zip(*self.places())]

    def map_forward_index(self, indices):
        found = self.function(*indices)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def get_linearized_forward_index(self):
        """What each index comes to where places lie one behind the other, in the shape that they have."""
        return Numbers(self)

    def is_equal(self, other):
        return self.shape == other.shape and self.places() == other.places()

    def repeat(self, dim, factor):
        """The layout so many times along a dimension, each behind the one before."""
        rank = len(self.shape)
        if not -rank <= dim < rank:
            raise ValueError(f"a layout of {rank} dimensions has no dimension {dim}")
        if factor <= 0:
            raise ValueError(f"a layout is repeated a positive number of times, not {factor}")
        if factor == 1:
            return self
        dim %= rank
        extent = self.shape[dim]

        def repeated(*index):
            inside = index[:dim] + (index[dim] % extent,) + index[dim + 1 :]
            return (index[dim] // extent,) + self.place(inside)

        return Layout(self.shape[:dim] + [extent * factor] + self.shape[dim + 1 :], repeated)

    def expand(self, leading):
        """With further dimensions in front."""
        leading = _extents(leading)
        if not leading:
            return self
        return Layout(leading + self.shape, lambda *index: index[: len(leading)] + self.place(index[len(leading) :]))


class Numbers:
    """A number for each index of a layout's shape."""

    def __init__(self, layout):
        self.layout = layout

    def values(self):
        extents = self.layout.get_output_shape()
        return [functools.reduce(lambda found, part: found * part[1] + part[0], zip(place, extents), 0) for place in self.layout.places()]

    def equals(self, other):
        return isinstance(other, Numbers) and self.layout.shape == other.layout.shape and self.values() == other.values()


class Fragment(Layout):
    """Which thread has each index of a shape, and where; with `replicate` so many threads do."""

    def __init__(self, shape=(), forward_fn=None, forward_thread_fn=None, replicate=1, forward_index_fn=None):
        super().__init__(shape, forward_fn)
        self.threads = forward_thread_fn
        self.copies = replicate
        self.indices = forward_index_fn

    def place(self, index):
        if self.function is None and self.threads is None:
            return super().place(index)
        found = []
        for copy in range(int(self.copies)):
            more = index + (copy,) if self.copies != 1 else index
            if self.function is not None:
                thread, local = self.function(*more)
            else:
                thread, local = self.threads(*more), () if self.indices is None else self.indices(*index)
            found.append((int(thread), _numbers(local)))
        return tuple(found)

    def is_equal(self, other):
        return self.copies == other.copies and super().is_equal(other)

    def _of_compiler(self, *arguments, **options):
        return Fragment(self.shape)

    repeat = replicate = condense_rep_var = _of_compiler


_modules.become(__name__)
