# What Warp refuses of tiles, functions that are mapped and copies in a capture, with its words; sums into tiles that are stretched; old names.
needs numpy
cd "$TMP"
cat >refused.py <<'END'
import contextlib
import ctypes

import numpy
import warp as wp


def told(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except (RuntimeError, ValueError, TypeError) as error:
        print(str(error).splitlines()[-1])


# ---- tiles ----
@wp.kernel
def index_beside_slice(x: wp.array2d[float]):
    t = wp.tile_load(x, shape=(8, 8))
    wp.tile_store(x, t[wp.tile_arange(0, 4, dtype=int), 1:5])


@wp.kernel
def reshaped_gaps(x: wp.array2d[float], y: wp.array[float]):
    t = wp.tile_load(x, shape=(8, 8))
    wp.tile_store(y, wp.tile_reshape(t[::2, ::2], shape=(16,)))


@wp.kernel
def reshaped_rows(x: wp.array2d[float], y: wp.array[float]):
    t = wp.tile_load(x, shape=(8, 8))
    wp.tile_store(y, wp.tile_reshape(t[2:4], shape=(16,)))


@wp.kernel
def changed_rows(x: wp.array2d[float]):
    t = wp.tile_load(x, shape=(8, 8))
    t[0:4, :] += wp.tile_ones(shape=(4, 8), dtype=float)
    wp.tile_store(x, t)


@wp.kernel
def open_end(x: wp.array2d[float], n: int):
    t = wp.tile_load(x, shape=(8, 8))
    wp.tile_store(x, wp.tile_view(t, offset=(slice(0, n, 1),)))


@wp.kernel
def narrow_sum(x: wp.array[wp.int8]):
    wp.tile_atomic_add(x, wp.tile_load(x, shape=8))


@wp.kernel
def into_stretched(bias: wp.array[float], x: wp.array2d[float], out: wp.array2d[float]):
    row = wp.tile_load(bias, shape=4)
    total = wp.tile_broadcast(row, shape=(3, 4))
    wp.tile_axpy(2.0, wp.tile_load(x, shape=(3, 4)), total)
    wp.tile_store(out, total)


@wp.struct
class Pair:
    a: float
    b: int


@wp.kernel
def bits_of_pairs(x: wp.array[Pair]):
    t = wp.tile_load(x, shape=8)
    t |= t
    wp.tile_store(x, t)


@wp.kernel
def bits_of_a_pair(x: wp.array[Pair]):
    t = wp.tile_load(x, shape=8)
    t[0] &= x[0]
    wp.tile_store(x, t)


@wp.kernel
def bits(x: wp.array[int]):
    t = wp.tile_load(x, shape=8)
    t &= wp.tile_arange(0, 8, dtype=int)
    t |= t
    t ^= wp.tile_ones(shape=8, dtype=int)
    wp.tile_store(x, t)


for kernel in (bits_of_pairs, bits_of_a_pair):
    told(wp.launch_tiled, kernel, dim=[1], inputs=[wp.zeros(8, dtype=Pair)], block_dim=32)
whole = wp.full(8, 6, dtype=int)
wp.launch_tiled(bits, dim=[1], inputs=[whole], block_dim=32)
print(whole)
x, y = wp.array(numpy.arange(64.0).reshape(8, 8), dtype=float), wp.zeros(16, dtype=float)
for kernel, given in ((index_beside_slice, [x]), (reshaped_gaps, [x, y]), (changed_rows, [x]), (open_end, [x, 2]),
                      (narrow_sum, [wp.zeros(8, dtype=wp.int8)])):
    told(wp.launch_tiled, kernel, dim=[1], inputs=given, block_dim=32)
wp.launch_tiled(reshaped_rows, dim=[1], inputs=[x, y], block_dim=32)
print(y.numpy().tolist() == [float(i) for i in range(16, 32)])
out = wp.zeros((3, 4), dtype=float)
wp.launch_tiled(into_stretched, dim=[1], inputs=[wp.array([1.0, 2.0, 3.0, 4.0], dtype=float), x[:3, :4], out], block_dim=32)
print(out.numpy().tolist())


# ---- functions that are mapped ----
@wp.func
def of_int(i: int):
    return i


told(wp.map, of_int, y)
print(wp.map(of_int, wp.array([1, 2], dtype=int)).numpy())

# ---- copies in a capture ----
there, here = wp.ones(3, dtype=float, requires_grad=True), wp.ones(3, dtype=float, requires_grad=True, device="cpu")
with wp.Tape() as tape:
    wp.copy(there, here)
try:
    with wp.ScopedCapture():
        tape.backward()
except RuntimeError as error:
    print(error, wp.get_device("cuda").is_capturing)
tape.backward(grads={there: wp.ones(3, dtype=float)})
print(here.grad.numpy())

whole, gpu = wp.zeros((4, 2), dtype=float, device="cpu"), wp.get_device("cuda:0")
for dest, source in ((wp.zeros(4, dtype=float), whole[:, 0]), (whole[:, 1], wp.ones(4, dtype=float))):
    with contextlib.suppress(RuntimeError), wp.ScopedCapture():
        told(wp.copy, dest, source)
        raise RuntimeError
wide = wp.zeros((4, 2), dtype=float)
for is_enabled in (False, True):
    with wp.ScopedMempool(gpu, is_enabled), contextlib.suppress(RuntimeError), wp.ScopedCapture():
        told(wp.copy, wide[:, 0], wp.ones(4, dtype=float, device="cpu"))
        raise RuntimeError

# ---- old names ----
numbers = (ctypes.c_float * 3)(1.0, 2.0, 3.0)
place = ctypes.pointer(ctypes.c_size_t(ctypes.addressof(numbers)))
print(wp.from_ptr(ctypes.addressof(place.contents), 3, dtype=float, device="cpu").numpy())
sums = wp.zeros(4, dtype=int)
wp.utils.array_scan(wp.ones(4, dtype=int), sums, inclusive=False)
print(sums.numpy())

# ---- names that are not there ----
for name in ("register_ffi_callback", "ModuleBuildOptions", "address_of", "launchh"):
    try:
        getattr(wp, name)
    except AttributeError as error:
        print(error)


@wp.struct
class Listed:
    numbers: wp.array(dtype=float)
    x: float


@wp.kernel
def listed(o: wp.array(dtype=Listed)):
    wp.tile_store(o, wp.tile_zeros(4, dtype=Listed))


try:
    wp.launch_tiled(listed, dim=[1], inputs=[wp.zeros(4, dtype=Listed)], block_dim=32)
except TypeError as error:
    print(str(error).splitlines()[-1])
END
python3 -m tilec run refused.py 2>&1
