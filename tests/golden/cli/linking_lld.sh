# LLVM's linker takes objects, too, and leaves out what is not called.
needs ld.lld
[ "$TILE_CC" = gcc ] || { echo "not with $TILE_CC"; exit 77; }
cd "$TMP" || exit
cp "$TILE_ROOT"/samples/add_one/add_one.tile "$TILE_ROOT"/samples/add_one/main.c .
"$TILEC" add_one.tile --arch=sm_80,emulator --ptxas=none -o add_one.o -H add_one.h || exit
for flags in -Wl,--gc-sections -static; do
    $TILE_CC "$flags" -fuse-ld=lld -I"$TILE_ROOT/runtime/include" -I. main.c add_one.o "$TILE_BUILD"/libtile_emulator.a "$TILE_BUILD"/libtile.a \
        -lm -lpthread -ldl -o app 2> said && ./app || cat said
done
