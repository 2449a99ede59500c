"""tilelang.layout.cute: the algebra of CuTe's layouts, on numbers. A layout maps coordinates of a shape, which may be nested, to the sum
of coordinates times strides. A stride of ScaledBasis adds to one slot of a tuple."""

import itertools
import math
import re

from tilec import native
from tilelang.layout import Layout as _Places


class ScaledBasis:
    """`value` in the slot that `mode` leads to, the outermost first."""

    def __init__(self, value, mode):
        self.value, self.mode = value, (mode,) if isinstance(mode, int) else tuple([int(one) for one in mode])

    def spread(self):
        """As a tuple with zeros before the slot."""
        found = self.value
        for slot in reversed(self.mode):
            found = (0,) * slot + (found,)
        return found

    def __mul__(self, other):
        return _times(self, other)

    __rmul__ = __mul__

    def __eq__(self, other):
        return isinstance(other, ScaledBasis) and (self.value, self.mode) == (other.value, other.mode)

    def __hash__(self):
        return hash((self.value, self.mode))

    def __repr__(self):
        return "@".join([str(self.value), *[str(slot) for slot in reversed(self.mode)]])


def E(mode):
    return ScaledBasis(1, mode)


def _plus(a, b):
    a, b = [one.spread() if isinstance(one, ScaledBasis) else one for one in (a, b)]
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple([_plus(x, y) for x, y in itertools.zip_longest(a, b, fillvalue=0)])
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int) and one == 0:
            return other
    if isinstance(a, tuple) or isinstance(b, tuple):
        raise ValueError(f"{_text(a)} and {_text(b)} have no sum")
    return a + b


def _times(a, b):
    if isinstance(a, ScaledBasis) or isinstance(b, ScaledBasis):
        basis, factor = (a, b) if isinstance(a, ScaledBasis) else (b, a)
        return ScaledBasis(_times(basis.value, factor), basis.mode)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple([_times(x, y) for x, y in zip(a, b)])
    if isinstance(a, tuple) or isinstance(b, tuple):
        branch, factor = (a, b) if isinstance(a, tuple) else (b, a)
        return tuple([_times(one, factor) for one in branch])
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int) and one in (0, 1):
            return other if one else 0
    return a * b


class IntTuple:
    """A number, a ScaledBasis or a tuple of such, to be added and multiplied."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return IntTuple(_plus(self.value, to_python(from_python(other))))

    def __mul__(self, other):
        return IntTuple(_times(self.value, to_python(from_python(other))))

    __radd__, __rmul__ = __add__, __mul__

    def __str__(self):
        return _text(self.value)

    @staticmethod
    def parse(text):
        return IntTuple(_parsed(text))


def to_python(value):
    return value.value if isinstance(value, IntTuple) else value


def from_python(value):
    return value if isinstance(value, IntTuple) else IntTuple(_nested(value))


def _nested(value):
    if isinstance(value, IntTuple):
        return value.value
    return tuple([_nested(one) for one in value]) if isinstance(value, (tuple, list)) else value


def _text(value):
    return f"({','.join([_text(one) for one in value])})" if isinstance(value, tuple) else str(value)


def _parsed(text):
    found, rest = _read(text.strip())
    if rest:
        raise ValueError(f"{text!r} is no nested tuple of numbers")
    return found


def _read(text):
    if text.startswith("("):
        items, text = [], text[1:]
        while not text.startswith(")"):
            item, text = _read(text.lstrip(", "))
            items.append(item)
        return tuple(items), text[1:]
    word = re.match(r"-?\d+(@\d+)*", text)
    if word is None:
        raise ValueError(f"{text!r} begins with no number")
    value, *slots = [int(one) for one in word[0].split("@")]
    return ScaledBasis(value, slots[::-1]) if slots else value, text[word.end():]


def flatten_to_tuple(value):
    value = _nested(value)
    return tuple([leaf for one in value for leaf in flatten_to_tuple(one)]) if isinstance(value, tuple) else (value,)


def product(shape):
    found = 1
    for extent in flatten_to_tuple(shape):
        found = _times(found, extent)
    return found


def _at(coordinate, shape, stride):
    if isinstance(coordinate, tuple):
        if len(coordinate) != len(shape):
            raise native.Error(f"the coordinate {_text(coordinate)} is none of the shape {_text(shape)}")
        modes = zip(coordinate, shape, stride)
    elif isinstance(shape, tuple):
        modes = []
        for i, (extent, step) in enumerate(zip(shape, stride)):
            whole = product(extent)
            is_last = i == len(shape) - 1
            modes.append((coordinate if is_last else coordinate % whole, extent, step))
            coordinate = coordinate if is_last else coordinate // whole
    else:
        return _times(coordinate, stride)
    found = 0
    for one in modes:
        found = _plus(found, _at(*one))
    return found


class Layout:
    def __init__(self, shape, stride):
        if not congruent(shape, stride):
            raise native.Error(f"the shape {_text(shape)} and the stride {_text(stride)} are not nested alike")
        self.shape, self.stride = shape, stride

    def __getitem__(self, index):
        return Layout(self.shape[index], self.stride[index]) if isinstance(self.shape, tuple) else (self,)[index]

    def __call__(self, coordinate):
        found = _at(_nested(coordinate), self.shape, self.stride)
        return found.spread() if isinstance(found, ScaledBasis) else found

    def __eq__(self, other):
        return isinstance(other, Layout) and _text(self.shape) == _text(other.shape) and _text(self.stride) == _text(other.stride)

    def __hash__(self):
        return hash(str(self))

    def __str__(self):
        return f"{_text(self.shape)}:{_text(self.stride)}"

    __repr__ = __str__

    def with_shape(self, shape):
        return composition(self, make_layout(shape))

    @staticmethod
    def parse(text):
        return Layout(*[_parsed(one) for one in text.split(":")])

    @staticmethod
    def from_tilelang(layout):
        """None: it is no sum of coordinates times strides."""
        outputs = _values(layout)
        found = _affine(outputs[0]) if len(outputs) == 1 else None
        return found[1] if found is not None and found[0] == 0 else None

    @staticmethod
    def from_tilelang_hierarchical(layout):
        """With a slot for each of its outputs. None: they are no such sums, or one dimension's part goes to two of them."""
        found = [_affine(values) for values in _values(layout)]
        if any([one is None or one[0] != 0 for one in found]):
            return None
        modes = []
        for dim in range(len(layout.shape)):
            parts = [(axis, _modes(made[dim])) for axis, (_, made) in enumerate(found)]
            sizes = _refined([[extent for extent, _ in part] for _, part in parts])
            if sizes is None:
                return None
            strides, runs = [], [made[dim] for _, made in found]
            begin = 1
            for extent in sizes:
                steps = [(axis, run(begin)) for axis, run in enumerate(runs) if run(begin) != 0 and extent > 1]
                if len(steps) > 1:
                    return None
                strides.append(ScaledBasis(steps[0][1], steps[0][0]) if steps else 0)
                begin *= extent
            modes.append((tuple(sizes), tuple(strides)) if len(sizes) > 1 else (sizes[0], strides[0]))
        return Layout(tuple([shape for shape, _ in modes]), tuple([stride for _, stride in modes]))

    def to_tilelang(self):
        def forward(*coordinate):
            found = self(coordinate)
            return list(found) if isinstance(found, tuple) else [found]

        return _Places([size(self[i]) for i in range(rank(self))], forward)


def rank(layout):
    return len(layout.shape) if isinstance(layout.shape, tuple) else 1


def size(layout):
    return product((layout.layout if isinstance(layout, ComposedLayout) else layout).shape)


def _modes(layout):
    return list(zip(flatten_to_tuple(layout.shape), flatten_to_tuple(layout.stride)))


def _of(modes):
    return Layout(*modes[0]) if len(modes) == 1 else Layout(tuple([one for one, _ in modes]), tuple([one for _, one in modes]))


def flatten(layout):
    return _of(_modes(layout)) if isinstance(layout.shape, tuple) else layout


def coalesce(layout, max_extent=None):
    """Modes that go on where the one before ends are one, of at most so many elements."""
    found = []
    for extent, stride in _modes(layout):
        if isinstance(extent, int) and extent == 1:
            continue
        if found and _times(*found[-1]) == stride and (max_extent is None or found[-1][0] * extent <= max_extent):
            found[-1] = _times(found[-1][0], extent), found[-1][1]
        else:
            found.append((extent, stride))
    return _of(found or [(1, 0)])


def filter(layout):
    return coalesce(_of([(1, 0) if isinstance(stride, int) and stride == 0 else (extent, stride) for extent, stride in _modes(layout)]))


def _sorted(layout):
    """Modes of a filtered layout from the smallest stride on: extent, stride, and the number of the coordinates before the mode."""
    found, before = [], 1
    for extent, stride in _modes(layout):
        if stride != 0:
            found.append((extent, stride, before))
        before *= extent
    return sorted(found, key=lambda mode: mode[1])


def right_inverse(layout):
    found, reach = [], 1
    for extent, stride, before in _sorted(coalesce(layout)):
        if stride == reach:
            found.append((extent, before))
            reach *= extent
    return coalesce(_of(found or [(1, 0)]))


def left_inverse(layout):
    modes = _sorted(coalesce(layout))
    if not modes:
        return Layout(1, 0)
    found = [(modes[0][1], 0)] if modes[0][1] > 1 else []
    for (extent, stride, before), after in zip(modes, modes[1:] + [None]):
        found.append((extent if after is None else after[1] // stride, before))
    return coalesce(_of(found))


def _slot(tree, mode):
    for slot in mode:
        tree = tree[slot]
    return tree


def _composed(shape, stride, extent, step):
    """Of (shape, stride) the elements that (extent, step) counts: a shape and its strides."""
    if isinstance(extent, tuple):
        made = [_composed(shape, stride, *one) for one in zip(extent, step)]
        return tuple([one for one, _ in made]), tuple([one for _, one in made])
    if isinstance(step, ScaledBasis):
        return _composed(_slot(shape, step.mode), _slot(stride, step.mode), extent, step.value)
    if isinstance(step, int) and step == 0:
        return extent, step
    modes = _modes(coalesce(Layout(shape, stride)))
    last = list(zip(flatten_to_tuple(shape), flatten_to_tuple(stride)))[-1]
    if last[0] == 1 and len(flatten_to_tuple(shape)) > 1:
        modes.append((1, last[1]))  # how it goes on behind the shape's end
    found = []
    for whole, along in modes[:-1]:
        left, step, rest = -(-whole // step), -(-step // whole), step
        if left == 1 or extent == 1:
            continue
        taken = min(left, extent)
        if extent % taken != 0:
            raise native.Error(f"{_text(shape)}:{_text(stride)} has no layout of the elements {extent}:{rest}")
        found.append((taken, _times(rest, along)))
        extent //= taken
    if not found or extent != 1:
        found.append((extent, _times(step, modes[-1][1])))
    made = _of(found)
    return made.shape, made.stride


def composition(lhs, rhs):
    """lhs(rhs(coordinate))."""
    return Layout(*_composed(lhs.shape, lhs.stride, rhs.shape, rhs.stride))


def congruent(a, b):
    a, b = _nested(a), _nested(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all([congruent(x, y) for x, y in zip(a, b)])
    return not isinstance(a, tuple) and not isinstance(b, tuple)


def compatible(a, b):
    """Whether coordinates of `a` are coordinates of `b`."""
    a, b = _nested(a), _nested(b)
    if not isinstance(a, tuple):
        return bool(a == product(b))
    return isinstance(b, tuple) and len(a) == len(b) and all([compatible(x, y) for x, y in zip(a, b)])


def coshape(layout):
    found = 0
    for extent, stride in _modes(layout):
        basis = isinstance(stride, ScaledBasis)
        last = _times(extent + -1, abs(stride.value if basis else stride))
        found = _plus(found, ScaledBasis(last, stride.mode) if basis else last)
    return _each(found, lambda last: last + 1)


def _each(value, function):
    return tuple([_each(one, function) for one in value]) if isinstance(value, tuple) else function(value)


def cosize(layout):
    return product(coshape(layout))


def complement(layout, cotarget):
    """What the layout leaves out of so many elements."""
    left = filter(layout)
    if rank(left) > 1 and not all([isinstance(one, int) for one in flatten_to_tuple(left.stride)]):
        raise native.Error(f"complement: strides that are not known, as of {left}, are those of rank-1 layouts")
    found, reach = [], 1
    for extent, stride, _ in _sorted(left):
        found.append((stride if reach == 1 else stride // reach, reach))
        reach = extent * stride
    return coalesce(_of(found + [(-(-cotarget // reach), reach)]))


def logical_divide(layout, tiler):
    return composition(layout, make_layout([tiler, complement(tiler, size(layout))]))


def logical_product(block, tiler):
    return make_layout([block, composition(complement(block, size(block) * cosize(tiler)), tiler)])


def tiled_product(block, tiler):
    found = logical_product(block, tiler)
    rest = found[1]
    return make_layout([block, *[rest[i] for i in range(rank(rest))]]) if rank(rest) > 1 else found


def blocked_product(block, tiler):
    """Mode by mode: the block's, then how often it is repeated."""
    count = max(rank(block), rank(tiler))
    padded = [make_layout([one[i] if i < rank(one) else Layout(1, 0) for i in range(count)]) for one in (block, tiler)]
    found = logical_product(*padded)
    return make_layout([make_layout([found[0][i], found[1][i]]) for i in range(count)])


def make_layout(shape, stride=None):
    if stride is None and isinstance(shape, (tuple, list)) and shape and all([isinstance(one, Layout) for one in shape]):
        return Layout(tuple([one.shape for one in shape]), tuple([one.stride for one in shape]))
    return make_column_major_layout(shape) if stride is None else Layout(_nested(shape), _nested(stride))


def _compact(shape, begin, backwards):
    if not isinstance(shape, tuple):
        return (0 if isinstance(shape, int) and shape == 1 else begin), _times(begin, shape)
    found = []
    for extent in reversed(shape) if backwards else shape:
        stride, begin = _compact(extent, begin, backwards)
        found.append(stride)
    return tuple(reversed(found) if backwards else found), begin


def make_column_major_layout(shape):
    return Layout(_nested(shape), _compact(_nested(shape), 1, False)[0])


def make_row_major_layout(shape):
    return Layout(_nested(shape), _compact(_nested(shape), 1, True)[0])


def _unit(shape, mode):
    return tuple([_unit(one, mode + (i,)) for i, one in enumerate(shape)]) if isinstance(shape, tuple) else ScaledBasis(1, mode) if mode else 1


def make_identity_layout(shape):
    return Layout(_nested(shape), _unit(_nested(shape), ()))


def restrict(layout, region):
    """Where a region begins, and the layout of its coordinates; it has a range for each mode."""
    if len(region) != rank(layout):
        raise native.Error(f"{len(region)} ranges for a layout of {rank(layout)} modes")
    return layout(tuple([one.min for one in region])), make_layout([layout[i].with_shape(one.extent) for i, one in enumerate(region)])


class Swizzle:
    """Bits from m_base + s_shift on, b_bits of them, change those from m_base on."""

    def __init__(self, b_bits, m_base, s_shift):
        self.b_bits, self.m_base, self.s_shift = b_bits, m_base, s_shift

    @property
    def is_swizzled(self):
        return self.b_bits > 0

    def __call__(self, number):
        return number ^ ((number & (((1 << self.b_bits) - 1) << (self.m_base + self.s_shift))) >> self.s_shift)

    def recast(self, old_bits, new_bits):
        return Swizzle(self.b_bits, self.m_base + old_bits.bit_length() - new_bits.bit_length(), self.s_shift) if self.is_swizzled else self

    def __str__(self):
        return f"Sw<{self.b_bits},{self.m_base},{self.s_shift}>"

    @staticmethod
    def parse(text):
        return Swizzle(*[int(one) for one in re.fullmatch(r"Sw<(\d+),(\d+),(\d+)>", text).groups()])


class ComposedLayout:
    """A swizzle of `offset` and what the layout gives."""

    def __init__(self, swizzle, offset, layout):
        self.swizzle, self.offset, self.layout = swizzle, offset, layout

    def recast(self, old_bits, new_bits):
        """The same, of elements of another width: what lies one behind the other is as many times longer."""
        if old_bits % new_bits != 0:
            raise native.Error(f"a layout of {old_bits} bits is none of {new_bits}")
        times = old_bits // new_bits

        def wider(extent, stride):
            if isinstance(extent, tuple):
                made = [wider(*one) for one in zip(extent, stride)]
                return tuple([one for one, _ in made]), tuple([one for _, one in made])
            return (extent * times, stride) if stride == 1 else (extent, stride * times)

        return ComposedLayout(self.swizzle.recast(old_bits, new_bits), self.offset * times, Layout(*wider(self.layout.shape, self.layout.stride)))

    @staticmethod
    def from_tilelang(layout, buffer=None):
        """None: it is no swizzle of a sum of coordinates times strides."""
        values = 0
        for output in _values(layout):
            values = values * (int(output.max()) + 1) + output
        bits = max(int(values.max()).bit_length(), 1)
        kinds = [Swizzle(0, 0, 0)] + [Swizzle(b, m, s) for b in range(1, 5) for m in range(bits) for s in range(b, bits - m - b + 1)]
        for swizzle in kinds:
            found = _affine(swizzle(values))
            if found is not None:
                made = ComposedLayout(swizzle, int(values.flat[0]), found[1])
                return made if buffer is None else made.recast(buffer.dtype.bits, 8)
        return None


def _values(layout):
    """What each output is at each index: arrays of the layout's shape."""
    import numpy

    if not all([isinstance(extent, int) for extent in layout.shape]):
        raise native.Error(f"the extents of a layout must be constant, but are {list(layout.shape)}")
    try:
        found = layout.map_forward_index(list(numpy.indices(layout.shape)))
    except TypeError:  # a function of numbers alone
        found = [numpy.reshape(one, layout.shape) for one in zip(*layout.places())]
    return [numpy.broadcast_to(numpy.asarray(one), layout.shape) for one in found]


def _affine(values):
    """Where numbers begin, and the layout of what they add to it; None: a dimension's part depends on the others."""
    import numpy

    modes, total, begin = [], numpy.zeros(values.shape, numpy.int64), int(values.flat[0])
    for dim, extent in enumerate(values.shape):
        along = numpy.moveaxis(values, dim, 0).reshape(extent, -1)[:, 0].astype(numpy.int64) - begin
        mode = _factored(along)
        if mode is None:
            return None
        modes.append(mode)
        total = total + along.reshape([-1 if d == dim else 1 for d in range(values.ndim)])
    return (begin, make_layout(modes)) if (total + begin == values).all() else None


def _factored(along):
    """A line of numbers as one mode, nested if it goes on with other strides."""
    extent, found, begin = len(along), [], 1
    while begin < extent:
        step, count = int(along[begin]), 1
        while begin * count < extent and along[begin * count] == step * count:
            count += 1
        rest = extent // begin
        count = max([one for one in range(2, count + 1) if rest % one == 0], default=0)
        if not count:
            return None
        found.append((count, step))
        begin *= count
    layout = _of(found or [(1, 0)])
    return layout if all([layout(i) == along[i] for i in range(extent)]) else None


def _refined(lists):
    """Factors of one extent that all of these are products of; None: there are none."""
    reached = sorted({math.prod(sizes[:i]) for sizes in lists for i in range(len(sizes) + 1)})
    if any([b % a for a, b in zip(reached, reached[1:])]):
        return None
    return [b // a for a, b in zip(reached, reached[1:])] or [1]
