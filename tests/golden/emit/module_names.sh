# Every way in which a module binds a name to a kernel exports it.
cat >"$TMP/names.tile" <<'TILE'
import tilus
from tilus import float32


class K(tilus.Script):
    def __init__(self, value=1.0):
        super().__init__()
        self.value: float = value

    def __call__(self, p: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(p, dtype=float32, shape=[32])
        self.store_global(g, self.register_tensor(dtype=float32, shape=[32], init=self.value), offsets=[0])


class Keyed(K):
    def __call__(self, n: int, p: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(p, dtype=float32, shape=[n])
        self.store_global(g, self.register_tensor(dtype=float32, shape=[32], init=self.value), offsets=[0])


one, two = K(), K(2.0)
(three, [four, five]) = K(3.0), (K(4.0), Keyed(5.0))
five.compile(n=32)
six = seven = K(6.0)
eight: K = K(8.0)
nine, (ten, *rest) = 9, (10, 11)
first, second = Keyed().compile(n=64), Keyed(2.0).compile(n=64)
TILE
"$TILEC" "$TMP/names.tile" --arch=sm_90a --ptxas=none --emit=header -o - | grep tile_stream
