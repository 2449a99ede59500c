# What a program needs in order to fail as it does, and no more; the text stays where it is, and a command that does not hold of it is refused.
cat > "$TMP/program.tile" <<'P'
import warp as wp
from tile.host import arange, zeros


@wp.func
def helper(x: int, y: int):
    if x > 3:
        return y
    return x


@wp.kernel
def kernel(a: wp.array(dtype=int), b: wp.array(dtype=int), n: int):
    i = wp.tid()
    total = int(0)
    for k in range(n):
        if a[i] > 1:
            total += helper(i, k) // (n - n)
        else:
            total -= 5
    b[i] = total


a = arange(64, wp.int32)
b = zeros((64,), wp.int32)
wp.launch(kernel, dim=64, inputs=[a, b, 3])
print(b.sum())
P
cp "$TMP/program.tile" "$TMP/as_it_was.tile"
"$TILEC" reduce --test 'grep -q "n - n"' "$TMP/program.tile"
echo "--- what the compiler says of it"
cat > "$TMP/wrong.tile" <<'P'
import tilus
from tilus import int32


class Wrong(tilus.Script):
    def __call__(self, n: int32):
        self.attrs.blocks = [1, 2, n]
        self.attrs.warps = 4
        x = self.register_tensor(dtype=int32, shape=[16, 8], init=3)
        y = self.register_tensor(dtype=int32, shape=[100], init=0)
        if n > 3:
            z = x + y
        else:
            z = x


wrong = Wrong().compile()
P
"$TILEC" reduce --test "'$TILEC' check "'$1 2>&1 | grep -q E0404' "$TMP/wrong.tile" -o "$TMP/out.tile" && cat "$TMP/out.tile"
"$TILEC" reduce --test false "$TMP/program.tile" 2>&1 | sed "s#$TMP#TMP#"
"$TILEC" reduce "$TMP/program.tile" 2>&1 | sed "s#$TMP#TMP#"
cmp "$TMP/program.tile" "$TMP/as_it_was.tile"
"$TILEC" reduce --test true "$TMP/program.tile" -o "$TMP/nothing.tile" && cat "$TMP/nothing.tile"
