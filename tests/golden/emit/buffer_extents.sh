# How much memory tuning saves of each pointer: the host part counts from the pointer on, to the end of the furthest view.
cd $TMP
cat > rows.py <<'END'
import tilus
from tilus import float16, float32, int32
from tilus.utils import cdiv


@tilus.autotune("block", [32, 64])
class Rows(tilus.Script):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def __call__(self, m: int32, n: int32, first: int32, start: ~int32, whole: ~float32, row: ~float32, tiles: ~float16, steps: ~float32,
                 moved: ~float32, chosen: ~float32):
        self.attrs.blocks = [m, cdiv(n, self.block)]
        self.attrs.warps = 1
        i: int32 = self.blockIdx.x
        j: int32 = self.blockIdx.y
        self.add(self.global_view(whole, dtype=float32, shape=[m, n]), [i, j * self.block], [1, self.block])
        # one row of n, a block's tile, four steps of 8, all behind an argument, behind what is read from memory
        self.add(self.global_view(row + i * n, dtype=float32, shape=[n]), [j * self.block], [self.block])
        self.add(self.global_view(tiles + (i * 128 + j * self.block), dtype=float16, shape=[self.block]), [0], [self.block])
        for k in range(0, 32, 8):
            self.add(self.global_view(steps + k, dtype=float32, shape=[8]), [0], [8])
        self.add(self.global_view(moved + first, dtype=float32, shape=[n]), [j * self.block], [self.block])
        starts = self.global_view(start, dtype=int32, shape=[m])
        self.add(self.global_view(chosen + starts[i].item(), dtype=float32, shape=[n]), [j * self.block], [self.block])

    def add(self, view, offsets, shape):
        self.store_global(view, self.load_global(view, offsets=offsets, shape=shape) + 1, offsets=offsets)


rows = Rows()
END
cat > main.c <<'END'
#include "rows.h"
#include <stdio.h>
static void show(int32_t m, int32_t n, int32_t first)
{
    void *none = NULL;
    const void *arguments[] = {&m, &n, &first, &none, &none, &none, &none, &none, &none, &none};
    tile_grid grid;
    uint64_t spans[10] = {0};
    const char *complaint = NULL;
    for (int i = 0; i < 2; i++) rows_kernel.specialisations[i].host(arguments, &grid, NULL, NULL, &complaint, spans);
    printf("%d x %d, %d:", m, n, first);
    for (int i = 3; i < 10; i++)
        spans[i] == TILE_UNKNOWN_SPAN ? printf(" %s unknown", rows_kernel.parameters[i].name)
                                      : printf(" %s %llu", rows_kernel.parameters[i].name, (unsigned long long)spans[i]);
    printf("\n");
}
int main(void)
{
    show(3, 100, 5);
    show(1, 64, 0);
    show(7, 1, -1);
    show(0, 100, 2);
    return 0;
}
END
$TILEC rows.py --ptxas=none --arch=sm_90a -o rows.o -H rows.h &&
$TILE_CC -I$TILE_ROOT/runtime/include -I. main.c rows.o $TILE_BUILD/libtile.a -o main -ldl -lpthread && ./main
