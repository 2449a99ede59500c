# A product whose blocks copy in pairs, each half of what both need, with one of the pair's meetings, or of the stages' waits, taken out at
# a time: the emulator finds fault with each, and none with the whole.
set -e
run() {
  (cd $TMP && $TILEC mutant.ir --arch=emulator:sm_90a -o mutant.o -H fault_injection.h)
  $TILE_CC -DROWS=512 -DCOLUMNS=264 -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/run $TILE_ROOT/tests/tools/race_shared.c $TMP/mutant.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
  $TMP/run | sed -n 's/.*: \(race\|unwritten memory\|unfinished copy\|unfinished read\|unfenced write\|unfenced read\): .*/  \1/p; s/^TILE_/  TILE_/p' | sort -u
}
sed 's/warps = 4/warps = 8/; s/value = 63/value = 255/; /%c64 = \|%d64m = /s/= 64/= 256/; /%d256 = /s/= 256/= 128/; s/\[64, 256\]/[256, 128]/g; s/= 384/= 264/; s/\[384, 1\]/[264, 1]/; s/, 384\]/, 264]/' ../passes/warp_groups.ir |
  sed '/%sa = shared_alloc\|%x = shared_load/s/\[64, 64\]/[256, 64]/; /%sb = shared_alloc\|%y = shared_load/s/\[256, 128\]/[64, 128]/' > $TMP/start.ir
$TILEC opt --run=bounds,multi_buffer,matrix,infer_layout,pipeline,shared,sync $TMP/start.ir > $TMP/whole.ir
cp $TMP/whole.ir $TMP/mutant.ir
run
for op in cluster_arrive cluster_wait producer_acquire consumer_release; do
  for number in $(seq $(grep -cw "^ *$op" $TMP/whole.ir)); do
    awk -v op=$op -v number=$number '$1 == op && ++n == number { next } { print }' $TMP/whole.ir > $TMP/mutant.ir
    echo "without $op $number"; run
  done
done
