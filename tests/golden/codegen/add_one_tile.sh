# 1024 elements on 128 threads: 16 bytes at a time where the pointers and n allow it, 4 otherwise.
$TILEC $TILE_ROOT/tests/bench/kernels/add_one.tile --arch=sm_90a --export 'add_one = add_one' --export 'wide = AddOne(block_n=1024, warps=4)' --emit=ptx |
  awk '/^\.visible \.entry/ { print $3 } /(ld|st)\.global/ { print }' | grep -oE '[a-z_]*wide[a-z_0-9]*|(ld|st)\.global[.a-z0-9]*' | uniq -c
