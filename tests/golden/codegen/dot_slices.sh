# Full precision by multiplying and adding: reads of shared memory are wide and few beside the products, whichever operand is
# transposed; accesses by the element alone are those that put them there.
while IFS= read -r kernel; do
  echo "$kernel"
  $TILEC --arch=sm_90a --export "product = $kernel" --emit=ptx $TILE_ROOT/tests/exec/dot_slices.tile |
    awk '/\.entry/ { mine = /_aligned/ } mine && match($0, /(ld\.shared|fma\.rn|cp\.async\.c[ag]|cp\.async\.bulk\.tensor)[.a-z0-9]*/) { print substr($0, RSTART, RLENGTH) }' | sort | uniq -c
done <<'END'
Product(128, 128, 16, warps=8, stages=3)
Product(128, 128, 16, a="km", b="nk", warps=8)
Product(64, 64, 16, a="km")
Product(128, 256, 8, warps=8)
END
# What comes before what in the loop: copies are begun between products, and operands read before they are needed.
$TILEC --arch=sm_80 --export "product = Product(128, 128, 16, warps=8, stages=3)" --emit=ptx $TILE_ROOT/tests/exec/dot_slices.tile |
  awk '/\.entry/ { mine = /_aligned/ } mine && /^\$L__BB/ { text = "" } mine && match($0, /ld\.shared|fma\.rn|cp\.async\.(cg|commit|wait)|bar\.sync/) {
      name = substr($0, RSTART, RLENGTH); if (name != last || text == "") text = text " " name; last = name; if (name == "fma.rn") found = 1 }
    mine && /bra/ && found { print text; exit }' | fold -s -w 150
# Products that have no factor with the one before them.
$TILEC --arch=sm_80 --export "product = Product(128, 128, 16, warps=8, stages=3)" --emit=ptx $TILE_ROOT/tests/exec/dot_slices.tile |
  awk -F'[ ,\t;]+' '/\.entry/ { mine = /_aligned/ } mine && /fma\.rn/ { all++; if ($4 != a && $5 != b) alone++; a = $4; b = $5 } END { print alone " of " all }'
