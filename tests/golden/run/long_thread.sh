# A thread's program of ten thousand branches: the emulator's code is made in time that grows with its length, not
# with the square (LLVM's own coroutines took 30 s for this one, and minutes for one of three times the length).
cat >"$TMP/long.tile" <<'TILE'
import tilus
from tilus import float32, int32
from tile.host import arange, zeros

class Ragged(tilus.Script):
    def __call__(self, n: int32, at: int32, a_ptr: ~float32, b_ptr: ~float32):
        self.attrs.blocks = [1]
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n, n])
        b = self.global_view(b_ptr, dtype=float32, shape=[n, n])
        x = self.load_global(a, offsets=[at, -1], shape=[64, 64])
        for i in list(range(1, 24)):
            x = x + self.transpose(self.load_global(a, offsets=[at - i, i], shape=[64, 64]))
        self.store_global(b, x, offsets=[0, at])

ragged = Ragged()
TILE
ulimit -t 20
"$TILEC" run --no-cache --arch=emulator:sm_90a "$TMP/long.tile" \
    'a = arange(10000, float32); b = zeros((100, 100), float32); ragged(100, 1, a, b); a = a.reshape(100, 100);
for y, x in [[0, 1], [5, 9], [63, 64], [40, 2]]:
    r = y; c = x - 1; wanted = a[r + 1, c - 1] if c else 0.0
    for i in range(1, 24):
        wanted += a[c + 1 - i, r + i] if 0 <= c + 1 - i < 100 and r + i < 100 else 0.0
    print(b[y, x] == wanted)'
