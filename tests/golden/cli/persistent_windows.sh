# Tiles whose lengths have no order are taken by persistent blocks where the longest is short: a window that moves with the block, not one of many iterations.
cd $TMP
for end in '128), window=256' '128), window=512' '128), window=1024' '64), window=512' '64), window=2048'; do
  echo "$end"
  { cat $TILE_ROOT/tests/exec/attention_window.tile; echo "attention.compile(*shapes(4096, $end)"; } >windows.tile
  $TILEC -Rperf --ptxas=none --arch=sm_90a windows.tile -o out.o 2>&1 | grep -oE '(persistent blocks|a loop whose blocks are not persistent).*'
done
