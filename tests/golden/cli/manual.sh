# The pages are built from the tables: every option, command, code and operation is in one.
make -s -C $TILE_ROOT BUILD=$TMP/build manual Q=@ > /dev/null || exit
cd $TMP/build/man; ls
plain() { sed 's/\\-/-/g; s/\\&//g; s/\\e/\\/g' $1; }
plain tilec.1 > tilec.txt; plain tile-errors.7 > errors.txt; plain tile-ops.7 > ops.txt; plain tile-core.7 > core.txt; plain tile-passes.7 > passes.txt
$TILEC --help | awk '$1 ~ /^-/ { print $1 }' | while read -r option; do grep -qF -e "Li \"$option" tilec.txt || echo "tilec.1 lacks $option"; done
$TILEC --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' | while read -r name; do grep -q "^.It Cm $name" tilec.txt || echo "tilec.1 lacks $name"; done
sed -n 's/^DIAG(\([A-Z0-9]*\),.*/\1/p' $TILE_ROOT/compiler/base/diag.def | while read -r code; do grep -q "^.It $code " errors.txt || echo "tile-errors.7 lacks $code"; done
sed -n 's/^CORE("\([A-Za-z_]*\)".*/\1/p' $TILE_ROOT/compiler/eval/*/builtins.def | while read -r name; do grep -qE "^\.(Fo|It Ic) $name\$" core.txt || echo "tile-core.7 lacks $name"; done
$TILEC opt --list | while read -r pass _; do grep -q "^.It Ic $pass\$" passes.txt || echo "tile-passes.7 lacks $pass"; done
sed -n 's/^OP(\([a-z_0-9]*\),.*/\1/p' $TILE_ROOT/compiler/ir/ops.def | while read -r op; do grep -q "^.Ic $op\$" ops.txt || echo "tile-ops.7 lacks $op"; done
sed -n 's/^TILE_API .*\(tile_[a-z_]*\)(.*/\1/p' $TILE_ROOT/runtime/include/tile/tile.h $TILE_ROOT/runtime/include/tile/dlpack.h | while read -r name; do grep -qE "^.F[no] $name\b" libtile.3 || echo "libtile.3 lacks $name"; done
grep -c 'self\.' tile.5 | awk '{ print ($1 > 50 ? "operations of Script are listed" : "tile.5 lacks the operations of Script") }'
exit 0
