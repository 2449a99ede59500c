# What a run asked for, as exports of the next compile.
cd $TMP
export TILE_DEVICE=emulator TILE_RECORD=$TMP/asked.txt
cat > k.tile <<'END'
import tilus
from tilus import float32, int32


class Fill(tilus.Script):
    def __call__(self, n: int32, value: int, a_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        self.store_global(a, self.register_tensor(dtype=float32, shape=[32], init=value), offsets=[0])


fill = Fill()
END
cat > main.c <<'END'
#include "k.h"
#include <stdio.h>
int main(void)
{
    void *a;
    tile_alloc(&a, 128);
    for (int value = 1; value <= 3; value++)
        for (int again = 0; again < 2; again++)
            printf("%s\n", tile_status_name(fill(NULL, 32, value, a)));
    return 0;
}
END
build() {
    $TILEC k.tile --arch=emulator "$@" -o k.o -H k.h -MMD &&
    $TILE_CC -I$TILE_ROOT/runtime/include -I. main.c k.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -o main -ldl -lpthread -lm && ./main
}
build --export 'fill = fill.compile(value=2)'
cat asked.txt
mv asked.txt kept.txt; printf '# nothing\n\nfill = fill.compile(value=2)\n' >> kept.txt
echo '== built'
build --export @kept.txt
build --export=@kept.txt | sort | uniq -c
tr ' ' '\n' < k.d | grep kept
echo '== refused'
$TILEC k.tile --export @none.txt -o k.o
TILE_RECORD=/proc/none/such ./main | uniq -c
