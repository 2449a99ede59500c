# Answers are of the protocol's types, where there is a package that has these.
needs python3
if ! python3 -c 'import lsprotocol' 2>/dev/null; then echo "python3 has no lsprotocol"; exit 77; fi
python3 "$TILE_ROOT/tests/lsp/protocol.py"
