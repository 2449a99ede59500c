# A loop of products gets as many stages as there is room for beside the tiles that live while it runs, or none; tiles that are
# used before it alone, or behind it alone, take none of it.
cd $TMP; cat > room.tile <<'END'
import tilus
from tilus import float16, float32

class Product(tilus.Script):
    def __init__(self, rows: int, lives: str):
        super().__init__()
        self.rows = rows
        self.lives = lives

    def __call__(self, a: ~float16, b: ~float16, c: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        left = self.global_view(a, dtype=float16, shape=[128, 1024])
        right = self.global_view(b, dtype=float16, shape=[1024, 64])
        out = self.global_view(c, dtype=float32, shape=[self.rows, 128])
        held = self.shared_tensor(dtype=float32, shape=[self.rows, 128])
        if self.lives != "after":
            self.store_shared(held, self.load_global(out, offsets=[0, 0], shape=[self.rows, 128]))
            self.sync()
        if self.lives == "before":
            self.store_global(out, self.load_shared(held) + 1.0, offsets=[0, 0])
            self.sync()
        sums = self.register_tensor(dtype=float32, shape=[128, 64], init=0.0)
        for k in range(0, 1024, 64):
            x = self.load_global(left, offsets=[0, k], shape=[128, 64])
            y = self.load_global(right, offsets=[k, 0], shape=[64, 64])
            self.dot(x, y, sums, out=sums)
        self.store_global(out, sums, offsets=[0, 0])
        if self.lives == "after":
            self.store_shared(held, self.load_global(out, offsets=[0, 0], shape=[self.rows, 128]))
            self.sync()
        if self.lives != "before":
            self.store_global(out, self.load_shared(held), offsets=[0, 0])
END
for lives in across before after; do
  for rows in 64 200 256; do
    $TILEC room.tile --export "k = Product($rows, '$lives')" --arch=sm_80 --ptxas=none --emit=manifest -o - | tr ',' '\n' |
      sed -n "s/.*\"shared_bytes\": /$lives, $rows rows: /p" | head -1
  done
done
