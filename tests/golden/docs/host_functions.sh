# tile-host(7) names what tile.host has, and nothing else: of its own files, of the host's table, and of arrays' methods.
cd "$TMP" || exit
make -s -C "$TILE_ROOT" BUILD="$TMP/build" "$TMP/build/man/tile-host.7" Q=@ >/dev/null || exit
page=build/man/tile-host.7
listed=$(sed -n 's/^\.Fo //p' "$page")
echo "$listed" | wc -l
echo "from tile.host import $(echo $listed | sed 's/ /, /g')" >names.tile
for name in $listed; do echo "$name"; done >>names.tile
"$TILEC" run --device=emulator names.tile && echo "each is there"
# What a star binds, but the types of elements, which are told elsewhere.
printf 'from tile.host import *\n' >star.tile
offered=$(sed -n '/^from compat.arrays import (/,/^)/p; s/^def \([a-z]\)/    \1/p' "$TILE_ROOT/stdlib/compat/tile/host.tile" |
    sed '/^from\|^)/d; s/(.*//; s/[, ][, ]*/\n/g' | grep . | grep -v as_array)
for name in $offered; do echo "$listed" | grep -qx "$name" || echo "the page lacks $name"; done
sed -n 's/^ *{"\([a-z][a-z_]*\)", function_.*/\1/p; s/.*{"array\.\([a-z_]*\)".*{"array\.\([a-z_]*\)".*/\1 \2/p' "$TILE_ROOT"/compiler/command/array/*.c |
    tr ' ' '\n' | while read -r name; do grep -qw -- "$name" "$page" || echo "the page lacks $name"; done
for module in array torch; do
    sed -n '/import/,$p' "$TILE_ROOT/stdlib/compat/${module}_methods.tile" | grep '^    ' | tr -d ' ' | tr ',' '\n' | grep . | while read -r name; do
        grep -qw -- "$name" "$page" || echo "$module: the page lacks $name"
    done
done
