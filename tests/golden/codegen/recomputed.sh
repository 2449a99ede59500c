# What is loaded before a barrier and stored behind it shares its elements' bounds: 128 conditions a thread, which are no longer
# kept where registers spill, but computed once more.
needs ptxas
"$TILEC" "$TILE_ROOT/tests/bench/kernels/staged.tile" --arch=sm_80 -o "$TMP/staged.o" -Rperf 2>&1 | grep -o '[0-9]* bytes of spills'
