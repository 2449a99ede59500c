# Devices of Warp in Python: kernels for the CPU, memory, DLPack, Jacobians, graphs in files; rows and bits that threads meet at.
needs numpy
export TILE_DEVICE=emulator
cat > "$TMP/program.py" <<'P'
import warp as wp
import io

import numpy as np
from warp.autograd import gradcheck, jacobian


@wp.struct
class Pair:
    v: wp.vec2
    n: int


def of_two(second):
    if second:

        @wp.struct
        class Kind:
            v: float

    else:

        @wp.struct
        class Kind:
            v: wp.vec2

    return Kind


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def meet(rows: wp.array(dtype=wp.vec2), m: wp.array(dtype=wp.mat22), bits: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    m[0][1] += rows[i]
    bits[0] |= wp.uint32(1) << wp.uint32(i % 32)


@wp.kernel
def inverted(m: wp.array(dtype=wp.mat44), y: wp.array(dtype=wp.mat44), z: wp.array(dtype=wp.mat44)):
    i = wp.tid()
    y[i] = m[i] * wp.inverse(m[i])
    z[i] = wp.inverse_approx(m[i])


# a kernel for the CPU beside one for the other device
for device in ("cuda:0", "cpu"):
    x = wp.array([1.0, 2.0, 3.0], dtype=float, device=device, requires_grad=True)
    y = wp.zeros_like(x)
    wp.launch(square, dim=3, inputs=[x], outputs=[y], device=device)
    print(device, x.device, y.numpy())
    print(jacobian(square, dim=3, inputs=[x], outputs=[y])[0, 0].numpy().tolist())
print(gradcheck(square, dim=3, inputs=[x], outputs=[y], show_summary=False))


# of vectors: a row for each number of the output, a vector for each of the input
@wp.kernel
def crossed(v: wp.array(dtype=wp.vec3), o: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    o[i] = wp.vec2(v[i][0] * v[i][1], 3.0 * v[i][2])


v, o = wp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=wp.vec3, requires_grad=True), wp.zeros(2, dtype=wp.vec2, requires_grad=True)
of_vectors = jacobian(crossed, dim=2, inputs=[v], outputs=[o])[0, 0]
print(of_vectors.dtype.__name__, of_vectors.shape, of_vectors.numpy()[0].tolist(), gradcheck(crossed, 2, [v], [o], show_summary=False))

# threads that meet at a row of a matrix, and at bits
m, bits = wp.zeros(1, dtype=wp.mat22), wp.zeros(1, dtype=wp.uint32)
wp.launch(meet, dim=256, inputs=[wp.ones(256, dtype=wp.vec2), m, bits])
print(m.numpy().tolist(), bits.numpy())

values = np.random.default_rng(42).random((64, 4, 4)).astype(np.float32)
y, z = wp.zeros(64, dtype=wp.mat44), wp.zeros(64, dtype=wp.mat44)
wp.launch(inverted, dim=64, inputs=[wp.array(values, dtype=wp.mat44), y, z])
print(abs(y.numpy() - np.eye(4)).max() < 1e-4, np.allclose(z.numpy(), np.linalg.inv(values.astype(float)), rtol=1e-2, atol=1e-2))

# memory
with wp.ScopedMemoryTracker("scope", print=False) as tracker:
    kept = wp.zeros(100, dtype=float)
    print(wp.MemoryKind(kept.memory_kind).name)
with wp.ScopedMemoryTracker("native", print=False) as tracker:
    points = wp.zeros(3, dtype=wp.vec3)
    mesh, grid = wp.Mesh(points, wp.array([0, 1, 2], dtype=int)), wp.HashGrid(4, 4, 4)
    told = io.StringIO()
    tracker.report(told)
    print(sorted([word for word in told.getvalue().split() if word.startswith("(native")]))
shared = np.zeros(4, np.float32)
seen = wp.array(shared, device="cpu", copy=False)
seen.fill_(2.0)
print(shared, wp.empty(2, dtype=float, device="cpu", pinned=True).memory_kind.name)

# other libraries' memory, by DLPack
taken = wp.from_dlpack(wp.to_dlpack(seen))
print(taken.ptr == seen.ptr, taken.dtype is wp.float32, np.from_dlpack(seen))

# classes of one name, and a struct's value that is known when a kernel is compiled
def check(second):
    kind = of_two(second)

    @wp.kernel
    def told(s: kind, y: wp.array(dtype=float)):
        if wp.static(second):
            y[0] = s.v
        else:
            y[0] = wp.length(s.v)

    given, y = kind(), wp.zeros(1, dtype=float)
    given.v = 3.0 if second else wp.vec2(3.0, 4.0)
    wp.launch(told, dim=1, inputs=[given, y])
    print(y.numpy())


check(False)
check(True)


def check_known(known):
    @wp.kernel
    def known_value(y: wp.array(dtype=int)):
        y[0] = wp.static(known).n

    y = wp.zeros(1, dtype=int)
    wp.launch(known_value, dim=1, inputs=[y])
    print(y.numpy())


check_known(Pair(v=wp.vec2(1.0, 2.0), n=5))

# copies take the gradient along, and say what is wrong
a, b = wp.array([1.0, 2.0], dtype=float, requires_grad=True), wp.zeros(2, dtype=float, requires_grad=True)
a.grad.fill_(7.0)
wp.copy(b, a)
print(b.numpy(), b.grad.numpy())
for wrong in ({"count": 5}, {"src_offset": -1}):
    try:
        wp.copy(b, a, **wrong)
    except RuntimeError as error:
        print(error)
try:
    wp.mul(wp.int8(3), 4)
except RuntimeError as error:
    print(error)

# graphs in files
x, y = wp.array([1.0, 2.0, 3.0], dtype=float), wp.zeros(3, dtype=float)
with wp.ScopedCapture(apic=True) as capture:
    wp.launch(square, dim=3, inputs=[x], outputs=[y])
import os

path = os.path.join(os.environ["TMP"], "graph")
wp.capture_save(capture.graph, path, inputs={"x": x}, outputs={"y": y})
loaded, result = wp.capture_load(path), wp.zeros(3, dtype=float)
loaded.set_param("x", wp.array([2.0, 3.0, 4.0], dtype=float))
wp.capture_launch(loaded)
loaded.get_param("y", result)
print(result.numpy(), y.numpy())
P
export TMP TILE_CACHE="$TMP/cache"
cd "$TMP" && python3 -m tilec run program.py

# Arrays of a GPU are copied by numpy(), those of the host are seen in place.
python3 -m tilec run "$TILE_ROOT/tests/golden/run/warp_devices.py"
