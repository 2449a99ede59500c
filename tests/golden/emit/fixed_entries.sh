# NAME_fixed: an entry without keys where all specialisations are for the same ones, for C and C++ and whatever the keys and arguments are.
cd "$TMP" || exit
cat > scale.tile <<'END'
import tilus
from tilus import float32, int32


class Scale(tilus.Script):
    def __call__(self, n: int32, scale: float, mode: str, size: int, flag: bool, ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(ptr, dtype=float32, shape=[n])
        t = self.load_global(g, offsets=[0], shape=[size])
        self.store_global(g, t * scale, offsets=[0])


scale = Scale()
END
one='scale.compile(scale=-0.0, mode="a \"??= \\ é\n0", size=32, flag=True)'
entry() { # LINE...
    { cat scale.tile; printf '%s\n' "$@"; } > one.tile
    "$TILEC" one.tile --arch=emulator -o one.o -H one.h && grep -A3 _fixed one.h || echo "no such entry"
}
entry "$one"
cat > main.c <<'END'
#include "one.h"
#include <stdio.h>
int main(void)
{
    float x[4] = {1, 2, 3, 4};
    int32_t n = 4;
    tile_status status = scale_fixed(NULL, n, x);
    printf("%d %g %g\n", (int)status, (double)x[0], (double)x[3]);
    return 0;
}
END
cp main.c main.cpp
$TILE_CC -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$TILE_ROOT/runtime/include" main.c one.o "$TILE_BUILD"/libtile_emulator.a "$TILE_BUILD"/libtile.a -lm -lpthread -ldl -o main &&
    TILE_DEVICE=emulator TILE_EMULATOR=fast ./main
g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$TILE_ROOT/runtime/include" -c main.cpp -o main.o
echo '== other keys'; entry "$one" 'scale.compile(scale=1.0, mode="", size=32, flag=False)'
echo '== no literal'; entry 'scale.compile(scale=float("inf"), mode="", size=32, flag=False)'
echo '== configurations of one'
sed -i 's/^class/@tilus.autotune("block", [32, 64])\nclass/; s/    def __call__/    def __init__(self, block: int):\n        super().__init__()\n        self.block = block\n\n&/; s/shape=\[size\]/shape=[self.block]/' scale.tile
entry "$one"
echo '== a name that is taken'
printf 'scale_fixed = scale\nscale_fixed.compile(scale=1.0, mode="", size=32, flag=False)\n' > more
"$TILEC" scale.tile --arch=emulator --export 'scale = Scale().compile(scale=1.0, mode="", size=32, flag=True)' \
    --export 'scale_fixed = Scale().compile(scale=1.0, mode="", size=32, flag=True)' -o two.o 2>&1 | grep error
