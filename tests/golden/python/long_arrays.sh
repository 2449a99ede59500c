# An array of more elements than a compile-time loop may have steps: its length is its own, and a loop over it is refused, not cut off.
cat >"$TMP/long.tile" <<'END'
from tile.host import float32, zeros

x = zeros((1048577,), float32)
y = zeros((1048576, 1), float32)


def items(array):
    for _ in array:
        return len([1 for _ in array])
END
$TILEC run --device emulator "$TMP/long.tile" 'print(len(x), len(y)); print(items(x[1:]))'
$TILEC run --device emulator "$TMP/long.tile" 'items(x)' 2>&1 | sed "s|$TMP/||"
