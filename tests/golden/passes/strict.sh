# In a strict run a register that nobody wrote has a flag beside it, which is looked at where it is read; in others nothing is added.
cat > $TMP/strict.tile <<'T'
import tilus
from tilus import float32, int32


class Maybe(tilus.Script):
    def __call__(self, n: int32, target: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        x = self.register_tensor(dtype=float32, shape=[32])
        if n > 1:
            x = self.register_tensor(dtype=float32, shape=[32], init=1.0)
        self.store_global(self.global_view(target, dtype=float32, shape=[32]), x, offsets=[0])
T
for strict in '' --strict; do
    echo "checks${strict:+ with $strict}: $($TILEC run $strict --device emulator --print-after=strict $TMP/strict.tile 'x = zeros(32, float32); Maybe()(2, x)' 2>&1 | grep -cE '^ *check ')"
done
