# A program whose object carries its source: libtilec compiles what it asks for, once; without it the call says what is missing.
cd $TMP
export TILE_DEVICE=emulator TILE_CACHE=$TMP/cache TILE_COMPILER=$TILE_BUILD/libtilec.so
mkdir lib
cat > lib/shapes.py <<'END'
def blocks_of(n, block):
    return (n + block - 1) // block
END
cat > fill.py <<'END'
import tilus
import torch
from tilus import float32, int32

from lib.shapes import blocks_of


class Fill(tilus.Script):
    def __init__(self, block=BLOCK):
        super().__init__()
        self.block = block

    def __call__(self, n: int32, value: float, mode: str, a_ptr: ~float32):
        self.attrs.blocks = blocks_of(n, self.block)
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        tile = self.register_tensor(dtype=float32, shape=[self.block], init=value if mode == "plain" else -value)
        assert mode != "wrong", "there is no such mode"
        self.store_global(a, tile, offsets=[self.blockIdx.x * self.block])


def main():
    print(torch.zeros(4))
END
cat > main.c <<'END'
#include "fill.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void ask(double value, const char *mode)
{
    enum { COUNT = 100 };
    static float host[COUNT];
    static void *a;
    char text[64];
    snprintf(text, sizeof text, "%s", mode); /* a text that does not stay */
    if (!a) tile_alloc(&a, sizeof host);
    memset(host, 0, sizeof host);
    const tile_status status = my_fill(NULL, COUNT, value, text, a);
    tile_copy_out(host, a, sizeof host, NULL);
    if (status)
        printf("%s: %s\n", tile_status_name(status), tile_last_error());
    else
        printf("%g %g\n", host[0], host[COUNT - 1]);
}
int main(int count, char **words)
{
    for (int i = 1; i + 1 < count; i += 2) ask(atof(words[i]), words[i + 1]);
    return 0;
}
END
build() { # OPTION...
    $TILEC fill.py --arch=emulator:sm_80 -DBLOCK=64 --export 'fill = Fill().compile(value=1.0, mode="plain")' --prefix my_ -o fill.o -H fill.h "$@" &&
    $TILE_CC -I$TILE_ROOT/runtime/include -I. main.c fill.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -o $program -ldl -lpthread -lm
}
program=app build --with-source
program=plain build
mkdir away; mv lib fill.py away # what is needed travels in the object
echo '== asked for'
mkdir tools # what the emulator runs does not follow from this ptxas
printf '#!/bin/sh\nexit 1\n' > tools/ptxas
chmod +x tools/ptxas
PATH=$TMP/tools:$PATH CUDA_HOME= ./app 1 plain 2.5 plain 2.5 minus 2.5 plain
ls cache | wc -l
echo '== a second process finds it'
PATH=/none CUDA_HOME= ./app 2.5 minus
ls cache | wc -l
echo '== what cannot be compiled'
./app 1 wrong 1 wrong 3 plain
echo '== without the library, without the source'
TILE_COMPILER=off ./app 2.5 plain
TILE_COMPILER=libnone.so ./app 2.5 plain
./plain 2.5 plain | tee said
echo '== the line that it names'
mv away/* .
line=$(sed "s/.*--export '\(.*\)' to .*/\1/" said)
program=more build --export "$line" && TILE_COMPILER=off ./more 2.5 plain 1 plain
echo '== threads: tensors of several sizes, two threads each, a value that calls cannot give'
cat > add.py <<'END'
import tilelang
import tilelang.language as L


def twice(x):
    return x * 2.0


@tilelang.jit
def add(A: L.Tensor[[L.dyn["m"], int], L.float32], B: L.Tensor[[int], L.float32], scale: float, function=None):
    m, n = A.shape
    C = L.empty((m, n), L.float32)
    with L.Kernel(L.ceildiv(m, 8), threads=32) as bx:
        for i, j in L.Parallel(8, n):
            C[bx * 8 + i, j] = function(A[bx * 8 + i, j]) + B[j] * scale
    return C


add.compile(A=L.Tensor((8, 32), L.float32), B=L.Tensor((32,), L.float32), scale=2.0, function=twice)
END
cat > threads.c <<'END'
#include "add.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
enum { ROWS = 5, MOST = 64, THREADS = 8 };
static void *call(void *context)
{
    int64_t n = (int64_t)(intptr_t)context, matrix[] = {ROWS, n};
    float host[ROWS * MOST];
    void *a, *b, *c;
    tile_alloc(&a, sizeof host), tile_alloc(&b, sizeof host), tile_alloc(&c, sizeof host);
    for (int i = 0; i < ROWS * MOST; i++) host[i] = (float)i;
    tile_copy_in(a, host, sizeof host, NULL), tile_copy_in(b, host, sizeof host, NULL);
    const DLDevice device = {kDLCPU, 0};
    const DLDataType type = {kDLFloat, 32, 1};
    DLTensor A = {a, device, 2, type, matrix, NULL, 0}, B = {b, device, 1, type, &n, NULL, 0}, C = {c, device, 2, type, matrix, NULL, 0};
    for (int again = 0; again < 3; again++) {
        if (add(NULL, &A, &B, 3.0, &C)) printf("%s\n", tile_last_error());
        tile_copy_out(host, c, sizeof host, NULL);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < n; j++)
                if (host[i * n + j] != 2 * (float)(i * n + j) + 3 * (float)j) return "wrong";
    }
    return "right";
}
int main(void)
{
    pthread_t threads[THREADS];
    void *said;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, call, (void *)(intptr_t)(16 + i / 2 * 16));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], &said), printf("%s\n", (const char *)said);
    return 0;
}
END
$TILEC add.py --with-source --arch=emulator -o add.o -H add.h && $TILEC info add.o | sed -n 2p &&
$TILE_CC -I$TILE_ROOT/runtime/include -I. threads.c add.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -o threads -ldl -lpthread -lm
rm -rf cache
./threads | sort | uniq -c
ls cache | wc -l
echo '== threads of a block'
cat > twice.py <<'END'
import warp as wp


@wp.kernel
def twice(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] * float(wp.block_dim())


twice.compile(block_dim=64)
END
cat > twice.c <<'END'
#include "twice.h"
#include <stdio.h>
int main(void)
{
    int64_t n = 100;
    float host[100];
    void *a, *b;
    tile_alloc(&a, sizeof host), tile_alloc(&b, sizeof host);
    for (int i = 0; i < n; i++) host[i] = (float)i;
    tile_copy_in(a, host, sizeof host, NULL);
    DLTensor A = {a, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &n, NULL, 0}, B = A;
    B.data = b;
    for (int block = 32; block <= 128; block *= 2) {
        if (twice(NULL, (int32_t)n, &A, &B, block, 0)) printf("%s\n", tile_last_error());
        tile_copy_out(host, b, sizeof host, NULL);
        printf("%d threads: %g\n", block, host[99] / 99);
    }
    return 0;
}
END
$TILEC twice.py --with-source --arch=emulator -o twice.o -H twice.h &&
$TILE_CC -I$TILE_ROOT/runtime/include -I. twice.c twice.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -o twice -ldl -lpthread -lm && ./twice
echo '== configurations, on a driver that pretends'
cat > scale.py <<'END'
import tilus
from tilus import float32, int32


@tilus.autotune("block", [32, 1 << 20, 64])
class Scale(tilus.Script):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def __call__(self, n: int32, by: int, a_ptr: ~float32):
        self.attrs.blocks = n // self.block
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        offset: int32 = self.block * self.blockIdx.x
        shared = self.shared_tensor(dtype=float32, shape=[self.block])
        self.store_shared(shared, self.load_global(a, offsets=[offset], shape=[self.block]))
        self.sync()
        self.store_global(a, self.load_shared(shared) * by, offsets=[offset])
END
cat > scale.c <<'END'
#include "scale.h"
#include <stdio.h>
static void hear(const char *text, void *context) { (void)context; printf("%s\n", text); }
int main(void)
{
    void *a;
    tile_plan plan;
    tile_set_log(hear, NULL);
    tile_alloc(&a, 4096);
    for (int i = 0; i < 2; i++) {
        const tile_status status = scale(NULL, 1024, 5, a);
        printf("%s\n", status ? tile_last_error() : "fine");
        if (!scale_plan(1024, 5, a, &plan)) printf("%s, configuration %u\n", plan.target, plan.specialisation);
    }
    return 0;
}
END
printf '#!/bin/sh\nfor last in "$@"; do [ "$before" = -o ] && echo cubin > "$last"; before=$last; done\n' > ptxas
chmod +x ptxas
$TILEC scale.py --with-source --ptxas=none --arch=sm_90a --export 'scale = Scale().compile(by=3)' -o scale.o -H scale.h 2> said
$TILE_CC -I$TILE_ROOT/runtime/include -I. scale.c scale.o $TILE_BUILD/libtile.a -o scale -ldl -lpthread
export TILE_DEVICE=cuda TILE_CUDA_LIBRARY=$TILE_BUILD/unit/libfake_cuda.so CUDA_HOME=
PATH=$TMP:$PATH FAKE_CUDA_COSTS=by_5_2=1,by_5=3 ./scale
echo '== refused'
$TILEC --with-source --stdlib=. none.tile -o none.o
