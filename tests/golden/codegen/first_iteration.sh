# Sums that begin as zero: the matrix unit adds nothing to them in the first iteration of a loop that has one, and no thread sets them. Where
# the loop may have no iteration, or somebody else reads them, they are set.
cd $TMP
cat >first.tile <<'T'
from tile.gemm import Product, Streamed
from tilus import int8, int32
T
show() { # EXPRESSION
    echo "$1"
    $TILEC first.tile --arch=sm_90a --ptxas=none --emit=ptx --export "p = $1" >first.ptx
    awk '/^\.visible/ { wanted = /_aligned/ } wanted' first.ptx | awk '
        /^setp\.ne\.b[0-9]+ q/ { chosen++ }
        /mov\.b32[ \t]+%r[0-9]+, (%r[0-9]+|0);/ { moves++ }
        END { print (chosen + 0) " by a predicate, " (moves > 63 ? "set by moves" : "not set") }'
}
show 'Product(128, 128, stages=4, warps=8).compile(n=1024, k=1024)'
show 'Product(160, 256, stages=3, warps=8).compile(n=1024, k=1024)'
show 'Product(128, 128, 128, stages=3, warps=8, dtype=int8, sums=int32, out=int32, b="nk").compile(n=1024, k=1024)'
show 'Streamed(128, 128, stages=4, warps=8).compile(n=1024, k=1024)'
