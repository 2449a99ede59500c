# Weights of 4 bits on their way to wgmma: TMA copies bytes of them, two warpgroups widen what they read of a stage, a third
# gives them its registers and begins the copies. The result goes to memory by TMA, parts of rows, as columns are the warps'.
cd $TMP
cat > widened.tile <<'T'
from tile.gemm import Widened
from tilus import int4

product = Widened(256, 128, 64, warps=8, weights=int4)
product.compile(n=8192, k=8192)
T
$TILEC --emit=ptx widened.tile --arch=sm_90a --ptxas=none >all.ptx
awk '/\.entry .*_aligned/ { inside = 1 } inside; /ret;/ { inside = 0 }' all.ptx > aligned.ptx
grep -E '^\.maxntid' aligned.ptx
grep -oE 'setmaxnreg[.a-z0-9]* [0-9]*|cp\.async\.bulk\.tensor\.2d\.[a-z]*|wgmma\.[a-z_]*\.sync\.aligned[.a-z0-9]*' aligned.ptx
grep -oE '(ld\.shared|lop3|fma\.rn\.f16x2|prmt)[.a-z0-9]*' aligned.ptx | sort | uniq -c
