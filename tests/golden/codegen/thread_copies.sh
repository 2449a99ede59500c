# What threads copy by themselves is one cp.async for elements side by side, and no barrier is between two of them.
$TILEC $TILE_ROOT/tests/exec/thread_copies.tile --arch=sm_90a --export 'many = gathered.compile(M=128, N=32, K=384)' --export 'four = shifted.compile(N=1024, each=4)' --export 'one = shifted.compile(N=384, each=1)' --emit=ptx |
  grep -oE '^\.visible \.entry [a-z]+|cp\.async\.c[ag]\.shared\.global|cp\.async\.mbarrier[.a-z]*|bar\.sync|ld\.global[.a-z0-9]*|st\.shared[.a-z0-9]*' | uniq -c
