# A product by multiply-add that is a straight line of many has all its reads early, if ptxas likes; where registers spill for that it is a loop
# along k. The gradient of this one has two, beside the sums of all blocks and what is loaded ahead.
needs ptxas
cat >"$TMP/layer.py" <<'EOF'
import warp as wp


@wp.kernel
def layer(x: wp.array2d(dtype=float), w: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i = wp.tid()
    z = wp.tile_matmul(wp.tile_load(w, shape=(32, 32)), wp.tile_load(x, shape=(32, 32), offset=(0, i * 32)))
    wp.tile_store(y, z, offset=(0, i * 32))
EOF
"$TILEC" "$TMP/layer.py" --arch=sm_90a -o "$TMP/layer.o" -Rperf --export 'k = layer.compile(block_dim=32, grad=True)' 2>&1 |
    grep -o '[0-9]* bytes of spills' | sort | uniq -c | sed 's/^ *//'
