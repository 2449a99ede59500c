# What is assumed of the arguments is checked at the call, wherever it stands in the kernel, and holds no further than it says.
cat >"$TMP/kernels.tile" <<'EOF'
import tilelang
import tilelang.language as T
import tilus
from tilus import float32, int32


@tilelang.jit
def in_launch(A: T.Tensor[[T.dyn["n"]], T.float32], times: T.int32):
    n = A.shape[0]
    with T.Kernel(1, threads=32) as b:
        T.assume(n % 4 == 0 and b < n)
        T.assume(n // 2 + 3 < 100)
        if times > 5:
            T.assume(n % 64 == 0)
        for i in T.Parallel(4):
            A[i] = n % 64


class Method(tilus.Script):
    def __call__(self, n: int32, a: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        self.assume(n % 4 == 0)
        v = self.global_view(a, dtype=float32, shape=[n])
        self.store_global(v, self.register_tensor(dtype=float32, shape=[32], init=7.0), offsets=[0])


method = Method()
EOF
for call in 'in_launch(a, 0)' 'in_launch(a, 6)' 'method(n, a)'; do
    for n in 4 6 192 200; do
        echo "$call, n = $n"
        "$TILEC" run "$TMP/kernels.tile" "n = $n; a = zeros((n,), float32); $call; print(a[0])" 2>&1 | sed -n "s,$TMP/,,; s,^<statements>[^ ]* ,,; 1p"
    done
done
