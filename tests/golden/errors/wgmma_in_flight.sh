# The waits of a product whose operations are in flight while the next begins: what reads the sums before the last wait finds
# something else; the one before the loop finds nothing in flight and is for ptxas, which wants the sums in registers.
cat > $TMP/p.tile <<'T'
from tile.gemm import Product
T
$TILEC run --device=emulator --arch=emulator:sm_90a --leave-each-out=waits $TMP/p.tile 'a = random((64, 256), float16, seed=1); b = random((256, 64), float16, seed=2); c = zeros((64, 64), float16); Product(64, 64, 32, stages=4)(64, 64, 256, a, b, c); assert allclose(c, matmul(a, b), 0.02, 0.002)' 2>&1 |
    sed -nE 's/.*without number ([0-9]+), a (wgmma_wait), of Product__run0_aligned[a-z0-9_]* .*: (missed|not missed).*/\1 \2: \3/p' | sort -n | sed 's,^[0-9]* ,,'
