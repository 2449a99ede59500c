# Small blocks that do one thing each let the next launch begin if they are few: for each that says so a GPU takes as long as for
# beginning a block. Larger ones always say so.
cd $TMP
cat >line.tile <<'T'
import warp as wp


@wp.kernel
def line(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]
T
for threads in 64 256; do
    echo "$threads threads"
    $TILEC line.tile --arch=sm_90a --ptxas=none --emit=ptx --export "line = line.compile(block_dim=$threads)" >line.ptx
    awk '/^\.visible/ { wanted = /_aligned/ } wanted' line.ptx | grep -E 'griddepcontrol|nctaid|, 2049' | sed 's/%[a-z]*[0-9]*\([^.a-z0-9]\)/R\1/g'
done
