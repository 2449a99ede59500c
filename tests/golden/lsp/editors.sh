# The files for editors, made of the language's tables: they agree with the language.
needs python3
cd "$TILE_ROOT"
python3 tests/lsp/grammar.py "$TILE_BUILD/editors" tests/lsp/odd.tile samples/*/*.tile tests/exec/tilus_hopper.tile tests/exec/tilelang_kernels.tile tests/exec/warp_types.tile
