# Arrays in a GPU's memory, with a driver that works on the host's: what is filled and copied there is not sent there, and what is read
# or written of a part is that part alone.
needs numpy
export TILE_DEVICE=emulator
cd $TMP
cat >memory.py <<'END_PY'
import ctypes

import numpy as np
import warp as wp
from warp import arrays, driver

calls = []


def told(what, function, *given):
    calls.append(function.removeprefix("cu").partition("Async")[0])
    to, value, count, stream = [one.value for one in given]
    if "Memcpy" in function:
        assert abs(to - value) >= count
        ctypes.memmove(to, value, count)
    else:
        width = int(calls[-1].removeprefix("MemsetD")) // 8
        assert to % width == 0 and value < 256**width
        np.ctypeslib.as_array((ctypes.c_uint8 * (count * width)).from_address(to))[:] = np.frombuffer(value.to_bytes(width, "little") * count, np.uint8)


class Native:
    """libtile's copies between the host and the device."""

    def copy_in(self, to, source, count, stream):
        calls.append(f"in {count}")
        ctypes.memmove(to, source, count)

    def copy_out(self, to, source, count, stream):
        calls.append(f"out {count}")
        ctypes.memmove(to, source, count)

    def synchronize(self, stream):
        pass

    def check(self, status):
        pass


def on_gpu(array):
    array.memory.on_gpu = True
    return array


def said():
    told = " ".join(calls)
    calls.clear()
    return told


native, arrays._native, driver._told = arrays._native, Native(), told
a = on_gpu(wp.zeros(1000, dtype=float, device="cuda:0"))
said()
a.fill_(2.5)
print(said(), "|", set(a.numpy().tolist()), "|", said())
a[10:20].zero_()
print(said(), "|", a[8:12].numpy().tolist(), "|", said())
a[500:502].assign([1.0, 2.0])
print(said(), "|", a[499:503].numpy().tolist(), "|", said())
a[::2].fill_(7.0)
print(said(), "|", a[9:12].numpy().tolist(), "|", said())
b = on_gpu(wp.zeros(1000, dtype=float, device="cuda:0"))
said()
wp.copy(b, a)
print(said(), (a.numpy() == b.numpy()).all())
said()
wp.copy(b, a, dest_offset=100, src_offset=499, count=4)
print(said(), b[99:105].numpy().tolist())
said()
wp.copy(a[1:], a[:999])  # which overlap
print(said(), (a.numpy()[1:] == b.numpy()[:999]).sum() > 900)
for kind, value in ((wp.int8, -3), (wp.uint16, 40000), (wp.float64, -0.1), (wp.vec3, [1.0, 2.0, 3.0]), (wp.vec3h, [1.0, 2.0, 3.0]),
                    (wp.types.vector(3, wp.int8), [1, 2, 3]), (wp.mat44, 3.0), (wp.mat44d, np.arange(16.0)), (wp.bool, True), (wp.int64, -1)):
    for count in (1, 2, 3, 77):
        c = on_gpu(wp.empty((count + 3,), dtype=kind, device="cuda:0"))
        said()
        c.zero_()
        zeroed = said()
        c[1 : count + 1].fill_(value)
        did = said()
        got = c.numpy()
        assert (got[1 : count + 1] == np.reshape(value, got.shape[1:] if np.size(value) > 1 else ())).all() and not got[0].any() and not got[count + 1 :].any(), (kind, got)
        said()
    print(kind.__name__, zeroed, "|", did)
empty = on_gpu(wp.zeros(0, dtype=float, device="cuda:0"))
said()
empty.fill_(1.0)
wp.copy(empty, empty)
print(empty.numpy().tolist(), said() or "nothing")
for one in (a, b, c, empty):
    one.memory.on_gpu = False
arrays._native = native
END_PY
python3 -m tilec run memory.py
# What is alive when the process ends is not given back piece by piece.
cat >alive.py <<'END_PY'
import os

import warp as wp


class Told:
    def deallocate(self, pointer, size, write=os.write):
        write(1, f"gave back {size}\n".encode())


for end in range(2):
    kept = wp.zeros(10, dtype=float, device="cuda:0")
    kept.memory.allocator = Told()
END_PY
python3 -m tilec run alive.py
