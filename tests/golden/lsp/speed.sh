# A sanitiser's figures are none.
needs python3
if [ "$TILE_CC" != gcc ]; then echo "the compiler is built for other things than speed"; exit 77; fi
python3 "$TILE_ROOT/tests/lsp/speed.py" 2>"$TMP/figures"
