# Of a register tile of 16384 bytes of which half, a quarter or less is read elsewhere no more than that goes to shared memory;
# the rest is the operand of the product, where there is one.
cd $TMP
for how in rows columns quarter scattered when 'run time'; do
    for product in False True; do
        echo "r = halves.compile(how='$how', threads=128, product=$product)"
        $TILEC $TILE_ROOT/tests/exec/narrow.tile --arch=sm_80 --ptxas=none --export "r = halves.compile(how='$how', threads=128, product=$product)" -o n.o &&
            $TILEC info n.o | sed -n 's/.*: 4 warps, /    /p' | sort -u
    done
done
