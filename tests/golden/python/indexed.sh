# Warp's indexed arrays in a Python program: made of arrays, taken by kernels, filled, sliced, moved with structs.
needs numpy
cd "$TMP"
cat >indexed.py <<'END'
import numpy
import warp as wp
from typing import Any


@wp.kernel
def doubled(a: Any):
    i, j = wp.tid()
    a[i, j] = a[i, j] * 2


@wp.struct
class Inner:
    values: wp.indexedarray[float]


@wp.struct
class Outer:
    inner: Inner


@wp.kernel
def held(h: Outer):
    i = wp.tid()
    wp.atomic_add(h.inner.values, i, 0.5)


rows = wp.array([2, 0], dtype=int)
data = wp.array(numpy.arange(12, dtype=numpy.int32).reshape(3, 4))
some = data[rows]
print(type(some).__name__, some.shape, some.size, some.dtype, some.numpy().tolist())
wp.launch(doubled, dim=some.shape, inputs=[some])
wp.launch(doubled, dim=(1, 2), inputs=[data])
print(data.numpy().tolist())
print(some[1].numpy().tolist(), some[:, rows].numpy().tolist())
some.fill_(7)
print(wp.clone(some).numpy().tolist(), data.numpy().tolist())
pairs = wp.zeros(4, dtype=wp.vec2)
wp.indexedarray(pairs, [rows]).fill_([1.0, 2.0])
print(pairs.numpy().tolist())
outer = Outer()
outer.inner.values = wp.indexedarray1d(wp.zeros(4, dtype=float), [rows])
wp.launch(held, dim=2, inputs=[outer.to(data.device)])
print(outer.inner.values.data.numpy().tolist())
END
python3 -m tilec run indexed.py
