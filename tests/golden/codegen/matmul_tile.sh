# The documented first matmul (64 x 128 x 16, four warps): one iteration loads 3 vectors of 16 bytes, stores 3 to shared memory, reads 6
# ldmatrix.x4 and multiplies by 16 mma.sync; it is unrolled by four. All of global memory is moved 16 bytes at a time.
$TILEC $TILE_ROOT/tests/bench/kernels/matmul.tile --arch=sm_90a --export 'matmul = Matmul().compile(n_size=4096, k_size=4096)' --emit=ptx |
  awk '/^\.visible \.entry/ { kernel = $3 } kernel ~ /aligned/ { print }' |
  grep -oE '(ld\.global|st\.global|ld\.shared|st\.shared)[.a-z0-9]*|ldmatrix[.a-z0-9]*|mma\.sync[.a-z0-9]*|bar\.sync' | sort | uniq -c
$TILEC $TILE_ROOT/tests/bench/kernels/matmul.tile --arch=sm_90a --export 'matmul = Matmul().compile(n_size=4096, k_size=4096)' --emit=manifest |
  grep -oE '"multiples": [^]]*\]|"spill_bytes": [0-9]*'
