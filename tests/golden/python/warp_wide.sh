# Launches of more threads than a number of 32 bits holds: the same kernels with extents of 64 bits, here of few threads; and which of the two a
# launch is of.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat >wide.py <<'END'
import numpy
import warp as wp
from tilec import session
from tilec.session import Text
from warp.launches import _Launcher


@wp.kernel
def marked(out: wp.array2d(dtype=int), plus: int):
    i, j = wp.tid()
    out[i, j] = 100 * i + j + plus


@wp.kernel
def counted(out: wp.array(dtype=int)):
    wp.atomic_add(out, 0, 1)


class Wide(_Launcher):
    def text(self, given, args, kwargs):
        parts = [part for value in args for part in (given.take(value), ", ")]
        return Text(session.module("warp.kernels"), ".call(", self.remote, ".for_many(), [", *parts, f"], {self.block_dim}, 0)")


def widely(kernel, dims, *values, block_dim=256):
    Wide(kernel, "launch", len(dims), len(values), 0, block_dim, False, True)(*dims, *values)


for shape, plus, block_dim in (((3, 70), 1000, 256), ((5, 300), 7, 100)):
    out = wp.zeros(shape, dtype=int)
    widely(marked, shape, out, plus, block_dim=block_dim)
    print((out.numpy() == numpy.arange(shape[0])[:, None] * 100 + numpy.arange(shape[1]) + plus).all())
count = wp.zeros(1, dtype=int)
widely(counted, [1000], count)
widely(counted, [10], count)
print(count.numpy())
print(session.evaluate(Text(counted.__tile_remote__(), ".for_many().wide")), session.evaluate(Text(counted.__tile_remote__(), ".wide")))
END
python3 -m tilec run wide.py
