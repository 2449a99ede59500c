# A program without its first, its second barrier, and as it is.
cat >"$TMP/turn.tile" <<'END'
import tilus
from tilus import int32


class Turn(tilus.Script):
    def __call__(self, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 2
        a = self.global_view(a_ptr, dtype=int32, shape=[64])
        s = self.shared_tensor(dtype=int32, shape=[64])
        self.store_shared(s, self.load_global(a, offsets=[0], shape=[64]))
        self.sync()
        x = self.load_shared(s)
        self.free_shared(s)
        self.store_global(a, x + self.sum(x, dim=0), offsets=[0])


turn = Turn()
END
for n in 1 2 3; do
    echo "without $n"
    "$TILEC" run --leave-out=$n "$TMP/turn.tile" 'a = arange(64, int32); turn(a); print(a)' 2>&1 | sed "s|$TMP/||g" | grep -E "remark|fault|race|^\[|^array" | head -4
done
