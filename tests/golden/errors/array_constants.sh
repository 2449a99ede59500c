# Arrays of the program's that a kernel names, which are no arguments of it: what runs of it would index, write or add to is not known when it is compiled.
for line in 'out[i] = table[i]' 'table[i] = out[i]' 'table[0] = out[i]' 'out[i] = table + out[i]'; do
    cat >"$TMP/program.py" <<END2
import warp as wp

table = wp.zeros(4, dtype=float)


@wp.kernel
def k(out: wp.array(dtype=float)):
    i = wp.tid()
    $line


wp.launch(k, dim=4, inputs=[wp.zeros(4, dtype=float)])
END2
    (cd "$TMP" && TILE_DEVICE=emulator "$TILEC" run program.py 2>&1 | grep error)
done
