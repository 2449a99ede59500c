# Which instruction multiplies elements of which type on sm_90a, and that ptxas neither serialises it (C75xx) nor spills.
while IFS= read -r kernel; do
  echo "$kernel"
  $TILEC --arch=sm_90a --export "product = $kernel" -Rperf --emit=cubin -o $TMP/product.cubin $TILE_ROOT/tests/exec/wgmma_types.tile 2>&1 | grep -oE "[0-9]+ bytes of spills.*wait for each other|[1-9][0-9]* bytes of spills"
  $TILEC --arch=sm_90a --export "product = $kernel" --emit=ptx $TILE_ROOT/tests/exec/wgmma_types.tile |
    awk '/\.entry/ { mine = /product/ } mine && match($0, /(wgmma\.mma_async\.sync\.aligned|mma\.sync\.aligned)[.a-z0-9]*.*/) { print substr($0, RSTART, RLENGTH) }' |
    sed -E 's/%[a-z]+[0-9]+/%/g; s/(%, )+%/.../g; s/sync\.aligned\.//' | sort | uniq -c
done <<'END'
Product(64, 64, 64, float16, float16)
Product(64, 128, 64, float16, float16, b="kn", a="km")
Product(64, 320, 32, float16, float32)
Product(64, 64, 64, float8_e4m3, float32)
Product(64, 32, 64, float8_e5m2, float32, doubled=True)
Product(64, 24, 128, int8, int32)
Product(64, 160, 64, uint8, int32)
Product(64, 64, 16, tfloat32, float32, doubled=True)
Product(64, 64, 64, float8_e4m3, float32, b="kn")
END
