# native is the GPU that the driver shows (here a pretended one of capability 9.0), and an error where there is none.
set -e
$TILE_CC -shared -fPIC -D_GNU_SOURCE -I$TILE_ROOT/runtime -I$TILE_ROOT/runtime/include -o $TMP/libfake_cuda.so $TILE_ROOT/tests/tools/fake_cuda.c -lpthread
TILE_CUDA_LIBRARY=$TMP/libfake_cuda.so $TILEC ../passes/add_threads.ir --arch=native,compute_80 --ptxas=none --emit=manifest | grep -o '"target": "[a-z0-9_]*"'
TILE_CUDA_LIBRARY=$TMP/none.so $TILEC ../passes/add_threads.ir --arch=native -o $TMP/add.o 2>&1 | sed "s|$TMP|TMP|g"
