# What ends a product in as many registers as its sums leave. A bias and a residual tile behind one of 128 x 256 tiles: wgmma, of 240 registers
# for those who multiply, and no spills. Scales and a bias of columns behind one of bytes: wgmma, as they are read next to their sums.
needs ptxas
cd $TMP
for k in 'with_residual(4096, 4096, 4096, 128, 256, 64, 256, 4)' 'with_scales(4096, 4096, 4096, 128, 128, 128, 256, 3)'; do
    rm -f *.ptx
    { cat $TILE_ROOT/tests/exec/epilogues.tile; echo "k = $k"; } >k.tile
    $TILEC k.tile --arch=sm_90a --export 'k = k' -Rperf --save-temps -o k.o 2>&1 | grep -oE '[0-9]+ warps and [0-9]+ bytes.*|not wgmma.*'
    for f in *.ptx; do
        echo "$(grep -c 'wgmma.mma_async' $f) wgmma, $(grep -oE 'setmaxnreg[a-z.0-9]* [0-9]+' $f | tr '\n' ' ')"
    done
done
