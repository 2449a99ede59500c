# What spills is given to ptxas once more, in its own order if it was to keep ours, and the other way ~iteration~; what spills less is kept. Then indices are computed again; not where far too much spills.
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
. $TILE_ROOT/tests/tools/fake_ptxas.bash
echo "$level" >> log
if [ $level = -O3 ]; then answer 255 $FIRST; else answer 255 $OTHER; fi
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
echo "== too many for that to help"; build 5000 5000
