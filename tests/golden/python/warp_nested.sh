# Arrays of structs whose fields are arrays: what the host sees of them, what kernels read and write, which fields are None, and the
# layout of structs in structs, as C pads them; their gradients.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat >nested.py <<'END'
import numpy
import warp as wp


@wp.struct
class Inner:
    d: wp.float64
    h: wp.float16


@wp.struct
class Outer:
    n: int
    inner: Inner
    h: wp.float16
    a: wp.array[float]
    v: wp.array2d[wp.vec3]
    p: wp.array[Inner]
    none: wp.array[float]


def made(n):
    s, p = Outer(), Inner()
    p.d, p.h = 2.0 * n, 0.25
    s.n, s.h = n, 0.5
    s.a = wp.array([float(n + i) for i in range(2 * n)], dtype=float)[::2]
    s.v = wp.array(numpy.arange(12).reshape(2, 2, 3) + n, dtype=wp.vec3).transpose()
    s.p = wp.array([Inner(), p], dtype=Inner)
    return s


@wp.func
def sum_of(s: Outer, a: wp.array[float]):
    t = float(0.0)
    for j in range(s.a.shape[0]):
        t += a[j]
    return t


@wp.kernel
def read(s: wp.array[Outer], out: wp.array2d[float]):
    i = wp.tid()
    one = s[i]
    out[i, 0] = sum_of(one, one.a)
    out[i, 1] = one.v[1, 0][2] + float(one.h)
    out[i, 2] = float(one.p[1].d) + float(one.p[1].h)
    if one.a and not one.none:
        out[i, 3] = 1.0
    if one.none:
        out[i, 3] = 2.0
    s[i].a[0] = 100.0
    s[i].v[0, 0][1] = 7.0
    s[i].n = 3


@wp.kernel
def written(s: wp.array[Outer], other: wp.array[float]):
    one = s[0]
    one.n = 4
    one.a = other
    s[1] = one
    s[2] = Outer()
    one = s[0]
    one.n = 8
    s[0] = one


@wp.kernel
def scaled(s: wp.array[Outer], y: wp.array[float]):
    i = wp.tid()
    y[i] = s[i].a[0] * 2.0


@wp.kernel
def asked(s: wp.array[Outer], y: wp.array[float]):
    if s[0].v:
        y[0] = 1.0
    if not s[0].v:
        y[0] = 2.0


parts = [made(n) for n in (1, 2, 5)]
parts[0].a = wp.array([1.0], dtype=float, requires_grad=True)
a, out = wp.array(parts, dtype=Outer), wp.zeros((3, 4), dtype=float)
print(Outer.numpy_dtype()["itemsize"], Outer.numpy_dtype()["offsets"], numpy.dtype(Outer.numpy_dtype()).itemsize)
print(a.numpy()["v"]["shape"].tolist(), a.numpy()["v"]["strides"][0].tolist(), a.numpy()["a"]["ndim"].tolist())
wp.launch(read, dim=3, inputs=[a, out])
print(out.numpy().tolist())
print(parts[1].a.numpy(), parts[1].v.numpy()[0, 0], [one.n for one in a.list()], a.list()[2].a.numpy(), a.list()[0].none)
print(a.cptr()[1].n, a.cptr()[1].h == numpy.float16(0.5).view(numpy.uint16), list(a.cptr()[1].a.shape))
other = wp.array([8.0, 9.0], dtype=float)
wp.launch(written, dim=1, inputs=[a, other])
print([(one.n, one.a and one.a.numpy().tolist(), one.v and one.v.shape) for one in a.list()])
print(a.list()[0].a.grad.numpy(), a.list()[1].a.grad)
full = wp.full((2, 2), parts[2], dtype=Outer)
print([one.a.numpy().tolist() for one in full.list()])
full.zero_()
print([one.a for one in full.list()])
y = wp.zeros(3, requires_grad=True)
for kernel in (scaled, asked):
    try:
        tape = wp.Tape()
        with tape:
            wp.launch(kernel, dim=1, inputs=[a], outputs=[y])
        tape.backward(grads={y: wp.ones(3, dtype=float)})
    except Exception as error:
        print(str(error).replace("Error while compiling ", "").split("/")[-1])
for given in (a, wp.zeros(1, dtype=Outer)):
    y.zero_()
    wp.launch(asked, dim=1, inputs=[given], outputs=[y])
    print(y.numpy())


@wp.struct
class Indexed:
    n: int
    a: wp.indexedarray[float]


@wp.struct
class Around:
    n: int
    inner: Indexed
    b: wp.indexedarray2d[float]


@wp.kernel
def through(s: wp.array[Around], out: wp.array2d[float]):
    i, j = wp.tid()
    out[i, j] = s[i].inner.a[j] + float(s[i].inner.a.shape[0]) + 100.0 * s[i].b[1, j % 2]
    s[i].inner.a[j] = -s[i].inner.a[j]
    if j == 0:
        s[i].inner.n = s[i].n + s[i].inner.n


plain, square = wp.array(numpy.arange(8, dtype=numpy.float32)), wp.array(numpy.arange(9, dtype=numpy.float32).reshape(3, 3))
indices = [wp.array(one, dtype=int) for one in ([1, 3, 5], [7, 6, 2, 0])]
made = [Around(n=k, inner=Indexed(n=5, a=wp.indexedarray(plain, [one])), b=wp.indexedarray2d(square, [None, wp.array([2, k], dtype=int)]))
        for k, one in enumerate(indices)]
made[1].b = wp.indexedarray2d(square, [wp.array([0, 2], dtype=int), None])
s, out = wp.array(made, dtype=Around), wp.zeros((2, 3), dtype=float)
wp.launch(through, dim=(2, 3), inputs=[s, out])
print(out.numpy().tolist(), plain.numpy().tolist())
print([(one.inner.n, one.inner.a.shape, one.b.numpy().tolist()) for one in s.list()], wp.zeros(1, dtype=Indexed).list()[0].a)


# gradients of what elements have, and none where an array has none
@wp.struct
class Held:
    x: wp.array[float]
    v: wp.array[wp.vec3]
    sums: wp.array[float]


@wp.kernel
def forces(held: wp.array[Held], which: wp.array[int], y: wp.array[float]):
    i = wp.tid()
    one = held[which[i]]
    e = one.x[i] * one.x[i] + wp.dot(one.v[i], one.v[i])
    y[i] = e
    wp.atomic_add(one.sums, 0, e * one.x[i])


def hold(grad):
    one = Held()
    one.x = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=grad)
    one.v = wp.array([[1.0, 0.0, 2.0]] * 3, dtype=wp.vec3, requires_grad=grad)
    one.sums = wp.zeros(1, dtype=float, requires_grad=grad)
    return one


first, second = hold(True), hold(False)
held, y = wp.array([first, second], dtype=Held), wp.zeros(3, dtype=float, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(forces, dim=3, inputs=[held, wp.array([0, 1, 0], dtype=int)], outputs=[y])
y.grad.fill_(1.0)
first.sums.grad.fill_(2.0)
tape.backward()
print(y.numpy().tolist(), first.sums.numpy().tolist(), first.x.grad.numpy().tolist(), first.v.grad.numpy().tolist())


@wp.kernel
def overwritten(held: wp.array[Held]):
    i = wp.tid()
    one = held[0]
    one.sums[i] = one.x[i] * one.x[i]
    one.x[i] = one.sums[i]


with wp.Tape() as tape:
    wp.launch(overwritten, dim=1, inputs=[held])
try:
    tape.backward()
except RuntimeError as error:
    print(str(error).splitlines()[-1])
END
python3 -m tilec run nested.py
