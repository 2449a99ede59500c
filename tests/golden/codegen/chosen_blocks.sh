# Blocks at places that are read from memory: the place is loaded an iteration ahead, a loop of two iterations is not told apart by its mask, sums of rows are
# stored as they lie, and only what the tensor core reads has a fence. Rows and columns that go to shared memory alone are loaded by the threads that store them.
export TILEC_CACHE=off
show() { # LINE
  echo "$1"
  cp "$TILE_ROOT/tests/exec/chosen_blocks.tile" "$TMP/blocks.tile"
  $TILEC "$TMP/blocks.tile" --arch=sm_90a --ptxas=none -Rperf --emit=ptx --export "k = $1" -o "$TMP/blocks.ptx" 2>&1 | grep -oE "(a loop whose loads|iterations in which).*" | grep -v "any arguments" | sort -u
  awk '/\.entry/ { mine = !seen++ } mine' "$TMP/blocks.ptx" | grep -oE '(@%p[0-9]+.)?ld\.global[.a-z0-9]*|fence\.proxy[.a-z:]*|bar(rier)?\.sync' | sed 's/%p[0-9]*/%p/' | sort | uniq -c
}
show 'scores.compile(T.Tensor((64, 64), T.float16), T.Tensor((640, 64), T.float16), T.Tensor((64,), T.float32), T.Tensor((4,), T.int32), T.int32)'
show 'flipped.compile(T.Tensor((48, 48), T.float32), n=48)'
