# A kernel as torch's operator, with its gradient, as samples/python has it.
needs torch
cp "$TILE_ROOT"/samples/python/torch_operator.py "$TILE_ROOT"/samples/python/swish.tile "$TMP"
cd "$TMP" || exit
"$TILEC" swish.tile --emit=obj,python --arch=emulator -o swish.o || exit
$TILE_CC -shared -o libswish.so swish.o "$TILE_BUILD/libtile_emulator.so" "$TILE_BUILD/libtile.so"
python3 torch_operator.py 2>&1 | grep -v Warn
