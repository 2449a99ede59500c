# warp.utils on arrays of a GPU, where there is torch: by torch, as by numpy; parts of tensors as tensors.
needs torch
export TILE_DEVICE=emulator
cd $TMP
cat >utils.py <<'END_PY'
import numpy as np
import torch
import warp as wp

rng = np.random.default_rng(1)
store = wp.array.store


def refuse(self, values):
    raise AssertionError("the host has written to an array")


def both(function, *arrays):
    """The results on the GPU, which the host writes nothing to, are those on the host."""
    there, here = [[wp.array(one, dtype=kind, device=device) for one, kind in arrays] for device in ("cuda:0", "cpu")]
    wp.array.store = refuse
    try:
        found = function(*there)
    finally:
        wp.array.store = store
    expected = function(*here)
    assert found is expected is None or np.array_equal(found, expected), (found, expected)
    for a, b in zip(there, here):
        assert np.array_equal(a.numpy(), b.numpy(), equal_nan=True), (a.numpy(), b.numpy())


count, sorts = 50, wp.utils.radix_sort_pairs
for kind, number in ((wp.int32, np.int32), (wp.uint32, np.uint32), (wp.int64, np.int64), (wp.uint64, np.uint64), (wp.float32, np.float32), (wp.float64, np.float64)):
    bits = 8 * np.dtype(number).itemsize
    keys = rng.integers(0, 2**bits - 1, 2 * count, dtype=f"u{bits // 8}").view(number) if kind not in (wp.float32, wp.float64) else rng.normal(size=2 * count).astype(number)
    keys[3:9] = keys[4]
    keys[10], keys[11] = 0, number(-0.0) if kind in (wp.float32, wp.float64) else 0
    values = np.arange(2 * count)
    both(lambda k, v: sorts(k, v, count), (keys, kind), (values, wp.int32))
    both(lambda k, v: sorts(k, v, count - 7), (keys, kind), (values, wp.float64))
    for begin, end in ((0, 5), (3, bits - 1), (4, bits), (bits - 1, bits), (7, 7)):
        both(lambda k, v: sorts(k, v, count, begin, end), (keys, kind), (values, wp.int32))
print("pairs sorted")

keys = rng.integers(0, 9, 2 * count)
for starts, ends in (([0, 10, 10, 31, 50], None), ([5, 20, 21, 44], [9, 20, 40, 49]), ([0], [50]), ([3, 40], None)):
    for kind in (wp.int32, wp.float32):
        given = [(keys - 4, kind), (np.arange(2 * count), wp.int32), (starts, wp.int32)] + ([] if ends is None else [(ends, wp.int32)])
        both(lambda k, v, *at: wp.utils.segmented_sort_pairs(k, v, count, *at), *given)
print("segments sorted")

for kind in (wp.int32, wp.int64, wp.float32, wp.float64):
    for inclusive in (True, False):
        both(lambda a, b: wp.utils.array_scan(a, b, inclusive), (np.arange(20) % 7, kind), (np.zeros(20), kind))
runs = np.repeat(rng.integers(0, 3, 20), rng.integers(1, 4, 20))
both(lambda *a: wp.utils.runlength_encode(*a), (runs, wp.int32), (np.full(len(runs), -5), wp.int32), (np.full(len(runs), -6), wp.int32))
both(lambda v, r, n, c: (wp.utils.runlength_encode(v, r, n, c, 9), None)[1], (runs, wp.int32), (np.full(9, -5), wp.int32), (np.full(9, -6), wp.int32), (np.zeros(1), wp.int32))
print("sums and runs")

grid = np.arange(24.0).reshape(4, 6)
for kind, shape in ((wp.float32, (4, 6)), (wp.vec3d, (4, 2, 3))):
    whole = grid.reshape(shape)
    both(lambda a: wp.utils.array_sum(a), (whole, kind))
    both(lambda a: wp.utils.array_inner(a, a), (whole, kind))
    both(lambda a: wp.utils.array_sum(a, axis=1).numpy(), (whole, kind))
    both(lambda a: wp.utils.array_sum(a, value_count=2, axis=0).numpy(), (whole, kind))
both(lambda a, b: wp.utils.array_cast(a, b), (grid * 1.7 - 20, wp.float64), (np.zeros((4, 6)), wp.int32))
both(lambda a, b: wp.utils.array_cast(a, b, count=5), (np.arange(6), wp.int64), (np.ones(9), wp.float16))
print("totals and casts")

t = torch.arange(10, dtype=torch.float32)
a = wp.from_torch(t)
part = wp.to_torch(a[2:8:2])
part += 100
print(t.tolist(), wp.to_torch(a) is t, wp.to_torch(a.reshape((2, 5))).shape, wp.to_torch(a.view(wp.int32)).dtype)
END_PY
python3 -m tilec run utils.py
