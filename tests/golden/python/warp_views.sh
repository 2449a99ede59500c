# Arrays of Warp's on the host's side: strides that are asked for, views as other elements, rows and columns of matrices; and what is refused.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat > views.py <<'END'
import typing

import numpy as np
import warp as wp


def refused(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[-1]}")


# ---- strides ----
gaps = wp.zeros((3, 3), dtype=int, strides=(16, 12))
gaps.assign(np.arange(9).reshape(3, 3))
print(gaps.strides, gaps.capacity, gaps.numpy().tolist())
turned = wp.zeros((3, 2), dtype=wp.vec3, strides=(12, 36))
print(turned.capacity, turned.is_contiguous, wp.empty((0, 3), dtype=int, strides=(4, 16)).capacity)
refused(wp.empty, (0, 3), dtype=int, strides=(4,))
refused(wp.empty, (3, 3), dtype=int, strides=(16, -4))

# ---- arrays of vectors, matrices and structs that are not packed, in kernels ----
@wp.struct
class Held:
    at: wp.vec2
    number: int


@wp.kernel
def sum_up(a: wp.array[wp.vec3], b: wp.array2d[wp.mat22], held: wp.array[Held], c: wp.array[typing.Any], out: wp.array[float]):
    i = wp.tid()
    held[i].number = held[i].number * 10
    c[i] = c[i] + c[i]
    out[i] = wp.length_sq(a[i]) + wp.trace(b[i, 1]) + held[i].at[1]


for device in ("cuda:0", "cpu"):
    a = wp.array(np.arange(18.0).reshape(6, 3), dtype=wp.vec3, device=device, requires_grad=True)
    b = wp.array(np.arange(24.0).reshape(2, 3, 2, 2), dtype=wp.mat22, device=device, requires_grad=True)
    made = np.zeros(6, dtype=Held.numpy_dtype())
    made["at"], made["number"] = np.arange(12).reshape(6, 2), np.arange(6)
    held, c = wp.array(made, dtype=Held, device=device), wp.array(np.ones((6, 2)), dtype=wp.vec2, device=device)
    out = wp.zeros(6, dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(sum_up, dim=3, inputs=[a[::2], b.transpose(), held[1::2], c[::2]], outputs=[out[::2]], device=device)
    print(out.numpy().tolist(), held.numpy()["number"].tolist(), c.numpy().sum(1).tolist())
    tape.backward(grads={out: wp.ones(6, dtype=float, device=device)})
    print(a.grad.numpy().sum(1).tolist(), b.grad.numpy()[1].sum((1, 2)).tolist())



def twice(kind, count):
    @wp.kernel(module="unique")
    def kernel(a: wp.array(dtype=kind), o: wp.array(dtype=kind)):
        t = wp.tile_load(a, shape=4)
        wp.tile_store(o, t + t)
        wp.tile_atomic_add(o, t)

    whole, out = wp.array(np.arange(8.0 * count).reshape(8, count), dtype=kind), wp.zeros(8, dtype=kind)
    wp.launch_tiled(kernel, dim=1, inputs=[whole[::2], out[1::2]], block_dim=32)
    print(out.numpy().sum(1).tolist())


for kind, count in ((wp.vec2, 2), (wp.vec3, 3), (wp.vec4, 4), (wp.vec3d, 3)):
    twice(kind, count)

# ---- views and shapes ----
numbers = wp.array(np.arange(8), dtype=float, shape=(2, 4))
vectors = numbers.view(wp.vec4)
print(vectors.shape, vectors.strides, vectors.numpy().tolist())
print(vectors.view(float).shape, vectors.view(wp.mat22).numpy().tolist(), numbers.view(wp.uint32).numpy()[0].tolist())
print(wp.array([1.0, 2.0], dtype=float).view(wp.vec2).shape)
asked = wp.zeros((2, 4), dtype=float, requires_grad=True)
asked.view(wp.vec4).grad.fill_(wp.vec4(1.0, 2.0, 3.0, 4.0))
print(asked.grad.numpy().tolist())
refused(numbers.view, wp.uint16)
refused(vectors.view, wp.float64)
refused(numbers.view, wp.vec4d)
refused(numbers.view, wp.vec3)
refused(numbers.reshape, (3, 3))
print(wp.array(np.arange(3, dtype=np.float32), dtype=typing.Any).dtype.__name__)

# ---- where the memory is ----
pinned = wp.zeros(4, dtype=float, device="cpu", pinned=True)
print([one.pinned for one in (wp.zeros_like(pinned), wp.empty_like(pinned), wp.clone(pinned), wp.zeros_like(numbers))])
print(np.asarray(wp.zeros(2, dtype=float, device="cpu")).tolist())
refused(np.asarray, numbers)
print(hasattr(wp.indexedarray[float], "memory_kind"))

# ---- rows and columns ----
m = wp.types.matrix((2, 3), float)(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
print(list(m.get_col(1)), list(m.get_row(1)))
m.set_col(0, wp.vec2(7.0, 8.0))
m.set_col(2, 9.0)
m.set_row(1, 5.0)
print(m)
refused(m.get_col, 3)

# ---- what kernels are told ----
mat00 = wp.types.matrix((0, 0), float)


@wp.func(inline=False)
def twice(x: float) -> float:
    return 2.0 * x


@wp.kernel
def empty(out: wp.array[float]):
    m = wp.mat33(1.0)
    if m[123:] == mat00():
        out[0] = twice(m[1, 1])


out = wp.zeros(1, dtype=float)
wp.launch(empty, dim=1, inputs=[out])
print(out.numpy().tolist())
refused(lambda: wp.func(inline=1))


def wrong(function, *args):
    refused(wp.launch, wp.Kernel(function), dim=1, inputs=list(args))


def count():
    wp.mat22(1.0, 2.0, 3.0)


def shape():
    wp.mat33(wp.mat22(1.0, 2.0, 3.0, 4.0))


def no_shape():
    wp.types.matrix(1.0, 2.0, 3.0)


def no_length():
    wp.types.vector()


def mixed():
    wp.types.vector(1.0, 2)


def fill(x: wp.float32):
    wp.types.matrix(x, shape=(3, 2), dtype=wp.float16)


def each(x: wp.float64):
    wp.vec2(x, x)


def extent():
    wp.zeros(shape=(wp.tid(),), dtype=int)


def attribute():
    wp.vec3().w


for function in count, shape, no_shape, no_length, mixed, extent, attribute:
    wrong(function)
wrong(fill, 1.0)
wrong(each, wp.float64(1.0))
END
python3 -m tilec run views.py
