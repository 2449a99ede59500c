# Loops that ask for stages and load and store their tiles by elements have them; those that write what they read, or read before they write, have not.
cd $TILE_ROOT/tests/exec
$TILEC copied_elements.tile --emit=ptx --arch=sm_80 -o $TMP/out.ptx -Rperf 2>&1 | grep -oE 'tile:[0-9]+:[0-9]+: remark: a loop (not )?multi-buffered.*' | sort -u
