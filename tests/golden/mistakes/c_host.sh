# What a new user gets wrong in programs of C: what the C compiler, the linker and libtile say. Each message of libtile is one line; a
# specialisation that it says to add is added as it says, and then there is no fault.
cd $TMP
cat >add.py <<'EOF'
import tilus
from tilus import float32, int32

class Add(tilus.Script):
    def __call__(self, n: int32, width: int, a: ~float32, b: ~float32):
        self.attrs.blocks = (n + 63) // 64
        self.attrs.warps = 2
        ga = self.global_view(a, dtype=float32, shape=[n])
        gb = self.global_view(b, dtype=float32, shape=[n])
        x = self.load_global(ga, offsets=[self.blockIdx.x * 64], shape=[64])
        self.store_global(gb, x + 1.0, offsets=[self.blockIdx.x * 64])

add = Add()
EOF
cat >scale.py <<'EOF'
import warp as wp

@wp.kernel
def scale(n: int, a: wp.array(dtype=float), b: wp.array2d(dtype=float)):
    i = wp.tid()
    if i < n:
        b[i, 0] = 2.0 * a[i]

scale.compile(block_dim=64)
EOF
build() { # FILES: with what exports.NAME say
    for name in add scale; do
        local exports=() line
        [ ! -f exports.$name ] || while IFS= read -r line; do exports+=(--export "$line"); done <exports.$name
        "$TILEC" $name.py --arch=emulator -o $name.o -H $name.h "${exports[@]}"
    done
}
compile() { # TITLE STATEMENTS: what cc says of them, or the program
    cat >use.c <<EOF
#include "add.h"
#include "scale.h"

#include <stdio.h>

#define SHOW(call) do { const tile_status status = (call); puts(status ? tile_last_error() : "no fault"); } while (0)

int main(void)
{
    float *a, *b;
    int64_t a_shape[] = {128}, b_shape[] = {128, 1};
    tile_set_device("emulator");
    tile_alloc((void **)&a, 512);
    tile_alloc((void **)&b, 512);
    static const float zeros[128];
    tile_copy_in(a, zeros, sizeof zeros, NULL);
    DLTensor A = {.data = a, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = a_shape};
    DLTensor B = {.data = b, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = b_shape};
    (void)A; (void)B;
    $2
    return 0;
}
EOF
    echo "== $1"
    $TILE_CC -std=c99 -Wall -Werror -I"$TILE_ROOT/runtime/include" -I. -c use.c -o use.o 2>&1 | sed -n 's/^use.c:.*error: /cc: /p' | head -1
}
run() { # TITLE STATEMENTS
    compile "$1" "$2"
    $TILE_CC use.o add.o scale.o "$TILE_BUILD"/libtile_emulator.a "$TILE_BUILD"/libtile.a -lpthread -ldl -lm -o use && ./use 2>&1 | sed 's/0x[0-9a-f]\{4,\}/ADDRESS/g'
}
echo 'add = add.compile(width=4)' >exports.add
build
run 'right' 'SHOW(add(NULL, 128, 4, a, b)); SHOW(scale(NULL, 128, 128, &A, &B, 64, 0));'
compile 'the pointers before the number' 'SHOW(add(NULL, a, b, 128, 4));'
compile 'a key left out' 'SHOW(add(NULL, 128, a, b));'
compile 'a tensor by value' 'SHOW(scale(NULL, 128, 128, A, B, 64, 0));'
run 'a key that was not compiled' 'SHOW(add(NULL, 128, 8, a, b));'
sed -n "s/.*--export '\([^']*\)'.*/\1/p" <(./use) >more; echo "the line: $(cat more)"; cat more >>exports.add; build
run 'the same, with the line that was told' 'SHOW(add(NULL, 128, 8, a, b));'
run 'threads that were not compiled' 'SHOW(scale(NULL, 128, 128, &A, &B, 32, 0));'
./use | sed -n "s/.*--export '\([^']*\)'.*/\1/p" >more; echo "the line: $(cat more)"
sed "s/^scale.compile.*/&\n$(sed 's/^[a-z]* = //' more)/" scale.py >both.py; mv both.py scale.py; build
run 'the same, with the line in the file' 'SHOW(scale(NULL, 128, 128, &A, &B, 32, 0));'
run 'the tensors in the wrong order' 'SHOW(scale(NULL, 128, 128, &B, &A, 64, 0));'
run 'no tensor' 'SHOW(scale(NULL, 128, 128, NULL, &B, 64, 0));'
run 'a tensor without memory' 'A.data = NULL; SHOW(scale(NULL, 128, 128, &A, &B, 64, 0));'
run 'a tensor of another type' 'A.dtype.bits = 64; SHOW(scale(NULL, 128, 128, &A, &B, 64, 0));'
run 'no pointer' 'SHOW(add(NULL, 128, 4, NULL, b));'
run 'memory that is too small' 'SHOW(add(NULL, 130, 4, a, b));'
run 'memory that nobody wrote' 'SHOW(add(NULL, 128, 4, b, a));'
run 'a device that there is not' 'SHOW(tile_set_device("gpu"));'
compile 'the emulator is not linked' 'SHOW(add(NULL, 128, 4, a, b));'
$TILE_CC use.o add.o scale.o "$TILE_BUILD"/libtile.a -lpthread -ldl -lm -o use 2>&1 | grep -o 'undefined reference to .*' | head -1
echo '== the object is not linked'
$TILE_CC use.o scale.o "$TILE_BUILD"/libtile_emulator.a "$TILE_BUILD"/libtile.a -lpthread -ldl -lm -o use 2>&1 | grep -o 'undefined reference to .*' | head -1
