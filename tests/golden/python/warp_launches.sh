# Launches of Warp in Python: what a bool is given, numbers of other libraries, and threads of the device cpu, which run in turn.
needs numpy
export TILE_DEVICE=emulator
mkdir -p "$TMP/site-packages/constants"
cat > "$TMP/site-packages/constants/__init__.py" <<'P'
LIMIT, COUNT = 1.5, 3
P
cat > "$TMP/beside.py" <<'P'
import constants as c
import warp as wp


@wp.func
def more(x: float):
    return x + float(c.COUNT)
P
cat > "$TMP/program.py" <<'P'
from enum import EnumMeta, IntEnum

import beside
import constants
import numpy as np
import warp as wp


class Number:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


@wp.struct
class Flags:
    on: bool


@wp.kernel
def choose(on: bool, flags: Flags, n: int, x: wp.array[float]):
    x[0] = wp.where(on, 2.0, 1.0)
    x[1] = wp.where(flags.on, 2.0, 1.0)
    x[2] = float(n)


# Any number is a bool, by whether it is zero.
x = wp.zeros(3, dtype=float)
for given in (True, False, 2, 64, 256, 1 << 40, -1, 0, 0.5, 0.0, np.int32(64), Number(256)):
    flags = Flags()
    flags.on = given if isinstance(given, int) else bool(given)
    wp.launch(choose, dim=1, inputs=[given, flags, Number(7), x])
    command = wp.launch(choose, dim=1, inputs=[False, flags, 3, x], record_cmd=True)
    first = x.numpy().tolist()
    command.set_param_by_name("on", given)
    command.launch()
    print(first, x.numpy().tolist())


# Of a library that the compiler does not have a kernel takes numbers.
@wp.kernel
def limited(x: wp.array[float]):
    i = wp.tid()
    if x[i] > constants.LIMIT:
        x[i] = beside.more(float(constants.COUNT))


x = wp.array([1.0, 2.0], dtype=float)
wp.launch(limited, dim=2, inputs=[x])
print(x.numpy())


# Threads of the device cpu run in turn: a flag stops those that come later. On a GPU nothing orders them.
@wp.kernel
def look(x: wp.array[float], found: wp.array[bool], looked: wp.array[int]):
    i = wp.tid()
    if found[0]:
        return
    looked[i] = 1
    if x[i] > 2.5:
        found[0] = True


@wp.kernel
def carry(x: wp.array[int]):
    i = wp.tid()
    if i > 0:
        x[i] += x[i - 1]


for device in ("cpu", "cuda:0"):
    x = wp.array(np.arange(600, dtype=np.float32), device=device)
    found, looked = wp.zeros(1, dtype=bool, device=device), wp.zeros(600, dtype=int, device=device)
    total = wp.ones(600, dtype=int, device=device)
    try:
        wp.launch(look, dim=600, inputs=[x, found, looked], device=device)
        wp.launch(carry, dim=600, inputs=[total], device=device)
        print(device, found.numpy(), looked.numpy().sum(), (total.numpy() == np.arange(1, 601)).all())
    except RuntimeError as error:
        print(device, str(error).splitlines()[0])


# Where enumerations are made by a kind of their own.
class Warning(EnumMeta):
    def __getattribute__(cls, name):
        return super().__getattribute__(name)


class Kind(IntEnum, metaclass=Warning):
    A = 0
    B = 3


@wp.kernel
def by_kind(x: wp.array[int]):
    i = wp.tid()
    if x[i] == Kind.B:
        x[i] = -1


x = wp.array([0, 3], dtype=int)
wp.launch(by_kind, dim=2, inputs=[x])
print(x.numpy())
P
PYTHONPATH=$PYTHONPATH:$TMP/site-packages python3 -m tilec run "$TMP/program.py"
