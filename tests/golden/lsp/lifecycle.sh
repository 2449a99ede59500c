needs python3
python3 "$TILE_ROOT/tests/lsp/lifecycle.py"
