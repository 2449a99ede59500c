# Deterministic kernels of Warp's: gradients that are added up from the first thread on, and what is refused of a text, of arrays that share memory,
# and of a way back.
needs numpy
cd "$TMP"
cat >determinism.py <<'END'
import numpy
import warp as wp

wp.set_module_options({"deterministic": wp.DeterministicMode.RUN_TO_RUN})


def told(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except wp.WarpDeterminismError as error:
        print(str(error).splitlines()[0][:150])


@wp.struct
class Holder:
    values: wp.array[wp.vec3]
    other: int


@wp.kernel
def gathered(values: wp.array[float], more: wp.array[float], indices: wp.array[int], out: wp.array[float]):
    i = wp.tid()
    out[i] = values[indices[i]] + more[indices[i]]


@wp.func
def first_of(holder: Holder, i: int) -> float:
    values = holder.values
    return values[i].x


@wp.func_grad(first_of)
def adj_first_of(holder: Holder, i: int, adj_ret: float):
    values = holder.values
    wp.adjoint[values][i].x += adj_ret


@wp.kernel
def held(holder: Holder, indices: wp.array[int], out: wp.array[float]):
    i = wp.tid()
    out[i] = first_of(holder, indices[i])


def in_order(numbers, places, count):
    sums = numpy.zeros(count, numpy.float32)
    for number, place in zip(numbers, places):
        sums[place] += number
    return sums


# ---- the order of a gradient's sums ----
n = 400
numbers = numpy.random.default_rng(1).random(n, dtype=numpy.float32)
places = numpy.random.default_rng(2).integers(0, 5, n, dtype=numpy.int32)
values, out, indices = wp.zeros(5, dtype=float, requires_grad=True), wp.zeros(n, dtype=float, requires_grad=True), wp.array(places)
with wp.Tape() as tape:
    wp.launch(gathered, dim=n, inputs=[values, values, indices, out])
tape.backward(grads={out: wp.array(numbers)})
print((values.grad.numpy() == 2 * in_order(numbers, places, 5)).all())
holder = Holder()
holder.values = wp.zeros(5, dtype=wp.vec3, requires_grad=True)
out.zero_()
with wp.Tape() as tape:
    wp.launch(held, dim=n, inputs=[holder, indices, out])
tape.backward(grads={out: wp.array(numbers)})
print((holder.values.grad.numpy()[:, 0] == in_order(numbers, places, 5)).all(), holder.values.grad.numpy()[:, 1:].any())


# ---- texts ----
@wp.func
def claim(flags: wp.array[int], i: int):
    return wp.atomic_cas(flags, i, 0, 1)


@wp.kernel
def of_both(out: wp.array[float]):
    wp.atomic_add(out, 0, 1.0)
    wp.atomic_max(out, 0, 1.0)


@wp.kernel
def read_too(out: wp.array2d[float], seen: wp.array[float]):
    out[0, 0] += 1.0
    row = out[1]
    seen[0] = row[0]


@wp.kernel
def lowered(counter: wp.array[int], out: wp.array[int]):
    out[wp.atomic_sub(counter, 0, 1)] = 1


@wp.kernel
def of_floats(counter: wp.array[float], out: wp.array[int]):
    if wp.atomic_add(counter, 0, 1.0) == 0.0:
        out[0] = 1


@wp.kernel
def claimed(flags: wp.array[int], counter: wp.array[int], out: wp.array[int]):
    mine = claim(flags, wp.tid())
    out[wp.atomic_add(counter, 0, 1)] = mine


@wp.kernel
def used_twice(counter: wp.array[int], out: wp.array[int]):
    counter[0] += 1
    out[wp.atomic_add(counter, 0, 1)] = 1


@wp.kernel
def of_part(values: wp.array[wp.vec3]):
    values[0].x += 1.0


@wp.kernel
def compacted(data: wp.array[float], flags: wp.array[int], counter: wp.array[int], out: wp.array[float]):
    i = wp.tid()
    wp.atomic_xor(flags, 0, 1)
    if data[i] > 0.5:
        out[wp.atomic_add(counter, 0, 1)] = data[i]


f, i, rows = wp.zeros(8, dtype=float), wp.zeros(8, dtype=int), wp.zeros((2, 2), dtype=float)
told(wp.launch, of_both, dim=1, inputs=[f])
told(wp.launch, read_too, dim=1, inputs=[rows, f])
told(wp.launch, lowered, dim=1, inputs=[i, i])
told(wp.launch, of_floats, dim=1, inputs=[f, i])
told(wp.launch, claimed, dim=1, inputs=[i, wp.zeros(1, dtype=int), wp.zeros(1, dtype=int)])
told(wp.launch, used_twice, dim=1, inputs=[i, wp.zeros(1, dtype=int)])
told(wp.launch, of_part, dim=1, inputs=[wp.zeros(1, dtype=wp.vec3)])
try:
    wp.load_module(device="cpu")
except wp.WarpDeterminismError:
    print("no module of these")


# ---- memory that is shared ----
@wp.kernel
def two_sums(a: wp.array[float], b: wp.array[float]):
    wp.atomic_add(a, 0, 1.0)
    wp.atomic_add(b, 0, 2.0)


@wp.kernel
def sum_of(x: wp.array[float], out: wp.array[float]):
    wp.atomic_add(out, 0, x[wp.tid()])


wp.launch(two_sums, dim=1, inputs=[f[0::2], f[1::2]])
print(f.numpy()[:3].tolist())
told(wp.launch, two_sums, dim=1, inputs=[f, f[1:]])
told(wp.launch, sum_of, dim=2, inputs=[f, f])
told(wp.launch, sum_of, dim=2, inputs=[wp.indexedarray(f, wp.array([1], dtype=int)), f])
told(wp.launch, sum_of, dim=2, inputs=[wp.zeros(2, dtype=float), wp.array(ptr=f.ptr + 28, shape=(8,), strides=(-4,), dtype=float)])
data, counter, out = wp.array([0.2, 0.7, 0.9], dtype=float), wp.zeros(1, dtype=int), wp.zeros(3, dtype=float, requires_grad=True)
wp.launch(compacted, dim=3, inputs=[data, i, counter, out])
print(out.numpy().round(1).tolist(), compacted.adj.det_meta.counter_targets, compacted.adj.det_meta.scatter_targets)
told(wp.launch, compacted, dim=3, inputs=[data, counter, counter, out])
told(wp.launch, sum_of, dim=(65536, 65537), inputs=[f, out])
told(wp.launch, compacted, dim=(65536, 65536), inputs=[data, i, counter, out])


# ---- ways back ----
@wp.kernel
def overwritten(x: wp.array[float], source: wp.array[float], out: wp.array[float]):
    t = wp.tid()
    x[t] = source[t]
    out[t] = x[0]


x, source = wp.zeros(3, dtype=float, requires_grad=True), wp.ones(3, dtype=float, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(compacted, dim=3, inputs=[data, i, counter, wp.zeros(6, dtype=float)])
told(tape.backward)
with wp.Tape() as tape:
    wp.launch(overwritten, dim=3, inputs=[x, source, out])
told(tape.backward, grads={out: wp.ones(3, dtype=float)})
END
python3 -m tilec run determinism.py
