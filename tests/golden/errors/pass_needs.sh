# A pass over a kernel that lacks what it needs is refused, and says what.
cat > $TMP/variables.ir <<'END'
kernel @k stage TYPED (%a: ptr<f32, global>) {
  %one = const {value = 1} : i32
  launch %one, %one, %one {warps = 1} {
    %u = const {value = 1} : i32
    %x = var %u : var<i32>
  }
}
END
cd $TMP
for passes in multi_buffer promote,multi_buffer simplify,once shared rasterize,bounds promote,rasterize,bounds; do
    echo "== $passes"
    $TILEC opt --run=$passes variables.ir 2>&1 | grep -E 'error|^kernel'
done
