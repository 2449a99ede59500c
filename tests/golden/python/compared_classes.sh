# Classes of the program that a kernel's text names are those of the objects that it is made with: members of enumerations, records.
needs numpy
cd "$TMP"
cat >modes.py <<'END'
import enum


class Color(enum.Flag):
    R = 1
    G = 2


class Mode(enum.Enum):
    A = "a"
    B = "b"

    @property
    def is_a(self):
        return self is Mode.A


def is_red(color):
    return color in (Color.R, Color.R | Color.G) and Color.R is not color
END
cat >kernel.py <<'END'
import enum
from dataclasses import dataclass

import numpy
import tilus
from modes import Color, Mode, is_red
from tilus import int32


class Kind(enum.IntEnum):
    X = 1
    Y = 2


@dataclass(frozen=True, order=True)
class Relu:
    slope: float = 0.0


@dataclass
class Gelu:
    tanh: bool = True


class Compare(tilus.Script):
    def __init__(self, mode, epilogue, kind, color):
        super().__init__()
        self.mode, self.epilogue, self.kind, self.color = mode, epilogue, kind, color

    def __call__(self, p: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(p, dtype=int32, shape=[14])
        found = [
            self.mode is Mode.A, self.mode == Mode.A, self.mode != Mode.B, self.mode in (Mode.A,), {Mode.A: 1, Mode.B: 0}[self.mode],
            isinstance(self.mode, Mode), self.mode.is_a, isinstance(self.epilogue, Relu), not isinstance(self.epilogue, Gelu),
            self.epilogue == Relu(0.5), isinstance(self.epilogue, Relu) and Relu(0.25) < self.epilogue, self.kind is Kind.X, self.kind == Kind.X, is_red(self.color),
        ]
        for i, one in enumerate(found):
            self.store_global(g, self.register_tensor(dtype=int32, shape=[1], init=int(one)), offsets=[i])


p = numpy.zeros(14, dtype=numpy.int32)
for mode, epilogue, kind, color in [(Mode.A, Relu(0.5), Kind.X, Color.R | Color.G), (Mode.B, Relu(), Kind.Y, Color.G)]:
    Compare(mode, epilogue, kind, color)(p)
    print(p)
Compare(Mode.A, Gelu(), Kind.X, Color.R)(p)
print(p)
END
python3 -m tilec run kernel.py
