# ptxas is asked for another block as long as few threads are on a multiprocessor: of 128 threads there are seven.
needs ptxas
$TILEC $TILE_ROOT/tests/exec/tilelang_filters.tile --arch=sm_90a --export 'filter = depthwise_images(4, 56, 56, 256)' -Rperf -o $TMP/filter.o 2>&1 |
  sed -n 's/.*, \([0-9]*\) registers a thread.*sm_90a, aligned.*/\1/p' | awk '{ print ($1 <= 72 ? "seven blocks" : $1 " registers") }'
