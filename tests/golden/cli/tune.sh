# Configurations measured on a driver that pretends; what was found is an input of the next compile.
cd $TMP
export TILE_DEVICE=cuda TILE_CUDA_LIBRARY=$TILE_BUILD/unit/libfake_cuda.so TILE_CACHE=$TMP/cache
cat > scale.py <<'END'
import tilus
from tilus import float32, int32
from tilus.utils import cdiv


@tilus.autotune("block, warps", [(32, 1), (64, 1), (64, 2)])
class Scale(tilus.Script):
    def __init__(self, block, warps):
        super().__init__()
        self.block = block
        self.warps = warps

    def __call__(self, n: int32, by: int, a_ptr: ~float32):
        self.attrs.blocks = cdiv(n, self.block)
        self.attrs.warps = self.warps
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        offset: int32 = self.block * self.blockIdx.x
        tile = self.load_global(a, offsets=[offset], shape=[self.block])
        self.store_global(a, tile * by, offsets=[offset])
END
cat > ptxas <<'END'
#!/bin/sh
for last in "$@"; do [ "$before" = -o ] && echo cubin > "$last"; before=$last; done
END
chmod +x ptxas
tune() { $TILEC tune scale.py --ptxas=./ptxas --arch=sm_90a "$@"; }
call='Scale()(4096, 3, zeros((4096,), float32))'
echo '== a plan'
tune --args "$call" --args 'Scale()(5000, 3, zeros((5000,), float32))' --args 'Scale(block=64)(10, 2, zeros((10,), float32))' --plan
echo '== measured'
FAKE_CUDA_COSTS=run0_0=3,run0_1=1,run0_2=2 tune --args "$call" -o one.json && cat one.json
FAKE_CUDA_COSTS=run0_0=1,run0_1=2,run0_2=3 tune "k = Scale(); a = zeros((9000,), float32); k(9000, 3, a)" -o two.json
ls cache 2>/dev/null
echo '== merged'
$TILEC tune --merge one.json two.json one.json -o both.json && cat both.json
echo '== built in'
build() { $TILEC scale.py --ptxas=./ptxas --arch=sm_90a --export 'scale = Scale().compile(by=3)' -o $1.o -H scale.h "${@:2}"; }
build plain
build tuned --tune both.json -MMD
tr ' ' '\n' < tuned.d | grep json
cmp -s plain.o tuned.o || echo 'the objects differ'
$TILEC info tuned.o | grep configuration
cat > main.c <<'END'
#include "scale.h"
#include <stdio.h>
int main(void)
{
    static const int32_t sizes[] = {4096, 5000, 9000};
    for (int i = 0; i < 3; i++) {
        tile_plan plan = {0};
        tile_status status = scale(NULL, sizes[i], 3, &plan); /* never followed */
        if (status) printf("%s: %s\n", tile_status_name(status), tile_last_error());
        status = scale_plan(sizes[i], 3, &plan, &plan);
        printf("%d: configuration %u\n", sizes[i], plan.specialisation);
    }
    return 0;
}
END
$TILE_CC -I$TILE_ROOT/runtime/include -I. main.c tuned.o $TILE_BUILD/libtile.a -o main -ldl -lpthread && TILE_TUNE=off ./main
echo '== an object, whose program is not at hand'
FAKE_CUDA_COSTS=by_3_2=1,by_3_1=2,by_3=3 $TILEC tune plain.o --args 'scale(9000, 3, zeros((9000,), float32))' -o object.json && cat object.json
build from_object --tune object.json
$TILE_CC -I$TILE_ROOT/runtime/include -I. main.c from_object.o $TILE_BUILD/libtile.a -o main -ldl -lpthread && TILE_TUNE=off ./main
$TILEC run plain.o 'scale(9000, 4, zeros((9000,), float32))' 2>&1 | cut -c1-80
$TILEC run plain.o 'scale(9000, zeros((9000,), float32), 3)' 2>&1 | head -1
$TILEC run plain.o 'scale(2 ** 40, 3, zeros((9000,), float32))' 2>&1 | head -1
$TILEC run plain.o 'scale(9000, a_ptr=zeros((9000,), float32))' 2>&1 | head -1
$TILEC tune plain.o --plan --args 'scale(9000, 3, zeros((9000,), float32))'
head -c 3000 plain.o > cut.o; $TILEC run cut.o 'print(1)'
echo 'int kernel_of_another_kind;' | $TILE_CC -c -x c - -o other.o; $TILEC run other.o 'print(1)'
echo '== two types'
cat > double.py <<'END'
import tilelang
import tilelang.language as T


@tilelang.autotune(configs=[dict(block=32), dict(block=64)])
@tilelang.jit
def twice(A: T.Tensor[[T.dyn["n"]], None], block: int = 16):
    n, = A.shape
    with T.Kernel(T.ceildiv(n, block), threads=32) as bx:
        for i in T.Parallel(block):
            A[bx * block + i] = A[bx * block + i] * 2
END
FAKE_CUDA_COSTS=run0_1=2,run0=1,_1=1,run=2 $TILEC tune double.py --ptxas=./ptxas --arch=sm_90a --args 'twice(zeros((500,), float32))' --args 'twice(zeros((500,), float16))' -o double.json
$TILEC double.py --ptxas=./ptxas --arch=sm_90a --tune double.json -o double.o -H double.h --export 'twice = twice.compile(T.Tensor((8,), T.float16))' --export 'twice = twice.compile(T.Tensor((8,), T.float32))'
cat > double.c <<'END'
#include "double.h"
#include <stdio.h>
int main(void)
{
    for (int bits = 16; bits <= 32; bits *= 2) {
        int64_t n = 500;
        DLTensor a = {(void *)256, {kDLCUDA, 0}, 1, {kDLFloat, (uint8_t)bits, 1}, &n, NULL, 0};
        tile_plan plan = {0};
        if (twice(NULL, &a)) printf("%s\n", tile_last_error());
        if (twice_plan(&a, &plan)) printf("%s\n", tile_last_error());
        printf("%d bits: specialisation %u\n", bits, plan.specialisation);
    }
    return 0;
}
END
$TILE_CC -I$TILE_ROOT/runtime/include -I. double.c double.o $TILE_BUILD/libtile.a -o double -ldl -lpthread && TILE_TUNE=off ./double
echo '== whatever the order, and from the cache or not'
entry() { echo "{\"kernel\": \"Scale\", \"keys\": {\"by\": \"3\"}, \"sizes\": {\"n\": $1}, \"device\": \"$2\", \"choice\": \"block=$3\"}"; }
file() { echo "{\"tile_tuning\": 1, \"entries\": [$(IFS=,; echo "$*")]}"; }
any=$(entry 20 '*' '64, warps=1') one=$(entry 20 'Fake GPU 0' '64, warps=2') small=$(entry 10 '*' '64, warps=1')
file "$any" "$one" "$small" > order.json; file "$small" "$one" "$any" > turned.json
$TILEC tune --merge order.json -o sorted.json && grep device sorted.json
TILEC_CACHE=off build a --tune order.json; TILEC_CACHE=off build b --tune turned.json
TILEC_CACHE=$TMP/builds build c --tune order.json; TILEC_CACHE=$TMP/builds build c --tune order.json
cmp a.o b.o; cmp a.o c.o
echo '== refused'
for number in nan 1e400 0x1p60; do file "${small/10/$number}" > number.json; build none --tune number.json 2>&1 | head -1; done
file "${small/\"sizes\"/\"compute\": -1e30, \"sizes\"}" > number.json; build none --tune number.json 2>&1 | head -1
sed 's/block=64, warps=1/block=128, warps=1/' one.json > old.json; build old --tune old.json 2>&1 | head -1
sed 's/"choice"/"chosen"/' one.json > bad.json; build bad --tune bad.json
head -c 150 one.json > cut.json; build cut --tune cut.json
build none --tune none.json
$TILEC tune scale.py
TILE_DEVICE=emulator TILE_CUDA_LIBRARY= $TILEC tune scale.py --args "$call"; echo "status $?"
