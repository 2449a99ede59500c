# Without aligned arguments wgmma leaves too few registers for the copies, by ptxas's own account: there mma.sync multiplies.
needs ptxas
cd $TMP
cat > widened.tile <<'T'
from tile.gemm import Widened
from tilus import int4

product = Widened(256, 128, 64, warps=8, weights=int4)
product.compile(n=8192, k=8192)
T
$TILEC -Rperf --emit=cubin widened.tile --arch=sm_90a -o all.cubin 2>&1 | grep -oE 'a product of .*|[0-9]* bytes of spills.*' | sort | uniq -c
