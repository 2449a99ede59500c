# A kernel that keeps blocks off a multiprocessor by not many registers is given to ptxas again, which is asked for
# another block; what it then gives is kept if nothing is spilled.
cd $TMP
cat > add.py <<'END'
import warp as wp

@wp.kernel
def add(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[2 * i] = a[i] + b[2 * i]
END
cat > ptxas <<'END'
#!/bin/bash
. $TILE_ROOT/tests/tools/fake_ptxas.bash
echo "asked for $blocks blocks of $threads" >> log
if [ "$blocks" = 1 ]; then answer $FIRST 0; else answer $SECOND $SPILLS; fi
END
chmod +x ptxas
build() { # FIRST SECOND SPILLS BLOCK_DIM
    rm -f log
    FIRST=$1 SECOND=$2 SPILLS=$3 $TILEC add.py --arch=sm_90a --no-cache --ptxas=./ptxas --export "k = add.compile(${4:+block_dim=$4})" -o k.o -H k.h
    sort log | uniq -c
    $TILEC info k.o | grep -o '[0-9]* registers, [0-9]* bytes of spills'
}
echo "== fewer registers will do"; build 48 40 0 512
echo "== not without spills"; build 48 40 8 512
echo "== too many to give up"; build 120 64 0 512
echo "== enough threads as it is"; build 40 32 0 256
echo "== no fewer registers, though asked"; build 100 100 0 128
cat > add.py <<'END'
import tilus
from tilus import float32

class Copy(tilus.Script):
    def __call__(self, a: ~float32, b: ~float32):
        self.attrs.blocks = BLOCKS
        self.attrs.warps = 16
        x = self.load_global(self.global_view(a, dtype=float32, shape=[BLOCKS * 512]), offsets=[self.blockIdx.x * 512], shape=[512])
        self.store_global(self.global_view(b, dtype=float32, shape=[BLOCKS * 512]), x, offsets=[self.blockIdx.x * 512])

add = Copy()
END
sed -i '1i BLOCKS = 264' add.py
echo "== a grid that gives two"; build 48 40 0 ""
sed -i 's/264/265/' add.py
echo "== a grid that gives three"; build 48 40 0 ""
