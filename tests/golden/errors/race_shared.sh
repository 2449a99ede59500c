# The same kernel with a barrier taken out: the emulator reports the race, with the line of the source that both accesses come from.
set -e
$TILEC opt --run=simplify,promote,simplify_again,bounds,matrix,infer_layout,pipeline,shared,sync ../passes/matmul_synced.ir > $TMP/whole.ir
for mutant in whole first second; do
  case $mutant in
    whole) cp $TMP/whole.ir $TMP/mutant.ir ;;
    first) awk '/^ *barrier/ && ++n == 1 { next } { print }' $TMP/whole.ir > $TMP/mutant.ir ;;
    second) awk '/^ *barrier/ && ++n == 2 { next } { print }' $TMP/whole.ir > $TMP/mutant.ir ;;
  esac
  (cd $TMP && $TILEC mutant.ir --arch=sm_90a,emulator -o mutant.o -H fault_injection.h)
  $TILE_CC -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/run $TILE_ROOT/tests/tools/race_shared.c $TMP/mutant.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
  echo "== $mutant"; $TMP/run | sed 's/thread [0-9]*/thread N/g' | head -4
done
