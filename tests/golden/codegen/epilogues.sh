# A bias and a residual tile behind a product of 128 x 256 tiles: wgmma, of 240 registers for those who multiply, and no spills.
needs ptxas
cd $TMP
{ cat $TILE_ROOT/tests/exec/epilogues.tile; echo "k = with_residual(4096, 4096, 4096, 128, 256, 64, 256, 4)"; } >k.tile
$TILEC k.tile --arch=sm_90a --export 'k = k' -Rperf --save-temps -o k.o 2>&1 | grep -oE '[0-9]+ warps and [0-9]+ bytes.*|not wgmma.*'
for f in *.ptx; do
    echo "$(grep -c 'wgmma.mma_async' $f) wgmma, $(grep -oE 'setmaxnreg[a-z.0-9]* [0-9]+' $f | tr '\n' ' ')"
done
