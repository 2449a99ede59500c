# Pipelined loops, of mma, of wgmma, of wgmma that stays in flight for an iteration, and of two warpgroups of wgmma that each store rows of their own, beside warps that copy, with one of their barriers, fences, waits or commits taken out at a time: the emulator finds
# fault with each, and none with the whole.
set -e
run() {
  (cd $TMP && $TILEC mutant.ir --arch=emulator:sm_90a -o mutant.o -H fault_injection.h)
  $TILE_CC -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/run $TILE_ROOT/tests/tools/race_shared.c $TMP/mutant.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
  $TMP/run | sed -n 's/.*: \(race\|unwritten memory\|unfinished copy\|unfinished read\|unfenced write\|unfenced read\): .*/  \1/p; s/^TILE_/  TILE_/p' | sort -u
}
for kernel in multi_buffer wgmma open warp_groups; do
  case $kernel in
    open) sed 's/stages = 3/stages = 4/; s/%e = const {value = 4}/%e = const {value = 8}/; s/d64 = const {value = 64}/d64 = const {value = 32}/; s/\[64, 64\]/[64, 32]/g' ../passes/wgmma.ir | sed '/sb = shared_alloc\|%y = shared_load/s/\[64, 128\]/[32, 128]/' > $TMP/start.ir ;;
    warp_groups) sed 's/warps = 4/warps = 8/; s/value = 63/value = 127/; /%c64 = \|%d64m = /s/= 64/= 128/; /%d256 = /s/= 256/= 128/; s/\[64, 256\]/[128, 128]/g' ../passes/$kernel.ir | sed '/%sa = shared_alloc\|%x = shared_load/s/\[64, 64\]/[128, 64]/; /%sb = shared_alloc\|%y = shared_load/s/\[128, 128\]/[64, 128]/' > $TMP/start.ir ;;
    *) cp ../passes/$kernel.ir $TMP/start.ir ;;
  esac
  $TILEC opt --run=bounds,multi_buffer,matrix,infer_layout,pipeline,shared,sync $TMP/start.ir > $TMP/whole.ir
  cp $TMP/whole.ir $TMP/mutant.ir
  echo "$kernel"; run
  ops='barrier fence_async copy_wait copy_commit dot_wait pipeline_init producer_acquire producer_commit consumer_wait consumer_release tma_store_commit tma_store_wait'
  for op in $ops; do
    for number in $(seq $(grep -cw "^ *$op" $TMP/whole.ir)); do
      awk -v op=$op -v number=$number '$1 == op && ++n == number { next } { print }' $TMP/whole.ir > $TMP/mutant.ir
      echo "$kernel without $op $number"; run
    done
  done
done
