# A product whose blocks share their last tiles along k: one loop of tiles, all of whose copies are by TMA, by a warp that is ahead from
# tile to tile; tiles of 160 columns by panels of 64 bytes, and 192 sums of a thread without spills. 160 rows are columns of the product's
# transpose, and stored by TMA, some rows at a time.
needs ptxas
cd $TMP
sequence() {
    awk '/^\.visible/ { wanted = /_aligned/ } wanted' $1 | grep -oE 'wgmma\.mma_async[a-z0-9.]*|cp\.async\.bulk\.tensor\.2d\.[a-z:]*\.[a-z:]*|atom\.[a-z.]*|setmaxnreg\.[a-z.]*' | uniq -c
}
echo 'from tile.gemm import Product, Streamed' >streamed.tile
for block in 'Streamed(256, 128)' 'Product(256, 160, stages=4, warps=8)' 'Product(256, 192, stages=3, warps=8)' 'Product(160, 256, stages=3, warps=8)'; do
    echo "$block"
    $TILEC streamed.tile --arch=sm_90a --ptxas=none --emit=ptx --export "p = $block.compile(n=4096, k=4096)" >streamed.ptx
    sequence streamed.ptx
    $TILEC streamed.tile --arch=sm_90a -Rperf --export "p = $block.compile(n=4096, k=4096)" -o streamed.o -H streamed.h 2>&1 | grep -oE 'filled by .*aligned|a store by TMA store|[0-9]+ bytes of spills.*aligned' | sort | uniq -c
done
