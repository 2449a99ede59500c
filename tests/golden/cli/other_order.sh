# What spills is given to ptxas once more, in its own order if it was to keep ours, and the other way ~iteration~; what spills less is kept.
cd $TMP
cat > add.py <<'END'
import warp as wp

@wp.kernel
def add(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(b, i % 7, a[i])
END
cat > ptxas <<'END'
#!/bin/bash
for last in "$@"; do
    [ "$before" = -o ] && cubin=$last
    [[ $last == *.ptx ]] && ptx=$last
    [[ $last == -O? ]] && level=$last
    before=$last
done
name=$(sed -n 's/.*\.entry \([a-z_0-9]*\).*/\1/p' "$ptx" | head -1)
echo "$level" >> log
spills=$FIRST
[ $level = -O3 ] || spills=$OTHER
echo "ptxas info    : Compiling entry function '$name' for 'sm_90a'"
echo "    0 bytes stack frame, $spills bytes spill stores, 0 bytes spill loads"
echo "ptxas info    : Used 255 registers, used 0 barriers"
echo "cubin" > "$cubin"
END
chmod +x ptxas
build() { # FIRST OTHER
    rm -f log
    FIRST=$1 OTHER=$2 $TILEC add.py --arch=sm_90a --no-cache --ptxas=./ptxas --export "k = add.compile(block_dim=256)" -o k.o -H k.h 2> /dev/null
    uniq -c log
    $TILEC info k.o | grep -o '[0-9]* registers, [0-9]* bytes of spills'
}
echo "== none"; build 0 0
echo "== less in the other order"; build 16 0
echo "== more in the other order"; build 16 24
