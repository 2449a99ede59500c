# Numbers that are written down have to fit the type that they are converted to; in a Warp kernel they wrap, as C's.
cat >"$TMP/numbers.tile" <<'END'
import tilelang.language as T
import warp as wp
from tile.host import zeros


@wp.kernel
def wraps(out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = int(wp.int8(300)) + int(wp.uint8(-1))


assert T.int8(-128) == -128 and T.uint32(4294967295) == 4294967295
out = zeros((4,), wp.int32)
wp.launch(wraps, dim=4, inputs=[out], block_dim=32)
assert out[3] == 44 + 255
END
cd "$TMP"
run() { TILE_DEVICE=emulator "$TILEC" run numbers.tile "import tilelang.language as T; $1"; }
run 'print("fine")'
run 'T.int8(300)'
run 'T.uint8(-1)'
run 'T.int16(32768)'
"$TILEC" run numbers.tile && echo wraps
cat >lazy.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def constants(A: T.Tensor((32,), T.int8)):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(32):
            A[i] = T.int8(300)


constants.compile()
END
"$TILEC" check lazy.tile
