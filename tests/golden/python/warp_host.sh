# What a program of Warp's does in Python around its kernels: functions of kernels on values, sorts and sums of arrays, gradients of
# copies and those that are retained, reads before writes; and the slopes of functions where numbers are special.
needs numpy
cd "$TMP"
cat >host.py <<'END'
import contextlib
import ctypes
import io

import numpy
import warp as wp

nan = float("nan")

# ---- values ----
print(wp.quat_identity(), wp.normalize(wp.vec3d(3.0, 0.0, 4.0)), wp.dot(wp.vec3(1.0, 2.0, 3.0), wp.vec3(1.0, 1.0, 1.0)), wp.min(3, 4))
t = wp.transform_multiply(wp.transform((1.0, 2.0, 3.0), wp.quat_identity()), wp.transform(q=wp.quat_identity(), p=(1.0, 0.0, 0.0)))
print(t, t.p, repr(wp.vec2i(1, 2)), wp.vec3(1.0, 2.0, 3.0)[0:2], wp.vec3h(1.0, 2.0, 3.0)[1], wp.mat22(1.0, 2.0, 3.0, 4.0) * wp.vec2(1.0, 1.0))
for wrong in (lambda: wp.vec3(1.0, 2.0), lambda: wp.vec3()[None], lambda: wp.mat22().__setitem__(0, "no"), lambda: wp.constant((1, 2))):
    try:
        wrong()
    except (ValueError, KeyError, TypeError) as error:
        print(type(error).__name__, error)
print(wp.int8(300) == 44, wp.int16(1) < 1.5, wp.float64(2.0) * 3, hash(wp.int32(1)) == hash(1.0))



@wp.struct
class Told:
    """A struct's words."""

    x: float


@wp.func
def told_func(x: float):
    """A function's."""
    return x


@wp.kernel
def told_kernel(x: float):
    """A kernel's."""


print(Told.__doc__, told_func.__doc__, told_kernel.__doc__)

# ---- arrays ----
keys, values = wp.array([3, -1, 2, 3, 0, 0, 0, 0], dtype=int), wp.array([0, 1, 2, 3, 0, 0, 0, 0], dtype=int)
wp.utils.radix_sort_pairs(keys, values, 4)
print(keys.numpy()[:4].tolist(), values.numpy()[:4].tolist())
# Their storage counts, whatever their shape.
keys, values = wp.array([[3, -1, 2, 3], [0, 0, 0, 0]], dtype=int), wp.array([[0, 1], [2, 3], [0, 0], [0, 0]], dtype=int)
wp.utils.radix_sort_pairs(keys, values, 4)
print(keys.numpy().tolist(), values.numpy().tolist())
keys, values = wp.array([[3, -1, 9, 2], [0, 0, 0, 0]], dtype=int), wp.array([[0, 1, 2, 3], [0, 0, 0, 0]], dtype=int)
wp.utils.segmented_sort_pairs(keys, values, 4, wp.array([0, 2, 4], dtype=int))
print(keys.numpy().tolist(), values.numpy().tolist())
sums = wp.zeros((2, 2), dtype=int)
wp.utils.array_scan(wp.array([[1, 2], [3, 4]], dtype=int), sums, inclusive=True)
print(sums.numpy().tolist())
out = wp.zeros(4, dtype=int)
wp.utils.array_scan(wp.array([1, 2, 3, 4], dtype=int), out, inclusive=False)
print(out.numpy().tolist(), wp.utils.array_sum(wp.array([1.0, 2.0], dtype=float)), wp.utils.array_inner(wp.array([1.0, 2.0], dtype=float), wp.array([3.0, 4.0], dtype=float)))
runs, lengths = wp.zeros(4, dtype=int), wp.zeros(4, dtype=int)
print(wp.utils.runlength_encode(wp.array([5, 5, 7, 7], dtype=int), runs, lengths), runs.numpy()[:2].tolist(), lengths.numpy()[:2].tolist())


@wp.struct
class Pair:
    a: float
    v: wp.vec2


@wp.kernel
def filled(pairs: wp.array[Pair], x: wp.array[float]):
    i = wp.tid()
    pairs[i].a = x[i]
    pairs[i].v = wp.vec2(x[i], 2.0)


@wp.kernel
def used(pairs: wp.array[Pair], y: wp.array[float]):
    i = wp.tid()
    y[i] = pairs[i].a * pairs[i].v[0]


x, y = wp.array([3.0, 4.0], dtype=float, requires_grad=True), wp.zeros(2, requires_grad=True)
pairs = wp.zeros(2, dtype=Pair, requires_grad=True)
wp.launch(filled, dim=2, inputs=[pairs, x])
print([(one.a, one.v) for one in pairs.list()])
tape = wp.Tape()
with tape:
    wp.launch(used, dim=2, inputs=[pairs, y])
tape.backward(grads={y: wp.ones_like(y)})
print(pairs.grad.numpy()["a"].tolist(), pairs.grad.numpy()["v"].tolist())


# ---- gradients ----
@wp.kernel
def scaled(x: wp.array[float], by: float, y: wp.array[float]):
    y[wp.tid()] = x[wp.tid()] * by


for retains in (False, True):
    a, b = wp.ones(2, requires_grad=True), wp.ones(2, requires_grad=True)
    y = wp.zeros(2, requires_grad=True, retain_grad=retains)
    with wp.Tape() as tape:
        wp.launch(scaled, dim=2, inputs=[a, 2.0, y])
        wp.launch(scaled, dim=2, inputs=[b, 3.0, y])
    tape.backward(grads={y: wp.ones_like(y)})
    print(a.grad.numpy().tolist(), b.grad.numpy().tolist(), y.grad.numpy().tolist())


@wp.struct
class Held:
    y: wp.array[float]


@wp.kernel
def in_place(y: wp.array[float]):
    y[wp.tid()] = y[wp.tid()] * 2.0


@wp.kernel
def held_in_place(held: Held):
    held.y[wp.tid()] = held.y[wp.tid()] * 2.0


@wp.kernel
def by_slice(x: wp.array[float], y: wp.array[float]):
    part = y[0:2]
    part[wp.tid()] = x[wp.tid()] * 2.0


for retains in (False, True):
    given = []
    for kernel in (in_place, held_in_place, by_slice):
        y = wp.ones(2, requires_grad=True, retain_grad=retains)
        x, held = wp.ones(2, requires_grad=True), Held()
        held.y = y
        with wp.Tape() as tape:
            for _ in range(2):
                wp.launch(kernel, dim=2, inputs=[y] if kernel is in_place else [held] if kernel is held_in_place else [x, y])
        tape.backward(grads={y: wp.ones_like(y)})
        given += [y.grad.numpy().tolist(), x.grad.numpy().tolist()]
    print(*given)


@wp.kernel
def tiled(x: wp.array[float], y: wp.array[float]):
    wp.tile_store(y, wp.tile_load(x, shape=2) * 2.0)


# ---- gradients that the caller gives stay, but what tiles are stored by ----
for kernel in (scaled, tiled):
    x, y = wp.ones(2, requires_grad=True), wp.ones(2, requires_grad=True)
    for given in (wp.ones(2), y.grad):
        given.fill_(1.0)
        x.grad.zero_()
        if kernel is scaled:
            wp.launch(scaled, dim=2, inputs=[x, 2.0], outputs=[y], adj_inputs=[x.grad, 0.0], adj_outputs=[given], adjoint=True)
        else:
            wp.launch_tiled(tiled, dim=1, inputs=[x], outputs=[y], adj_inputs=[x.grad], adj_outputs=[given], adjoint=True, block_dim=32)
        print(given.numpy().tolist(), x.grad.numpy().tolist())
given = wp.ones(2)
wp.launch(in_place, dim=2, inputs=[y], adj_inputs=[given], adjoint=True)
print(given.numpy().tolist())


@wp.kernel
def least(slot: wp.array[wp.float64], x: wp.array[wp.float64], out: wp.array[wp.float64]):
    i = wp.tid()
    out[i] = wp.atomic_min(slot, i, x[i]) * wp.float64(2.0)


slot, x = [wp.array(row, dtype=wp.float64, requires_grad=True) for row in ([nan, nan, 2.0, 5.0, 2.0], [nan, 2.0, nan, 2.0, 5.0])]
out = wp.zeros(5, dtype=wp.float64, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(least, dim=5, inputs=[slot, x, out])
tape.backward(grads={slot: wp.ones_like(slot), out: wp.ones_like(out)})
print(out.numpy().tolist(), x.grad.numpy().tolist())
a, y = wp.array([1.0, 2.0], dtype=float, requires_grad=True), wp.zeros(2, requires_grad=True)
with wp.Tape() as tape:
    y.assign(a)
tape.backward(grads={y: wp.array([5.0, 6.0], dtype=float)})
print(a.grad.numpy().tolist(), y.grad.numpy().tolist())
wp.config.verify_autograd_array_access = True
with contextlib.redirect_stderr(io.StringIO()) as told, wp.Tape() as tape:
    wp.launch(scaled, dim=2, inputs=[a, 2.0, y])
    print(a._is_read, y._is_read)
    wp.launch(scaled, dim=2, inputs=[b, 2.0, a])
print("has already been read" in told.getvalue())
tape.reset()
print(a._is_read)


@wp.kernel
def special(x: wp.array[float], y: wp.array[float], v: wp.array[wp.vec3], out: wp.array2d[float]):
    i = wp.tid()
    out[0, i] = wp.clamp(x[i], -1.0, y[i])
    out[1, i] = wp.copysign(x[i], y[i])
    out[2, i] = wp.mod(y[i], x[i])
    out[3, i] = wp.min(v[i]) + wp.max(v[i])


x, y = wp.array([nan, -0.0, 0.5], dtype=float, requires_grad=True), wp.array([1.0, 1.0, -1.25], dtype=float, requires_grad=True)
v = wp.array([[nan, 2.0, -1.0], [1.0, nan, 3.0], [1.0, 1.0, 2.0]], dtype=wp.vec3, requires_grad=True)
out = wp.zeros((4, 3), requires_grad=True)
tape = wp.Tape()
with tape:
    wp.launch(special, dim=3, inputs=[x, y, v, out])
for row in range(4):
    given = numpy.zeros((4, 3), numpy.float32)
    given[row] = 1.0
    tape.backward(grads={out: wp.array(given)})
    print([one.grad.numpy().tolist() for one in ((v,) if row == 3 else (x, y))])
    tape.zero()


@wp.kernel
def constants(out: wp.array[float]):
    out[0] = 2.0 / 0.0
    out[1] = -2.0 / 0.0
    out[2] = 0.0 / 0.0
    out[3] = 5.0 % 0.0


out = wp.zeros(4)
wp.launch(constants, dim=1, inputs=[out])
print(out.numpy().tolist())


@wp.kernel
def turned(m: wp.array[wp.mat33], q: wp.array[wp.quat]):
    q[wp.tid()] = wp.quat_from_matrix(m[wp.tid()])


m = wp.array(numpy.array([numpy.eye(3), numpy.diag([1.0, -1.0, -1.0]), numpy.diag([-1.0, -1.0, 1.0])], numpy.float32), dtype=wp.mat33,
             requires_grad=True)
q = wp.zeros(3, dtype=wp.quat, requires_grad=True)
tape = wp.Tape()
with tape:
    wp.launch(turned, dim=3, inputs=[m, q])
tape.backward(grads={q: wp.array([[1.0, 2.0, 3.0, 4.0]] * 3, dtype=wp.quat)})
print(q.numpy().tolist())
print(m.grad.numpy().tolist())


# ---- numbers that have no atomic sums, bits of bfloat16, more values than are printed at once ----
@wp.kernel
def summed(x: wp.array[wp.vec2b], y: wp.array[wp.vec2b]):
    x[wp.tid()] += y[wp.tid()]
    x[wp.tid()] -= wp.vec2b(wp.int8(1))
    if wp.tid() == 0:
        wp.printf("%d %d %d %d %d %d %d %d %d %d %d %d %d%% %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)


narrow = wp.array([[1, 2], [3, 4]], dtype=wp.vec2b)
wp.launch(summed, dim=2, inputs=[narrow, wp.array([[10, 20], [30, 40]], dtype=wp.vec2b)])
wp.synchronize()
print(narrow.numpy().tolist())


@wp.kernel
def widened(x: wp.array[wp.bfloat16], y: wp.array[float]):
    y[wp.tid()] = float(x[wp.tid()])


y = wp.zeros(3)
wp.launch(widened, dim=3, inputs=[wp.array(numpy.array([0x3F80, 0x4000, 0xC040], numpy.uint16), dtype=wp.bfloat16), y])
print(y.numpy().tolist())
print(wp.full(2, [1.5, 2.5]).numpy().tolist(), wp.zeros(0).ptr)


# ---- indices of tiles ----
@wp.kernel
def rows(x: wp.array2d[float], i: int, y: wp.array2d[float]):
    t = wp.tile_load(x, shape=(4, 8))
    wp.tile_store(y[0], t[i])
    wp.tile_store(y[1], t[-2])


x, y = wp.array(numpy.arange(32, dtype=numpy.float32).reshape(4, 8)), wp.zeros((2, 8))
for i in (-1, 2):
    wp.launch_tiled(rows, dim=[1], inputs=[x, i, y], block_dim=32)
    print(y.numpy()[:, 0].tolist())


def refused(index):
    @wp.kernel
    def wrong(x: wp.array2d[float]):
        t = wp.tile_load(x, shape=(4, 8))
        wp.tile_store(x[0], t[index])

    try:
        wp.launch_tiled(wrong, dim=[1], inputs=[x], block_dim=32)
    except RuntimeError as error:
        print(str(error).splitlines()[-1])


refused(1.5)
refused(4)

# ---- a function for each element ----
by = 3.0
a, b = wp.array([[1.0, 2.0, 3.0]], dtype=float, requires_grad=True), wp.array([[10.0], [20.0]], dtype=float)
print(wp.map(lambda x, y: x * by + y, a, b).numpy().tolist(), wp.map(wp.max, a, 2.0).numpy().tolist())
print((a + 2.0).numpy().tolist(), (1.0 / a).numpy().tolist(), (-a).numpy().tolist())


@wp.func
def both(x: float):
    return x + 1.0, wp.vec2(x, x)


first, second = wp.map(both, a)
print(first.numpy().tolist(), second.dtype.__name__, second.numpy().tolist())
with wp.Tape() as tape:
    c = a * a
tape.backward(grads={c: wp.ones_like(c)})
print(a.grad.numpy().tolist())
print(wp.mul(wp.int8(100), wp.int8(2)), wp.sin(wp.float64(1.0)), wp.add(2147483647, 1))
# Without a type an array has that of numpy's array of the same data; of numpy's own the rows are vectors, and blocks of rows matrices.
for data in ([1, 2], (1.5, 2), [True], [[1.0], [2.0]], [wp.vec2(1.0, 2.0)]):
    print(wp.array(data).dtype.__name__, wp.array(data).shape)
for shape in ((3,), (2, 3), (2, 3, 3), (1, 2, 3, 4)):
    made = wp.from_numpy(numpy.zeros(shape, numpy.float32))
    print(made.dtype.__name__, made.shape, wp.from_numpy(numpy.zeros(shape), dtype=float).shape)
for data in (["a"], [None]):
    try:
        wp.array(data)
    except RuntimeError as error:
        print(error)

# Fewer elements go to where an array begins, whatever its shape.
longer, table = wp.zeros(3, dtype=wp.vec2), wp.zeros((2, 2), dtype=float)
longer.assign(numpy.array([[1.0, 2.0], [3.0, 4.0]], numpy.float32))
wp.copy(table, wp.array([1.0, 2.0, 3.0], dtype=float))
print(longer.numpy().tolist(), table.numpy().tolist())

# The native side by Warp's names: functions of the language, and inner products of memory.
native, turned, length = wp._src.context.runtime.core, wp.transform.from_buffer(numpy.empty(7, numpy.float32)), ctypes.c_float()
native.wp_builtin_mul_transformf_transformf(wp.transform(1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0), wp.transform_identity(), ctypes.byref(turned))
native.wp_builtin_length_vec3f(wp.vec3(2.0, 3.0, 6.0), ctypes.byref(length))
print(list(turned), length.value, hasattr(native, "wp_builtin_nothing_vec3f"), hasattr(native, "wp_nothing"))
vectors, inner = wp.array(numpy.arange(12.0).reshape(4, 3), dtype=wp.vec3), wp.zeros(1, dtype=float)
getattr(native, f"wp_array_inner_float_{'device' if vectors.device.is_cuda else 'host'}")(vectors.ptr, vectors.ptr, inner.ptr, 4, 12, 12, 3)
print(inner.numpy().tolist())


# Functions have attributes that the program gives them.
@wp.func
def doubled(x: float):
    return 2.0 * x


@wp.func
def raised(x: float):
    return x + 0.5


doubled.otherwise, doubled.limit = raised, 3.0


def bounded(function):
    @wp.kernel
    def kernel(x: wp.array[float]):
        i = wp.tid()
        if x[i] > function.limit:
            x[i] = function.otherwise(x[i])
        else:
            x[i] = function(x[i])

    return kernel


x = wp.array([1.0, 5.0], dtype=float)
wp.launch(bounded(doubled), dim=2, inputs=[x])
print(x.numpy().tolist())
END
python3 -m tilec run host.py
