# Stages of the author's, one of whose operands is used transposed: that an iteration copies to another stage than the one that
# it reads is known of it, too, so that there is one barrier; two where it copies to the stage that it has read.
cat > $TMP/a.tile <<'T'
import tilus
from tilus import float16, float32, int32


class Product(tilus.Script):
    def __init__(self, first: int):
        super().__init__()
        self.first = first

    def __call__(self, k: int, x: ~float16, w: ~float16, y: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        gx = self.global_view(x, dtype=float16, shape=[64, k])
        gw = self.global_view(w, dtype=float16, shape=[128, k])
        sx = self.shared_tensor(dtype=float16, shape=[3, 64, 32])
        sw = self.shared_tensor(dtype=float16, shape=[3, 128, 32])
        acc = self.register_tensor(dtype=float32, shape=[64, 128], init=0.0)
        for s in range(2):
            self.copy_async(gx, sx[s], offsets=[0, s * 32])
            self.copy_async(gw, sw[s], offsets=[0, s * 32])
            self.copy_async_commit_group()
        self.copy_async_wait_group(1)
        self.sync()
        now: int32 = 0
        later: int32 = self.first
        for i in range(0, k, 32):
            self.dot(self.load_shared(sx[now]), self.load_shared(sw[now]).transpose(), acc, out=acc)
            if i + 64 < k:
                self.copy_async(gx, sx[later], offsets=[0, i + 64])
                self.copy_async(gw, sw[later], offsets=[0, i + 64])
            self.copy_async_commit_group()
            now = (now + 1) % 3
            later = (later + 1) % 3
            self.copy_async_wait_group(1)
            self.sync()
        self.store_global(self.global_view(y, dtype=float32, shape=[64, 128]), acc, offsets=[0, 0])
T
for later in 2 0; do
    for arch in sm_80 sm_90a; do
        echo "$arch, stage $later first: $($TILEC $TMP/a.tile --arch=$arch --ptxas=none --export "p = Product($later).compile(k=4096)" --print-after=sync --emit=ptx -o $TMP/a.ptx 2>&1 |
            awk '/^kernel/ { aligned = /_aligned/ } aligned && / = for .*%acc/ { loop = 1 } loop && $1 == "barrier" { n++ } loop && $1 == "yield" && /,/ { print n; exit }') barriers an iteration"
    done
done
