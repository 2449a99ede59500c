# Tilus's scripts that programs make anew for each launch: equal arguments give one object, which is compiled once.
needs numpy
export TILE_DEVICE=emulator
cat >"$TMP/again.py" <<'P'
import numpy
import tilus
from tilec import session
from tilus import float32, int32


class Scale(tilus.Script):
    def __init__(self, by, shape=(128,)):
        super().__init__()
        self.by = by
        self.shape = list(shape)

    def __call__(self, n: int32, x: ~float32):
        self.attrs.blocks = tilus.cdiv(n, self.shape[0])
        self.attrs.warps = 2
        g = self.global_view(x, dtype=float32, shape=[n])
        at = self.blockIdx.x * self.shape[0]
        self.store_global(g, self.load_global(g, offsets=[at], shape=self.shape) * self.by, offsets=[at])


@tilus.autotune("step", [128, 256])
class Negate(tilus.Script):
    def __init__(self, step):
        super().__init__()
        self.step = step

    def __call__(self, n: int32, x: ~float32):
        self.attrs.blocks = tilus.cdiv(n, self.step)
        self.attrs.warps = 2
        g = self.global_view(x, dtype=float32, shape=[n])
        at = self.blockIdx.x * self.step
        self.store_global(g, -self.load_global(g, offsets=[at], shape=[self.step]), offsets=[at])


def numbers():
    return numpy.ones(256, numpy.float32)


x = numbers()
for made in (lambda: Scale(2.0), lambda: Scale(by=3.0, shape=[64]), lambda: Negate()):
    made()(256, x)
    calls = session.the.calls
    for _ in range(4):
        made()(256, x)
    print(made() is made(), session.the.calls == calls, x[0])
print(Scale(2) is Scale(2.0), Scale(1) is Scale(True), Scale(2.0, (128,)) is Scale(2.0), Scale(2.0, [32]) is Scale(2.0, [32]))
own = numpy.float32(0.5)
print(Scale(numbers()) is Scale(numbers()), Scale(own) is Scale(own), Negate(128) is Negate())
P
cd "$TMP" && python3 -m tilec run again.py
