# Objects of a program's classes that its kernels are given: named tuples, plain objects, their methods, partial functions; as they are when a
# kernel is made, with the classes that the texts of all modules name.
needs numpy
cd "$TMP"
cat >shapes.py <<'EOF'
import abc
import enum
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class Tile:
    m: int
    n: int = 32


class Bounds(NamedTuple):
    low: float
    high: float = 1.0

    def middle(self):
        return (self.low + self.high) / 2


Pair = namedtuple("Pair", "first second", defaults=(2.0,))


class Plain:
    factor = 3

    def __init__(self, a):
        self.a = a
        self.bounds = Bounds(a)
        self.owner = self

    def __eq__(self, other):
        return isinstance(other, Plain) and self.a == other.a

    @property
    def doubled(self):
        return 2 * self.a

    def apply(self, x):
        return x * self.a + self.bounds.high + self.factor


class Base(abc.ABC):
    @abc.abstractmethod
    def apply(self, x):
        pass

    def twice(self, x):
        return self.apply(self.apply(x))


class Shift(Base):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def apply(self, x):
        return x + self.by


DEFAULT = Tile(8)


def is_default(tile):
    return tile == DEFAULT and {Tile: True}[type(tile)] and isinstance(tile, Tile)
EOF
cat >use.py <<'EOF'
import functools
import threading

import numpy
import shapes
import tilelang
import tilelang.language as T
from shapes import Bounds, Pair, Plain, Shift, Tile, is_default


def scaled(x, by, plus=0.0):
    return x * by + plus


@functools.lru_cache
def weight(tile):
    return 10.0 if is_default(shapes.Tile(tile, 32)) else 20.0


class Model:
    def __init__(self, gain):
        self.gain = gain
        self.lock = threading.Lock()  # there are no words for it

    def activation(self, x):
        return self.shifted(x) * self.gain

    def shifted(self, x):
        return x + 1.0

    def kernel(self):
        me = self

        @T.prim_func
        def main(X: T.Tensor((32,), "float32"), Y: T.Tensor((32,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(32):
                    Y[i] = me.activation(X[i])

        return tilelang.compile(main, out_idx=-1)


@tilelang.jit(out_idx=[-1])
def made(tile, bounds, pair, plain, base, function):
    @T.prim_func
    def main(X: T.Tensor((tile.n,), "float32"), Y: T.Tensor((tile.n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(tile.n):
                Y[i] = function(base.twice(plain.apply(X[i])) + bounds.middle() + pair.second) + plain.doubled
                if is_default(tile):
                    Y[i] += 100.0
                if plain == Plain(2.0):
                    Y[i] += 1000.0
                if isinstance(bounds, Bounds) and isinstance(base, Shift) and pair == Pair(1.0):
                    Y[i] += 10000.0

    return main


x = numpy.arange(32, dtype=numpy.float32)
plain = Plain(2.0)
for tile, factor in ((Tile(8), 3), (Tile(4), 3), (Tile(8), 5)):
    plain.factor = factor
    function = functools.partial(scaled, by=0.5)
    expected = 0.5 * ((x * 2.0 + 1.0 + factor) + 2.5 * 2 + 1.5 + 2.0) + 4.0 + 11000.0 + (100.0 if tile.m == 8 else 0.0)
    y = made(tile, Bounds(2.0), Pair(1.0), plain, Shift(2.5), function)(x)
    print(numpy.array_equal(y, expected))
model = Model(2.0)
print(numpy.array_equal(model.kernel()(x), (x + 1.0) * 2.0))
model.gain = 3.0
print(numpy.array_equal(model.kernel()(x), (x + 1.0) * 3.0))


@tilelang.jit
def lazily(X, plain, act, tile: int = 8):
    n = T.const("n")
    X: T.Tensor[[n], T.float32]
    Y = T.empty((n,), T.float32)
    with T.Kernel(1, threads=32):
        for i in T.Parallel(n):
            Y[i] = act(X[i]) * plain.bounds.low + weight(tile)
    return Y


print(numpy.array_equal(lazily(x, plain, Shift(1.0).apply), (x + 1.0) * 2.0 + 10.0))
print(numpy.array_equal(lazily(x, Plain(4.0), Shift(3.0).twice, tile=4), (x + 6.0) * 4.0 + 20.0))
EOF
python3 -m tilec run use.py

# An object that others are compared with is no other one, so it is not told.
cat >marks.py <<'EOF'
import numpy
import tilelang
import tilelang.language as T


class Mode:
    def __init__(self, name):
        self.name = name


FAST = Mode("fast")


def made(mode):
    @T.prim_func
    def main(Y: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                Y[i] = 1.0 if mode is FAST else 0.0

    return tilelang.compile(main, out_idx=-1)


try:
    print(made(FAST)()[0])
except Exception as error:
    print(type(error).__name__, "mode" in str(error))
EOF
python3 -m tilec run marks.py
