# Of the sums of a product four rows go through shared memory, and not all 64 for their sake; a quarter does, and half goes with the rest.
for how in 'rows=4, row=8' 'rows=16, row=48' 'rows=32, row=0'; do
    echo "r = product.compile($how, columns=128, column=0)"
    $TILEC "$TILE_ROOT/tests/exec/tilelang_few_rows.tile" --arch=sm_90a --ptxas=none --export "r = product.compile($how, columns=128, column=0)" -o "$TMP/r.o" &&
        $TILEC info "$TMP/r.o" | sed -n 's/.*: 4 warps, /    /p' | sort -u
    $TILEC "$TILE_ROOT/tests/exec/tilelang_few_rows.tile" --arch=sm_90a --ptxas=none --emit=ptx --export "r = product.compile($how, columns=128, column=0)" -o "$TMP/r.ptx" 2>/dev/null
    awk '/\.entry/ { mine = /_aligned/ } mine' "$TMP/r.ptx" | grep -oE '(ld|st)\.shared[.a-z0-9]*' | sort | uniq -c
done
