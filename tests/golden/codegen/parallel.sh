# A parallel loop's accesses are as wide as a load's and a store's: by 16 bytes where pointers and extents allow it, a bias that all
# rows share once a thread, what the guard says left to the bounds; then a transposition by its indices and a lookup by indices from
# memory, which go element by element.
accesses() {
    $TILEC $TILE_ROOT/tests/exec/parallel.tile --arch=sm_90a --emit=ptx --export "$1" |
        awk '/^\.visible \.entry/ { print $3 } /(ld|st)\.global/ { print }' | grep -oE 'wide[a-z_0-9]*|(ld|st)\.global[.a-z0-9]*' | uniq -c
}
accesses 'wide = Map(lambda x: x * 2.0, size=1024, guard=True)'
accesses 'wide = Bias(32, 64)'
accesses 'wide = Transpose()'
accesses 'wide = Lookup()'
# Parallel loops within one are dimensions of it: no loop is left and no barrier between their iterations.
$TILEC $TILE_ROOT/tests/exec/tilelang_parallel.tile --arch=sm_90a --emit=ptx --export 'nested = pool_some' |
    awk '/^\.visible \.entry/ { print $3 } /bra|bar.sync|ld.shared|st.shared/ { print $1, $2 }' | grep -oE 'nested[a-z_0-9]*|bra|bar.sync|(ld|st).shared[.a-z0-9]*' | uniq -c
