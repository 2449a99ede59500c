# A program without one of its ops, with fewer than are asked for, without each in its turn; and where nothing can be left out.
cat >"$TMP/turn.tile" <<'END'
import tilus
from tilus import int32


class Turn(tilus.Script):
    def __call__(self, a_ptr: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 2
        a = self.global_view(a_ptr, dtype=int32, shape=[1024])
        s = self.shared_tensor(dtype=int32, shape=[1024])
        self.store_shared(s, self.load_global(a, offsets=[0], shape=[1024]))
        self.sync()
        x = self.load_shared(s)
        self.free_shared(s)
        self.store_global(a, x + self.sum(x, dim=0), offsets=[0])


turn = Turn()
END
for n in "--leave-out=1" "--leave-out=3" "--leave-out=7" "--leave-each-out=all"; do
    echo "$n"
    TILE_DEVICE=emulator "$TILEC" run $n "$TMP/turn.tile" 'a = arange(1024, int32); turn(a); print(a)' 2>&1 | sed "s|$TMP/||g" | grep -E "remark|error|race|^\[|^array" | sed -E 's/\([0-9a-f]{8} [0-9]+\)/(CODE)/' | head -6
done
echo "no emulator"
TILE_DEVICE=cuda "$TILEC" run --leave-each-out=waits "$TMP/turn.tile" 'a = arange(64, int32)' 2>&1 | grep -c "error"
echo "the variant for aligned arguments, and the general one"
for n in "" --general; do
    TILE_DEVICE=emulator "$TILEC" run --leave-each-out=waits $n $TILE_ROOT/tests/exec/copy_async.tile "$(grep -v '^#' $TILE_ROOT/tests/exec/copy_async.accept | head -n 1)" 2>&1 | sed -nE 's/.*, a ([a-z_]*).*, of (Copy[_a-z]*)__run0([_a-z]*)_emulated[^:]*: (.*) \[R.*/\2\3: \1: \4/p'
done
