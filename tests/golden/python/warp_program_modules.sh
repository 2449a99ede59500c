# Values of the running program's other modules: numbers and enums that come from modules which the compiler has no text of are what
# the program has computed, in whatever module a kernel's functions find them.
needs numpy
cd "$TMP"
mkdir -p physics/parts
cat >host_engine.py <<'END'
import ctypes  # which is nothing for kernels

SMALL = ctypes.c_double(0.125).value


class Shape:
    def __init__(self, value):
        self.value = value

    def __int__(self):
        return self.value

    __index__ = __int__


BOX, BALL = Shape(3), Shape(5)
END
echo 'from . import parts, types' >physics/__init__.py
touch physics/parts/__init__.py
echo 'raise ImportError("a package wins over a file of its name")' >physics/parts.py
cat >physics/types.py <<'END'
import enum

import host_engine
import warp as wp

MINVAL = host_engine.SMALL


class Kind(enum.IntEnum):
    BOX = host_engine.BOX
    BALL = host_engine.BALL


class Bits(enum.IntFlag):
    FIRST = int(host_engine.BOX) - 2
    SECOND = int(host_engine.BALL) - 3


class Joint(enum.IntEnum):
    HINGE = 1
    BALL = 3

    @property
    def moves(self):
        return int(self.value)


class vec5(wp.types.vector(length=5, dtype=float)):
    pass
END
cat >physics/parts/math.py <<'END'
import warp as wp
from warp._src.types import Any

from physics import types
from ..types import MINVAL, Bits


@wp.func
def at_least(x: Any):
    return wp.max(x, types.MINVAL) + MINVAL * float(Bits.SECOND)
END
cat >program.py <<'END'
import numpy as np
import warp as wp

from physics.parts import math
from physics.types import Kind, vec5
import physics.types as kinds


@wp.kernel
def sized(kind: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    if kind[i] == Kind.BOX:
        y[i] = math.at_least(x[i])
    elif kind[i] == int(kinds.Kind.BALL):
        v = vec5(x[i])
        y[i] = v[4] + float(kinds.Bits.FIRST)


kind = wp.array([3, 5, 4, 3], dtype=int)
x, y = wp.array([0.0, 1.0, 2.0, 3.0], dtype=float), wp.zeros(4, dtype=float)
wp.launch(sized, dim=4, inputs=[kind, x, y])
print(y.numpy())
kinds.MINVAL = 0.5
import physics


def of_joint(joint):
    moves = joint.moves

    @wp.func
    def count(x: float):
        return x + float(moves) + physics.types.MINVAL + float(physics.types.Joint.HINGE.moves)

    return count


add = of_joint(kinds.Joint.BALL)


@wp.kernel
def counted(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = add(x[i])


wp.launch(counted, dim=4, inputs=[x, y])
print(y.numpy())


@wp.kernel
def again(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = math.at_least(x[i])


wp.launch(again, dim=4, inputs=[x])
print(x.numpy())

# What says an array's type is one to a program that asks, and keeps the program's own attributes.
said = wp.array(dtype=float, ndim=2)
said.shape = ("*", "nq")
print(isinstance(said, wp.array), said == wp.array2d[float], hash(said) == hash(wp.array2d[float]), said.shape)
print(wp.array(np.arange(6), dtype=float, shape=(2, -1)).shape, wp.array([[1.0, 2.0, 3.0]], dtype=wp.vec3, shape=(1, -1)).shape)

# Classes that are not here: an error where one is made.
print(isinstance(x, wp.Mesh), wp.Volume | None, wp.DeviceLike)
for kind in (wp.MarchingCubes, wp.Volume, wp.RegisteredGLBuffer):
    try:
        kind(0)
    except ImportError as error:
        print(error)

# As older releases call them.
from warp.types import Any  # noqa: F401, E402

print(wp.vec is wp.vector, wp.mat is wp.matrix, wp.vec(length=3, dtype=float) is wp.vec3)
print(wp.quat_between_vectors(wp.vec3(2.0, 0.0, 0.0), wp.vec3(0.0, 3.0, 0.0)))
END
python3 -m tilec run program.py
