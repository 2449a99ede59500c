"""Functions from a grid to sets of numbers, which layouts are computed with."""

import dataclasses
import itertools
import math


class LayoutOperationError(ValueError):
    pass


def _suffixes(sizes):
    return {math.prod(sizes[i:]) for i in range(len(sizes) + 1)}


def _parts(sizes, cuts):
    """Each size as a list of factors, so that all of these products of last factors are met."""
    found, whole = [], math.prod(sizes)
    for size in sizes:
        inside = [cut for cut in sorted(cuts, reverse=True) if whole // size <= cut <= whole]
        if any([a % b for a, b in zip(inside, inside[1:])]):
            raise LayoutOperationError(f"the modes {sizes} have no common factors with {sorted(cuts)}")
        found.append([a // b for a, b in zip(inside, inside[1:])])
        whole //= size
    return found


@dataclasses.dataclass(frozen=True)
class MultiFunction:
    """The place in a grid of `shape` is written in digits of sizes `mode_shape`, which are factors of the shape, an extent behind the
    other. `modes` says which digits make up the number that the place has; -n stands for a digit of size n that takes all values."""

    shape: tuple
    mode_shape: tuple
    modes: tuple

    @staticmethod
    def create(shape, mode_shape, modes):
        return MultiFunction(tuple(shape), tuple(mode_shape), tuple(modes))

    @property
    def image_shape(self):
        return [-mode if mode < 0 else self.mode_shape[mode] for mode in self.modes]

    @property
    def size(self):
        return math.prod(self.mode_shape)

    @property
    def image_size(self):
        return math.prod(self.image_shape)

    def __call__(self, place):
        number = 0
        for index, extent in zip(place, self.shape):
            number = number * extent + index
        digits = []
        for size in reversed(self.mode_shape):
            digits.insert(0, number % size)
            number //= size
        found = []
        for chosen in itertools.product(*[range(-mode) if mode < 0 else [digits[mode]] for mode in self.modes]):
            value = 0
            for digit, size in zip(chosen, self.image_shape):
                value = value * size + digit
            found.append(value)
        return found

    def cover(self, other):
        """Whether each place has all numbers that the other gives it."""
        return self.shape == other.shape and all(
            [set(other(place)) <= set(self(place)) for place in itertools.product(*[range(extent) for extent in self.shape])])

    def _split(self, parts):
        """`parts`: the factors of each digit of the image."""
        by_mode = {mode: factors for mode, factors in zip(self.modes, parts) if mode >= 0}
        sizes, numbers = [], {}
        for mode, size in enumerate(self.mode_shape):
            numbers[mode] = range(len(sizes), len(sizes) + len(by_mode.get(mode, [size])))
            sizes += by_mode.get(mode, [size])
        modes = [one for mode, factors in zip(self.modes, parts) for one in (numbers[mode] if mode >= 0 else [-factor for factor in factors])]
        return MultiFunction.create(self.shape, sizes, modes)

    def __mul__(self, other):
        """The other function of what this one gives."""
        if self.image_size != other.size:
            raise LayoutOperationError(f"{self} gives {self.image_size} numbers, {other} takes {other.size}")
        cuts = _suffixes(self.image_shape) | _suffixes(other.mode_shape)
        first = self._split(_parts(self.image_shape, cuts))
        digits = _parts(other.mode_shape, cuts)
        places = iter(range(len(first.modes)))
        numbers = [[next(places) for _ in factors] for factors in digits]
        modes = []
        for mode in other.modes:
            for place in [None] if mode < 0 else numbers[mode]:
                modes.append(mode if place is None else first.modes[place])
        return multi_function(self.shape, first.mode_shape, modes)

    def __str__(self):
        return f"multi_function(shape={list(self.shape)}, mode_shape={list(self.mode_shape)}, modes={list(self.modes)})"


def canonicalize_multi_function(function):
    """Without digits of one value; digits of an extent that are neighbours in the number, too, are one."""
    sizes, numbers, dims = [], {}, []
    cuts = [math.prod(function.shape[d:]) for d in range(len(function.shape) + 1)]
    rest = math.prod(function.shape)
    modes = [mode for mode in function.modes if mode < 0 or function.mode_shape[mode] > 1]
    follows = {b: a for a, b in zip(modes, modes[1:]) if a >= 0}
    last = None
    for mode, size in enumerate(function.mode_shape):
        dim = sum([rest <= cut for cut in cuts[1:]])
        rest //= size
        if size == 1:
            continue
        if last is not None and follows.get(mode) == last and dims[-1] == dim:
            sizes[-1] *= size
            numbers[mode] = None
        else:
            numbers[mode] = len(sizes)
            sizes.append(size)
            dims.append(dim)
        last = mode
    return MultiFunction.create(function.shape, sizes, [mode if mode < 0 else numbers[mode] for mode in modes if mode < 0 or numbers[mode] is not None])


def multi_function(shape, mode_shape, modes):
    return canonicalize_multi_function(MultiFunction.create(shape, mode_shape, modes))


def identity(shape):
    return multi_function(shape, shape, range(len(shape)))
