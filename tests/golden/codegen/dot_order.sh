# The level of ptxas that leaves products of full precision in their order; where they would spill in it, another one.
needs ptxas
for kernel in "Product(128, 128, 16, warps=8, stages=3)" "Product(128, 128, 32, warps=4, stages=2)"; do
  $TILEC --arch=sm_80 --no-cache -j1 -v --export "product = $kernel" -o $TMP/product.o $TILE_ROOT/tests/exec/dot_slices.tile 2>&1 | grep -oE '"-O[0-9]"' | tr '\n' ' '
  echo
done
