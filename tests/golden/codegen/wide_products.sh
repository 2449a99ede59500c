# Products of f64: m16n8k8 from sm_90a on, m8n8k4 four times in its place on sm_80, multiply-add where there is no matrix unit for them.
for arch in sm_80 sm_86 sm_90a sm_100a; do
  echo $arch
  $TILEC --arch=$arch --export 'k = Product(16, 8, 8, warps=1).compile(m=16, n=8, k=8)' --emit=ptx $TILE_ROOT/tests/exec/wide_products.tile |
    grep -oE "mma\.sync[.a-z0-9]*|fma\.rn\.f64" | sort | uniq -c
done
