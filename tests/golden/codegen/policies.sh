# What the L2 cache is told of copies to shared memory: by TMA, by threads, in thread code of the dialects; and of those that
# say nothing of it, nothing.
cd $TMP
cat > policies.tile <<'T'
import tilelang
import tilelang.language as T
import tilus
from tile import copy, pipelined
from tilus import float16, float32


@tilelang.lazy_jit
def rows(A: T.Tensor[[T.dyn, 64], T.float16]):
    N, _ = A.shape
    B = T.empty((N, 64), T.float16)
    with T.Kernel(N, threads=64) as bx:
        a = T.alloc_shared((1, 64), T.float16)
        T.copy(A[bx, 0], a, eviction_policy="evict_last")
        T.copy(a, B[bx, 0])
    return B


class Product(tilus.Script):
    def __call__(self, a: ~float16, b: ~float16, c: ~float16):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        left = self.shared_tensor(dtype=float16, shape=[64, 64])
        right = self.shared_tensor(dtype=float16, shape=[64, 64])
        total = self.register_tensor(dtype=float32, shape=[64, 64], init=0)
        for at in pipelined(0, 1024, 64, stages=3):
            copy(self.global_view(a, dtype=float16, shape=[64, 1024]), left, [0, at])
            copy(self.global_view(b, dtype=float16, shape=[1024, 64]), right, [at, 0], evict="evict_first")
            total = self.dot(self.load_shared(left), self.load_shared(right), total)
        self.store_global(self.global_view(c, dtype=float16, shape=[64, 64]), self.cast(total, dtype=float16), offsets=[0, 0])


product = Product()
rows.compile(T.Tensor((4, 64), T.float16))
product.compile()
T
$TILEC policies.tile --arch=sm_90a --save-temps --ptxas=none -o policies.o
for f in policies.*.ptx; do
    echo "== $f"
    grep -oE 'createpolicy.*|cp\.async[a-z:._0-9A-Z]*.*policy;|cp\.async\.(cg|ca)[^[]*|cp\.async\.bulk[^[]*' "$f" | sed -E 's/%[a-z]+[0-9]+/%/g' | uniq -c
done
sed 's/evict="evict_first"/evict="never"/' policies.tile >wrong.tile
$TILEC wrong.tile --arch=sm_90a -o wrong.o
