# What kernels of the Warp dialect print.
cat >"$TMP/kernels.tile" <<'END'
import warp as wp


@wp.kernel
def tell(a: wp.array(dtype=float)):
    i, lane = wp.tid()
    t = wp.tile_load(a, shape=4)
    print(t)
    if lane == 3:
        print("lane", lane, 2.5, a[1])
        print(wp.vec3(1.0, 2.0, 3.0))
        wp.printf("%d of %d\n", lane, wp.block_dim())
END
cd "$TMP" && TILE_DEVICE=emulator "$TILEC" run kernels.tile "a = arange(4, float32); wp.launch_tiled(tell, dim=1, inputs=[a], block_dim=32)"
