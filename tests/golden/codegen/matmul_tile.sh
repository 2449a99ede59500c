# The documented first matmul (64 x 128 x 16, four warps): its tiles are copied to shared memory ahead, four iterations' at a time, which the
# tensor core reads there; without one, ldmatrix and mma.sync. All of global memory is moved 16 bytes at a time.
for arch in sm_90a sm_80; do
$TILEC $TILE_ROOT/tests/bench/kernels/matmul.tile --arch=$arch --export 'matmul = Matmul().compile(n_size=4096, k_size=4096)' --emit=ptx |
  awk '/^\.visible \.entry/ { kernel = $3 } kernel ~ /aligned/ { print }' |
  grep -oE '(ld\.global|st\.global|ld\.shared|st\.shared)[.a-z0-9]*|ldmatrix[.a-z0-9]*|mma\.sync[.a-z0-9]*|wgmma\.mma[.a-z0-9_]*|cp\.async[.a-z0-9_]*|bar\.sync' | sort | uniq -c
done
$TILEC $TILE_ROOT/tests/bench/kernels/matmul.tile --arch=sm_90a --export 'matmul = Matmul().compile(n_size=4096, k_size=4096)' --emit=manifest |
  grep -oE '"multiples": [^]]*\]|"spill_bytes": [0-9]*'
