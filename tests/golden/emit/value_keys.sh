# Keys that are floats and texts, compared exactly; element types, which a call says by its tensors or not at all; values that
# no call can give.
cat >"$TMP/scale.tile" <<'TILE'
import tilus
from tilus import float32, int32


class Scale(tilus.Script):
    def __call__(self, n: int32, alpha: float, mode: str, ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(ptr, dtype=float32, shape=[n])
        t = self.load_global(g, offsets=[0], shape=[32])
        if mode == "times":
            t = t * alpha
        elif mode == "":
            t = t + alpha
        else:
            t = t - alpha
        self.store_global(g, t, offsets=[0])


scale = Scale()
scale.compile(alpha=0.1, mode="times")
scale.compile(alpha=2, mode="times")
scale.compile(alpha=0.1, mode="")
scale.compile(alpha=-0.0, mode='a "text" */ é')
TILE
cat >"$TMP/cast.tile" <<'TILE'
import tilelang.language as T
from tilelang import lazy_jit


@lazy_jit
def cast(A: T.Tensor[[T.dyn["n"]], T.float32], out_dtype: T.dtype = T.float32, between: T.dtype = T.float16, factor=1.0, stages=2, how="up", rest=None):
    (n,) = A.shape
    B = T.empty((n,), out_dtype)
    with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
        for i in T.Parallel(32):
            B[bx * 32 + i] = T.cast(A[bx * 32 + i] * factor, between) + (stages if how == "up" else 0)
    return B


cast.compile(T.Tensor((1,), T.float32))
TILE
cat >"$TMP/main.c" <<'C'
#include "scale.h"
#include "cast.h"
#include <stdio.h>
#include <string.h>

static void scaled(void *data, double alpha, const char *mode)
{
    float values[4] = {1, 2, 3, 4};
    tile_copy_in(data, values, sizeof values, NULL);
    tile_status status = scale(NULL, 4, alpha, mode, data);
    tile_copy_out(values, data, sizeof values, NULL);
    if (status)
        printf("%s: %s\n", tile_status_name(status), tile_last_error());
    else
        printf("%.9g, %s: %.9g %.9g\n", alpha, mode, (double)values[0], (double)values[3]);
}

static void casted(void *from, void *to, uint8_t bits)
{
    int64_t shape[1] = {4};
    float values[4] = {0.5f, 2049, 3, 4};
    uint16_t halves[4];
    DLTensor a = {.device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape, .data = from};
    DLTensor b = a;
    b.data = to;
    b.dtype.bits = bits;
    tile_copy_in(from, values, sizeof values, NULL);
    tile_status status = cast(NULL, &a, 1.0, 2, "up", &b);
    if (status) {
        printf("%s: %s\n", tile_status_name(status), tile_last_error());
        return;
    }
    tile_copy_out(values, to, sizeof values, NULL);
    memcpy(halves, values, sizeof halves);
    if (bits == 32)
        printf("float32: %g %g\n", (double)values[0], (double)values[1]);
    else
        printf("float16: %#x %#x\n", halves[0], halves[1]);
}

int main(void)
{
    void *data, *more;
    tile_set_device("emulator");
    if (tile_alloc(&data, 16) || tile_alloc(&more, 16)) return 1;
    char mode[] = "times"; /* another address than the key's */
    scaled(data, 0.1, mode);
    scaled(data, 2, mode);
    scaled(data, 0.1, "");
    scaled(data, -0.0, "a \"text\" */ \xc3\xa9");
    scaled(data, 0.0, "a \"text\" */ \xc3\xa9");
    scaled(data, 0.1f, mode);
    scaled(data, 1.0 / 3, "new\n");
    scaled(data, 2, NULL);
    casted(data, more, 32);
    casted(data, more, 16);
    return 0;
}
C
cd "$TMP" || exit
program() {
    "$TILEC" scale.tile --arch=emulator -o scale.o -H scale.h && "$TILEC" cast.tile --arch=emulator -o cast.o -H cast.h &&
        $TILE_CC -Wall -Wextra -I"$TILE_ROOT/runtime/include" main.c scale.o cast.o "$TILE_BUILD"/libtile_emulator.a "$TILE_BUILD"/libtile.a -lpthread -ldl -lm -o main && ./main
}
told() { "$TILEC" info "$1" | grep -E '^[a-z_]+\(|^  (tensor|returns|with)' | sed 's/, ABI.*//'; }
entries() { grep -h -E '^tile_status [a-z]+\(tile_stream| \*   ' "$@"; }
program
entries scale.h cast.h
told scale.o
echo "-- the IR is read back as it was written"
"$TILEC" scale.tile --emit=ir -o scale.ir && "$TILEC" scale.ir --emit=ir | diff - scale.ir && grep -o 'kernel .*mode: [^,]*,' scale.ir
"$TILEC" scale.tile --arch=emulator --emit=manifest -o - | grep -o '"keys": {[^}]*}'
echo "-- a type that tells specialisations apart comes with the result"
echo 'cast.compile(T.Tensor((1,), T.float32), out_dtype=T.float16)' >>cast.tile
program | tail -2
entries cast.h
told cast.o
echo "-- what no call can give"
for arguments in 'between=T.float32' 'rest=[1]' 'rest=lambda x: x' 'rest="text"' 'how="a\0b"'; do
    { cat cast.tile; echo "cast.compile(T.Tensor((1,), T.float32), $arguments)"; } >more.tile
    "$TILEC" more.tile --arch=emulator -o more.o
done
sed -i 's/alpha=2/alpha="2"/; s/mode=""/mode=3/' scale.tile
"$TILEC" scale.tile --arch=emulator -o scale.o
