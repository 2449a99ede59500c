"""Layouts whose rows take turns at the banks of shared memory, as programs look at them outside of kernels."""

from tilec import session as _session
from tilec.session import Remote as _Remote
from tilec.session import Text as _Text
from tilelang.layout import Layout
from tilelang.types import dtype as _dtype

LINE = 16  # bytes that go together
ROWS = 8  # after as many they begin anew


def _swizzled(buffer, lines):
    """Rows of `lines` lines, whose numbers differ from a row to those after it by XOR."""
    shape = [int(extent) for extent in buffer.shape]
    if len(shape) < 2:
        raise ValueError(f"a swizzled layout is of two dimensions or more, not of {shape}")
    line = LINE * 8 // _dtype(buffer.dtype).bits

    def place(i, j):
        row, part = i % ROWS, j // line
        turned = part % lines ^ row * lines // ROWS
        return part // lines, i // ROWS, (row * lines + turned) * line + j % line

    return Layout(shape[-2:], place).expand(shape[:-2])


class _Maker:
    """A function, which kernels have under its name."""

    def __init__(self, name, make):
        self.__name__ = name
        self.make = make

    def __call__(self, *arguments, **options):
        return self.make(*arguments, **options)

    def __tile_remote__(self):
        return _Remote(_Text(_session.module("tilelang.layout"), f".{self.__name__}"))


def _linear(buffer):
    shape = [int(extent) for extent in buffer.shape]

    def place(*index):
        found = 0
        for at, extent in zip(index, shape):
            found = found * extent + at
        return found

    return Layout(shape, place)


make_full_bank_swizzled_layout = _Maker("make_full_bank_swizzled_layout", lambda buffer: _swizzled(buffer, 8))
make_half_bank_swizzled_layout = _Maker("make_half_bank_swizzled_layout", lambda buffer: _swizzled(buffer, 4))
make_quarter_bank_swizzled_layout = _Maker("make_quarter_bank_swizzled_layout", lambda buffer: _swizzled(buffer, 2))
make_linear_layout = _Maker("make_linear_layout", _linear)


def _for_products(buffer, is_smooth=False):
    """By as many lines as rows have, of 8, 4 or 2."""
    row = int(buffer.shape[-1]) * _dtype(buffer.dtype).bits // 8
    lines = next((lines for lines in (8, 4, 2) if row % (lines * LINE) == 0), 1)
    return _linear(buffer) if is_smooth or lines == 1 else _swizzled(buffer, lines)


make_mma_swizzle_layout = _Maker("make_mma_swizzle_layout", _for_products)


def __getattr__(name):
    import tilelang.layout

    return getattr(tilelang.layout, name)
