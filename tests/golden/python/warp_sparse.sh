# What warp.sparse has its runtime for: topologies of triplets, of transposed and of compressed matrices, counted rows and pruned zeros
# included; arrays that are None, indexed ones among them; memory that a saved graph sees twice.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat >sparse.py <<'END'
import ctypes

import numpy
import warp as wp
import warp._src.context as context

core = context.runtime.core


def ints(values):
    return wp.array(numpy.array(values, numpy.int32), dtype=int)


def place(array):
    return None if array is None else ctypes.cast(array.ptr, ctypes.POINTER(ctypes.c_int32))


def fill(nrow, ncol, rows, columns, values=None, mask=0, count=None, masked=False, offsets=None, row_counts=None, own=None):
    ends, order = ints([-1] * rows.size), ints([-1] * rows.size)
    offsets = wp.zeros(nrow + 1, dtype=int) if offsets is None else offsets
    own = ints([-1] * rows.size) if own is None else own
    core.wp_bsr_matrix_from_triplets_device(1, 4, nrow, ncol, rows.size, place(count), place(rows), place(columns), place(values), mask, masked,
                                            place(ends), place(order), place(offsets), place(row_counts), place(own))
    return [one.numpy().tolist() for one in (offsets, own, ends, order)]


rows, columns = ints([2, 0, 2, 9, 0, 2]), ints([1, 3, 0, 0, 3, 1])
values = wp.array([1.0, -0.0, 2.0, 3.0, 4.0, 5.0], dtype=float)
print(fill(3, 4, rows, columns))
print(fill(3, 4, rows, columns, values, 0x7FFFFFFF))
print(fill(3, 4, rows, columns, count=ints([3])))
print(fill(3, 4, rows, columns, masked=True, offsets=ints([0, 2, 2, 4]), row_counts=ints([1, 0, 1]), own=ints([3, 7, 0, 7])))


def turn(nrow, ncol, offsets, row_counts, columns, room, counts, status):
    other_columns, places = ints([-7] * 8), ints([-7] * 8)
    core.wp_bsr_transpose_device(nrow, ncol, columns.size, place(offsets), place(row_counts), place(columns), place(room), place(counts),
                                 place(other_columns), place(places), place(status))
    return [None if one is None else one.numpy().tolist() for one in (room, counts, other_columns, places, status)]


print(turn(3, 4, ints([0, 1, 1, 3]), None, ints([3, 0, 3]), wp.zeros(5, dtype=int), None, None))
print(turn(3, 4, ints([0, 2, 2, 4]), ints([1, 0, 2]), ints([3, 9, 0, 3]), ints([0, 1, 2, 3, 6]), wp.zeros(4, dtype=int), ints([0])))
print(turn(3, 4, ints([0, 1, 1, 3]), None, ints([3, 0, 3]), ints([0, 2, 3, 3, 4]), wp.zeros(4, dtype=int), ints([0])))



def compress(nrow, ncol, offsets, row_counts, columns, values=None, mask=0, compact=True, with_values=False):
    core.wp_bsr_compress_inplace_device(nrow, ncol, 1, 4, 0, columns.size, mask != 0, mask, compact, place(offsets), place(row_counts), place(columns),
                                        place(values), with_values)
    return [None if one is None else one.numpy().tolist() for one in (offsets, row_counts, columns, values)]


# rows [3 1 3 7], [9 0] and [2 0 2]: two blocks are outside, one is zero
def rows_of():
    return ints([3, 1, 3, 7, 9, 0, 2, 0, 2]), wp.array([1.0, 2.0, 4.0, 0.0, 5.0, 6.0, 0.0, 8.0, 9.0], dtype=float)


for given in ({}, {"mask": 0x7FFFFFFF}, {"mask": 0x7FFFFFFF, "with_values": True}, {"compact": False, "with_values": True}):
    columns, values = rows_of()
    counts = None if given.get("compact", True) else ints([3, 1, 3])
    print(compress(3, 4, ints([0, 4, 6, 9]), counts, columns, values if len(given) else None, **given))

# those of the CPU are of no graph of a GPU's
on_cpu = [wp.array(values, dtype=int, device="cpu") for values in ([0, 1, 1, 3], [3, 0, 3], [0] * 5, [-7] * 3, [-7] * 3)]
offsets, columns, room, other_columns, places = map(place, on_cpu)
with wp.ScopedCapture():
    core.wp_bsr_transpose_host(3, 4, 3, offsets, None, columns, room, None, other_columns, places, None)
print([one.numpy().tolist() for one in on_cpu[2:]])


@wp.func
def end_of(offsets: wp.array(dtype=int), row: int) -> int:
    return offsets[row + 1]


@wp.func
def end_of(offsets: wp.array(dtype=int), row: int, counts: wp.array(dtype=int)) -> int:
    if counts:
        return offsets[row] + counts[row]
    return end_of(offsets, row)


@wp.kernel
def ends(offsets: wp.array(dtype=int), counts: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = end_of(offsets, i, counts)


out = wp.zeros(2, dtype=int)
for counts in (None, ints([1, 2])):
    wp.launch(ends, dim=2, inputs=[ints([0, 3, 6]), counts], outputs=[out])
    print(out.numpy())


@wp.kernel
def chosen(x: wp.indexedarray(dtype=float), out: wp.array(dtype=int)):
    i = wp.tid()
    if x:
        out[i] = int(x[i])
    else:
        out[i] = -1


for x in (None, wp.indexedarray(wp.array([1.0, 2.0, 3.0], dtype=float), [ints([2, 0])])):
    wp.launch(chosen, dim=2, inputs=[x], outputs=[out])
    print(out.numpy())

# numbers as matrices of one number, and the other way
single = wp.array([1.0, 2.0], dtype=float).view(wp.types.matrix((1, 1), float))
print(single.shape, single.numpy().tolist(), single.view(float).shape)

# a graph whose arrays see the same memory
@wp.kernel
def shift(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] + 1.0


base, out = wp.array([1.0, 2.0, 3.0, 4.0], dtype=float), wp.zeros(3, dtype=float)
tail = wp.array(ptr=base.ptr + 4, shape=3, dtype=float)
with wp.ScopedCapture(apic=True) as capture:
    wp.launch(shift, dim=4, inputs=[base, base])
    wp.launch(shift, dim=3, inputs=[tail, out])
wp.capture_save(capture.graph, "alias", inputs={"base": base}, outputs={"out": out})
loaded = wp.capture_load("alias")
loaded.set_param("base", wp.array([10.0, 20.0, 30.0, 40.0], dtype=float))
wp.capture_launch(loaded)
loaded.get_param("out", out)
print(out.numpy(), base.numpy())


# structs of classes that functions make, whose annotations are texts
def made(dtype):
    class Pair:
        __annotations__ = {"first": "dtype", "rest": "wp.array(dtype=dtype)"}

    Pair.dtype = dtype
    return wp._src.codegen.Struct(key="Pair", cls=Pair)


pair = made(wp.vec2)()
print(pair.first, pair.rest)


# what a kernel writes after it has read it
@wp.func
def put(x: wp.array(dtype=float), i: int):
    x[i] = 2.0


@wp.kernel
def overwritten(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] += x[i]
    put(x, i)


x, y = wp.ones(2, dtype=float, requires_grad=True), wp.ones(2, dtype=float, requires_grad=True)
wp.config.verify_autograd_array_access = True
with wp.Tape():
    wp.launch(overwritten, dim=2, inputs=[x, y])
print([(one.label, one.is_read, one.is_write) for one in overwritten.adj.args], x._is_read, y._is_read)
END
python3 -m tilec run sparse.py
