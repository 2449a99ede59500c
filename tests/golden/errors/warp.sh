# What a launch of a Warp kernel refuses, and what its text may not say.
cat >"$TMP/kernels.tile" <<'END'
import warp as wp


@wp.kernel
def sums(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.tile_sum(wp.tile(a[i]))[0]


@wp.kernel
def told(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.tile_from_thread(shape=1, value=a[i], thread_idx=63)[0]


@wp.kernel
def pairs(out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = 1.0


@wp.kernel
def parted(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if i % 2 == 0:
        out[i] = wp.tile_sum(wp.tile(a[i]))[0]


@wp.kernel
def parted_by_data(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    if a[i] == 0.0:
        out[i] = wp.tile_sum(wp.tile(a[i]))[0]


@wp.kernel
def racing(out: wp.array(dtype=float)):
    i = wp.tid()
    out[0] = float(i)


@wp.kernel
def starred(*arrays):
    i = wp.tid()
END
cd "$TMP"
run() { TILE_DEVICE=emulator TILE_EMULATOR=checked "$TILEC" run kernels.tile "a = zeros((100,), float32); b = zeros((10, 10), float32); $1" 2>&1 | sed 's|\(<stdlib>/[a-z/]*.tile\):[0-9:]*|\1|' | grep -v '^ *[0-9]* | \( *run(\|a = \)\|^ *| *^'; }
run 'wp.launch(told, dim=100, inputs=[a, b[0]], block_dim=64)'
run 'wp.launch(told, dim=100, inputs=[a, b[0]], block_dim=32)'
run 'wp.launch(sums, dim=64, inputs=[a, a], block_dim=2000)'
run 'wp.launch(sums, dim=64, inputs=[a, b], block_dim=64)'
run 'wp.launch(sums, dim=64, inputs=[a, zeros((64,), int32)], block_dim=64)'
run 'wp.launch(parted, dim=64, inputs=[a, a], block_dim=64)'
run 'a[7] = 1; wp.launch(parted_by_data, dim=64, inputs=[a, a], block_dim=64)'
run 'wp.launch(racing, dim=64, inputs=[a], block_dim=64)'
run 'wp.launch(starred, dim=64, inputs=[a], block_dim=64)'
