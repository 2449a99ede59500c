# Barriers of thread code: where threads part there is none; each thread's own elements need none; what happens once is ordered.
cat >"$TMP/kernels.tile" <<'END'
import tilus
from tile.threads import local, thread_index
from tilus import float32, int32


class Block(tilus.Script):
    def view(self, pointer):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        return self.global_view(pointer, dtype=int32, shape=[128])


class Own(Block):
    def __call__(self, a_ptr: ~int32):
        a = self.view(a_ptr)
        s = self.shared_tensor(dtype=int32, shape=[129])
        t = thread_index()
        s[t] = a[t]
        for i in range(10):
            s[t] = s[t] * 3
        s[t + 1] = s[t + 1] + 1
        a[t] = s[t + 1]


class Branch(Block):
    def __call__(self, a_ptr: ~int32):
        a = self.view(a_ptr)
        s = self.shared_tensor(dtype=int32, shape=[128])
        t = thread_index()
        s[t] = a[t]
        if t % 2 == 0:
            while s[127 - t] > 0:
                a[t] = s[127 - t]


class Rounds(Block):
    def __call__(self, n: int32, a_ptr: ~int32):
        a = self.view(a_ptr)
        s = self.shared_tensor(dtype=int32, shape=[128])
        t = thread_index()
        s[t] = a[t]
        for i in range(n):
            if t < 64:
                s[t] += s[t + 64]


class Once(Block):
    def __call__(self, a_ptr: ~int32):
        a = self.view(a_ptr)
        a[0] = a[0] + 1
        a[1] = a[0]
        a[2] = 5
        a[3] = 6


class Array(Block):
    def __call__(self, a_ptr: ~int32):
        a = self.view(a_ptr)
        mine = local(int32, 4)
        t = thread_index()
        for i in range(4, unroll="all"):
            mine[i] = a[t * 4 + i]
        total = mine[0] + mine[1] + mine[2] + mine[3]
        a[t] = total
END
cd "$TMP"
for kernel in Own Branch Rounds Once Array; do
    "$TILEC" --arch=sm_90a --emit=ptx kernels.tile --export "k = $kernel()" >k.ptx || exit
    echo "$kernel: $(grep -c 'bar\.sync' k.ptx) barriers, $(grep -c '[ls][dt]\.local' k.ptx) accesses of local memory, $(grep -c 'st\.global' k.ptx) global stores"
done
