# Addresses in the place of pointers of Tilus's scripts, as tensor.data_ptr() gives them, beside arrays.
needs numpy
export TILE_DEVICE=emulator
cat >"$TMP/addresses.py" <<'P'
import numpy
import tilus
from tilus import float16, float32, int32, void_p
from tilus.utils import cdiv


class Scale(tilus.Script):
    def __call__(self, n: int32, x: ~float16, y: void_p, s: float32):
        self.attrs.blocks = cdiv(n, 128)
        self.attrs.warps = 2
        given = self.global_view(x, dtype=float16, shape=[n])
        scaled = self.global_view(y, dtype=float16, shape=[n])
        at = self.blockIdx.x * 128
        self.store_global(scaled, (self.load_global(given, offsets=[at], shape=[128]).to(float32) * s).to(float16), offsets=[at])


scale = Scale()
for n in (100, 256):
    for again in range(3):
        x = (numpy.arange(n) + again).astype(numpy.float16)
        y = numpy.zeros(n, numpy.float16)
        scale(n, x.ctypes.data, y.ctypes.data, 2.0)
        print(bool((y == x * 2).all()), end=" ")
        scale(n, x, y.ctypes.data, s=0.5)
        print(bool((y == x / 2).all()), end=" ")
        scale(n, x=x.ctypes.data, y=y.view(numpy.uint8), s=4.0)
        print(bool((y == x * 4).all()))


class Shown(tilus.Script):
    def __call__(self, x: ~float16, y: void_p):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        self.printf("%p %s %p\n", x + 4, "and", y)


x = numpy.zeros(8, numpy.float16)
Shown()(x, x.ctypes.data + 2)
print(f"0x{x.ctypes.data + 8:x} and 0x{x.ctypes.data + 2:x}", flush=True)
P
cd "$TMP" && python3 -m tilec run addresses.py >shown && head -6 shown && tail -2 shown | uniq | wc -l
