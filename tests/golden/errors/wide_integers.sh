# Integers that need 64 bits without a sign, and more.
cat >"$TMP/wide.tile" <<'EOF'
import warp as wp

OFFSET = 14695981039346656037


@wp.kernel
def fnv(x: wp.array(dtype=wp.uint8), o: wp.array(dtype=wp.uint64)):
    h = wp.uint64(OFFSET)
    for i in range(x.shape[0]):
        h = (h ^ wp.uint64(x[i])) * wp.uint64(1099511628211)
    o[0] = h
EOF
cd "$TMP"
TILE_DEVICE=emulator "$TILEC" run wide.tile 'from tile.host import arange, zeros; o = zeros((1,), wp.uint64); wp.launch(fnv, dim=1, inputs=[arange(3, wp.uint8) + 97, o]); print(o)'
TILE_DEVICE=emulator "$TILEC" run wide.tile 'OFFSET = 146959810393466560371'
