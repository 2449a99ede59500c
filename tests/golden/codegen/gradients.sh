# Both gradients of a product, of tiles by TMA and wgmma like those of the product itself; and of norms of rows, whose gains and biases
# are added to once by each block. Of kernels for aligned arguments. Then those of a product of three types, neither by atomics.
accesses() {
  awk '/^\.visible \.entry/ { show = $3 ~ /_grad.*aligned/; if (show) print $3 } show && /cp\.(reduce\.)?async\.bulk|wgmma\.mma_async|mma\.sync|(ld|st|red|atom)[.a-z0-9]*\.global/' |
    grep -oE '[a-z_]+_grad[a-z_0-9]*|cp\.async\.c[ag]\.shared\.global|mma\.sync[.a-z0-9]*|cp\.(reduce\.)?async\.bulk\.tensor\.[0-9]d\.(global\.)?shared[a-z_:]*(\.add)?|wgmma\.mma_async[.a-z0-9]*|(ld|st|red|atom)[.a-z0-9_]*' | uniq -c
}
$TILEC $TILE_ROOT/tests/bench/kernels/gradients.tile --arch=sm_90a --emit=ptx \
  --export 'product = Product(128, 256, 64, 8).compile(m=4096, n=4096, k=4096, grad=True)' \
  --export 'layernorm = LayerNorm(8).compile(n=4096, grad=True)' | accesses
$TILEC $TILE_ROOT/tests/exec/gradients_tape.tile --arch=sm_90a --emit=ptx --export 'mixed = mixed.compile(block_dim=64, grad=True)' | accesses
