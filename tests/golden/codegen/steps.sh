# 384 threads, of which 256 share 128 sums each: with the operands of all four steps of the product they are more than the 168
# registers of a thread, with those of one step they fit.
needs ptxas
"$TILEC" "$TILE_ROOT/tests/exec/gemm_threads.tile" --arch=sm_80 -o "$TMP/steps.o" -Rperf \
    --export 'k = counted.compile(A=T.Tensor((128, 64), T.float16), B=T.Tensor((64, 256), T.float16), block_K=64, threads=384, stages=1)' 2>&1 |
    grep -o '[0-9]* bytes of spills'
