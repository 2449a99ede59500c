# Few rows: columns fill the matrix unit, weights come by TMA and are the first that the cache gives up, and the launch may
# begin before the one before is done. Where the ring leaves room for what a block does last, those that compute come before those that
# copy, so that addresses of what the matrix unit reads are known to be the same in a warp. Blocks that share k are a cluster.
cd $TMP
sequence() {
    awk '/^\.visible/ { wanted = /_aligned/ } wanted' $1 | grep -oE 'wgmma\.mma_async[a-z0-9.]*|mma\.sync[a-z0-9.]*|cp\.async\.bulk\.tensor\.2d\.shared.*bytes[.:a-zL0-9_]*|griddepcontrol\.[a-z_]*|barrier\.cluster\.[a-z]*|reqnctapercluster.*|atom\.[a-z.]*' | uniq -c
}
cat >few.tile <<'T'
from tile.gemm import FewRows, Widened
from tilus import int4
T
$TILEC few.tile --arch=sm_90a --ptxas=none --emit=ptx --export 'few = FewRows().compile(n=4096, k=4096)' >few.ptx
sequence few.ptx
echo "narrow weights, k shared"
$TILEC few.tile --arch=sm_90a --ptxas=none --emit=ptx --export 'few = Widened(16, 64, 256, 3, stages=4, warps=4, weights=int4, evict="evict_first", clustered=True).compile(n=8192, k=8192)' >few.ptx
sequence few.ptx
