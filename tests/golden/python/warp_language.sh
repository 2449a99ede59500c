# What programs of Warp's use of the language beside arithmetic, by its own names: each as the tests of such programs have it.
needs numpy
cd "$TMP"
cat >language.py <<'END'
import enum

import numpy
import warp as wp


class Flags(enum.IntFlag):
    LEFT = 1
    RIGHT = 2


@wp.struct
class Nothing:
    pass


@wp.struct
class Held:
    nothing: Nothing
    values: wp.array[float]


vec1 = wp.types.vector(length=1, dtype=float)


@wp.func
def pair(i: int):
    return i, i + 1


@wp.kernel(name="renamed")
def first(flags: int, held: Held, maybe: wp.array[float], n: int, out: wp.array[float]):
    if flags & Flags.RIGHT:
        out[0] = held.values[0]
    if not maybe:
        out[1] = 1.0
    both = (3.0, 5.0)
    out[2] = both[n]
    total = float(0.0)
    for i in range(n, 4):
        total += float(i)
    out[3] = total
    a, b = pair(n)
    out[4] = float(7 % b)
    out[5] = vec1(2.5)[0]
    wp.print(out[0])


out = wp.zeros(8)
held = Held()
held.values = wp.array([4.0], dtype=float)
wp.launch(first, dim=1, inputs=[Flags.LEFT | Flags.RIGHT, held, None, 1, out])
wp.synchronize()
print(first.key, out.numpy().tolist())


@wp.kernel
def parts(m: wp.mat44, step: int, rows: wp.array[wp.vec4], small: wp.array[wp.mat22], some: wp.array[float], angle: wp.array[float]):
    rows[0] = m[1]
    small[0] = m[0:2, 1:3]
    m[2:4, 0:2] = small[0] * 2.0
    rows[1] = m[3]
    v = m[0]
    rows[2] = v[::-1]
    back = some[::step]
    back[0] = 9.0
    q = wp.quat_from_matrix(wp.mat44(0.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    axis, turned = wp.quat_to_axis_angle(q)
    angle[0] = turned
    other = wp.vec3()
    by = float(0.0)
    wp.quat_to_axis_angle(q, other, by)
    angle[1] = by
    angle[2] = other[2]


rows, small, some, angle = wp.zeros(3, dtype=wp.vec4), wp.zeros(1, dtype=wp.mat22), wp.zeros(6), wp.zeros(3)
wp.launch(parts, dim=1, inputs=[wp.mat44(*range(16)), 2, rows, small, some, angle])
print(rows.numpy().tolist(), small.numpy().tolist())
print(some.numpy().tolist(), numpy.round(angle.numpy(), 4).tolist())


@wp.kernel
def tiles(n: int, x: wp.array[float], y: wp.array[float]):
    if n > 0:
        t = wp.tile_load(x, shape=8)
    else:
        t = wp.tile_ones(shape=8, dtype=float)
    wp.tile_store(y, t)


x, y = wp.array(numpy.arange(8, dtype=numpy.float32)), wp.zeros(8)
for n in (0, 1):
    wp.launch_tiled(tiles, dim=[1], inputs=[n, x, y], block_dim=32)
    print(y.numpy().tolist())


# ---- what is refused ----
def refused(function):
    try:
        wp.launch_tiled(wp.Kernel(func=function), dim=[1], inputs=[], block_dim=32)
    except RuntimeError as error:
        print(str(error).splitlines()[-1])


def stack_of_none():
    wp.tile_stack(capacity=0, dtype=int)


def stack_of_others():
    wp.tile_stack_push(wp.tile_stack(capacity=4, dtype=int), 1.0, True)


def ones():
    wp.tile_ones(shape=4, dtype=Held)


def four():
    wp.tile_arange(5, 5, 1, 1)


def stands():
    wp.tile_arange(0, 5, 0)


def booleans():
    wp.tile_arange(5, dtype=wp.bool)


for function in (stack_of_none, stack_of_others, ones, four, stands, booleans):
    refused(function)
wp.set_module_options({"deterministic": wp.DeterministicMode.RUN_TO_RUN})
print(wp.get_module_options()["deterministic"].name)
END
python3 -m tilec run language.py
# the order of atomic operations, as a module's options ask for it
cat >ordered.py <<'END'
import warp as wp


@wp.kernel
def taken(slots: wp.array(dtype=int), out: wp.array(dtype=int)):
    out[wp.atomic_add(slots, 0, 1)] = wp.tid()


@wp.kernel(module="unique", module_options={"deterministic": wp.DeterministicMode.GPU_TO_GPU})
def always(slots: wp.array(dtype=int), out: wp.array(dtype=int)):
    out[wp.atomic_add(slots, -1, 1)] = wp.tid()


def launched(kernel):
    slots, out = wp.zeros(1, dtype=int), wp.zeros(300, dtype=int)
    wp.launch(kernel, dim=300, inputs=[slots, out])
    return out.list() == list(range(300))


print(wp.get_module_options()["deterministic"], launched(always))
wp.set_module_options({"deterministic": wp.DeterministicMode.RUN_TO_RUN})
print(wp.get_module_options()["deterministic"], launched(taken))
wp.set_module_options({"deterministic": wp.DeterministicMode.NOT_GUARANTEED})
launched(taken)
print(wp.get_module_options()["deterministic"], taken.asked[0], launched(always))
END
python3 -m tilec run ordered.py
