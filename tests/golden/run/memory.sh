# A run whose statements never end takes so much memory and no more; the line is told. What it has taken is not counted against a kernel that it
# compiles then.
cd $TMP
printf 'items = [1]\nwhile True:\n    items.extend(items)\n' > grows.tile
printf 'items = [1]\nwhile True:\n    items = items + items\n' > longer.tile
for f in grows longer; do
    ( ulimit -v 12000000; $TILEC run --device=emulator $f.tile; echo "status $?" )
done
cat > later.tile <<'END'
import tilus
from tile.host import zeros

class Seven(tilus.Script):
    def __call__(self, x: ~tilus.float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        self.store_global(self.global_view(x, dtype=tilus.float32, shape=[1]), self.register_tensor(dtype=tilus.float32, shape=[1], init=7.0), offsets=[0])

items = [1]
while len(items) < 1 << 24:
    items = items + items
kept = [items + [i] for i in range(5)]
x = zeros((1,), tilus.float32)
Seven()(x)
print(len(kept), x[0])
END
( ulimit -v 12000000; $TILEC run --device=emulator later.tile; echo "status $?" )
