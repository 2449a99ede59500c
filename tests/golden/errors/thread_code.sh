# Faults of thread code that the emulator finds: a race through global memory, an index outside of an array.
cat >"$TMP/faults.tile" <<'END'
import tilus
from tile.threads import local, thread_index
from tilus import int32


class Race(tilus.Script):
    def __call__(self, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=int32, shape=[32])
        t = thread_index()
        a[t] = t
        a[t] = a[31 - t]


class SharedRace(tilus.Script):
    def __call__(self, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=int32, shape=[32])
        s = self.shared_tensor(dtype=int32, shape=[16])
        t = thread_index()
        s[t // 2] = t
        a[t] = s[t // 2]


class Apart(tilus.Script):
    def __call__(self, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=int32, shape=[32])
        s = self.shared_tensor(dtype=int32, shape=[32])
        t = thread_index()
        for i in range(t):
            s[t] = i
            a[t] = s[t // 2]


class Index(tilus.Script):
    def __call__(self, a_ptr: ~int32, n: int32 = 0):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=int32, shape=[32])
        s = self.shared_tensor(dtype=int32, shape=[31])
        mine = local(int32, [4, 2], init=0)
        t = thread_index()
        s[t + n] = t
        mine[t // 8, t % (n + 3)] = t
        a[t] = mine[t // 8, 0]


class Unwritten(tilus.Script):
    def __call__(self, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=int32, shape=[32])
        s = self.shared_tensor(dtype=int32, shape=[32])
        t = thread_index()
        if t > 5:
            s[t] = t
        a[t] = s[t]
END
cd "$TMP"
for kernel in Race SharedRace Apart Index Unwritten; do
    TILE_DEVICE=emulator TILE_EMULATOR=checked "$TILEC" run faults.tile "a = zeros((32,), int32); $kernel()(a)" 2>&1 | grep -v '^ *1 |\|^ *|\|\^'
done
