# A number beside a tile of a Script is of the tile's type, or an error; one below 0 is the same bits without a sign.
cat >"$TMP/numbers.tile" <<'EOF'
import tilus
from tilus import int8, int32, int64, uint8, uint32


class Beside(tilus.Script):
    def __init__(self, dtype, operation):
        super().__init__()
        self.dtype = dtype
        self.operation = operation

    def __call__(self, o_ptr: ~int64):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        t = self.register_tensor(dtype=self.dtype, shape=[8], init=5)
        o = self.global_view(o_ptr, dtype=int64, shape=[8])
        self.store_global(o, self.cast(self.operation(t), int64), offsets=[0])
EOF
cd "$TMP"
for line in "int8, lambda t: t + 127" "int8, lambda t: t + 300" "int8, lambda t: t & 255" "uint8, lambda t: t & 255" "uint8, lambda t: t * -1" "uint8, lambda t: -200 + t" \
  "int32, lambda t: t + 5000000000" "uint32, lambda t: t ^ -1" "uint32, lambda t: t >> 4294967296" "int32, lambda t: 2147483648 - t"; do
  echo "== $line"
  TILE_DEVICE=emulator "$TILEC" run numbers.tile "from tile.host import zeros; o = zeros((8,), int64); Beside($line)(o); print(o[7])" 2>&1 | head -1
done
