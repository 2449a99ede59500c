# Fourier transforms of more numbers than a tile may have, by type and by kind of length: on tiles and in the library's kernels.
cat >"$TMP/kernels.tile" <<'END'
import warp as wp
from tile.fourier_kernels import Transform
from tile.host import zeros


def launch(n, kind, dtype):
    @wp.kernel
    def kernel(x: wp.array2d(dtype=kind)):
        t = wp.tile_load(x, shape=(1, n))
        wp.tile_fft(t)
        wp.tile_store(x, t)
    wp.launch_tiled(kernel, dim=1, inputs=[zeros((1, n, 2), dtype)], block_dim=32)
END
for beyond in 16500,wp.vec2f,wp.float32 4099,wp.vec2f,wp.float32 8232,wp.vec2d,wp.float64 2053,wp.vec2d,wp.float64 16500,wp.vec2h,wp.float16; do
    "$TILEC" run "$TMP/kernels.tile" "launch(${beyond//,/, })" 2>&1 | sed "s|$TMP/||"
done
"$TILEC" run "$TMP/kernels.tile" "Transform(4099)(1, zeros((1, 4099, 2), wp.float32), zeros((1, 4099, 2), wp.float32))" 2>&1
