# The extension for Visual Studio Code, where there is a node to run it.
if ! command -v node >/dev/null; then echo "there is no node"; exit 77; fi
node "$TILE_ROOT/tests/lsp/extension.js" "$TILE_BUILD/editors/vscode/extension.js"
