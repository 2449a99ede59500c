# -Rperf says of each of the author's syncs whether it was needed, and for what, and which barriers are there without his asking.
cd $TMP
cat >k.py <<'EOF'
import tilus
import tilelang.language as T
from tilus import float32, int32


class Transpose(tilus.Script):
    def __call__(self, n: int32, p: ~float32, q: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        a = self.global_view(p, dtype=float32, shape=[n, 128])
        b = self.global_view(q, dtype=float32, shape=[n, 128])
        s = self.shared_tensor(dtype=float32, shape=[128, 128])
        self.sync()  # nothing was done yet
        for i in range(n):
            self.store_shared(s, self.load_global(a, offsets=[i * 128, 0], shape=[128, 128]))
            self.sync()  # what is stored is loaded
            t = self.transpose(self.load_shared(s))
            self.store_global(b, t, offsets=[i * 128, 0])
            self.sync()  # the next iteration stores again
        self.sync()  # nothing follows


transpose = Transpose()


@T.prim_func
def turn(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32"), n: T.int32):
    with T.Kernel(1, threads=128) as bx:
        tx = T.get_thread_binding()
        S = T.alloc_shared((128,), "float32")
        S[tx] = A[tx]
        T.sync_threads()  # others read
        B[tx] = S[127 - tx]
        S[tx] = B[tx]  # a barrier is added
        B[tx] = S[127 - tx]  # and here
        if n > 2:
            T.sync_threads()  # what B[tx] reads is its own
            B[tx] = S[127 - tx] + 1.0
EOF
"$TILEC" k.py -Rperf --arch=sm_90a --ptxas=none -o k.o 2>&1 | sed -n 's/^k.py:\([0-9]*\):[0-9]*: remark: \(.*\(sync\|barrier\).*\) \[R0502\]$/\1: \2/p'
