# Where extents are known at the call the variant for aligned ones copies 16 bytes of int4 at once.
cd $TMP
$TILEC --emit=ptx $TILE_ROOT/tests/exec/packed.tile --export 'widen_rows = widen_rows.compile()' --export 'rows = widen_rows.compile()' --arch=sm_80 --ptxas=none >rows.ptx
grep -oE 'cp\.async\.c[ag][.a-z]*|entry rows[_a-z]*' rows.ptx | uniq
$TILEC info $TILE_ROOT/tests/exec/packed.tile --export 'widen_rows = widen_rows.compile()' --export 'rows = widen_rows.compile()' --arch=sm_80 --ptxas=none | grep where
