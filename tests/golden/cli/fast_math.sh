# --fast-math: f32 division, roots and functions become the GPU's approximate instructions, in the user's
# code alone; f64 stays as it is, and nothing is approximate without the option.
cat >"$TMP/functions.tile" <<'TEXT'
import math

import tilus
from tilus import float32, float64, int32


class Apply(tilus.Script):
    def __init__(self, function, dtype):
        super().__init__()
        self.function = function
        self.dtype = dtype

    def __call__(self, n: int32, a_ptr: tilus.void_p, b_ptr: tilus.void_p):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.load_global(self.global_view(a_ptr, dtype=self.dtype, shape=[n]), offsets=[0], shape=[32])
        self.store_global(self.global_view(b_ptr, dtype=self.dtype, shape=[n]), self.function(a), offsets=[0])


def ratio(x):
    return 1.0 / (x + 3.0)


NAMES = [math.exp, math.exp2, math.log, math.log2, math.log10, math.sin, math.cos, math.tan, math.tanh, math.sqrt, math.rsqrt]
TEXT
for name in exp exp2 log log2 log10 sin cos tan tanh sqrt rsqrt 'pow' ; do
    function=math.$name
    [ $name = pow ] && function='lambda x: math.pow(x, x)'
    echo "$name: $("$TILEC" "$TMP/functions.tile" --export "f = Apply($function, float32)" --fast-math --arch=sm_80 --emit=ptx -o - | grep -o '[a-z0-9]*\.approx[.a-z0-9]*' | tr '\n' ' ')"
done
for options in '' --fast-math; do for type in float32 float64; do
    echo "division, $type $options: $("$TILEC" "$TMP/functions.tile" --export "f = Apply(ratio, $type)" $options --arch=sm_80 --emit=ptx -o - | grep -o '\(div\|rcp\)\.[a-z0-9.]*' | tr '\n' ' ')"
    echo "exp, $type $options: $("$TILEC" "$TMP/functions.tile" --export "f = Apply(math.exp, $type)" $options --arch=sm_80 --emit=ptx -o - | grep -c approx)"
done; done
cd "$TMP" && "$TILEC" run --device=emulator --fast-math functions.tile 'a = arange(32, float32) * 0.1; b = zeros((32,), float32); Apply(lambda x: ratio(x) + math.tanh(x), float32)(32, a, b); c = zeros((32,), float32); Apply(lambda x: 1.0 / x, float32)(32, a + 3.0, c); print(allclose(b - c, full((32,), 0, float32), 0, 1.001), b[0] == c[0], allclose(b[20:32] - c[20:32], full((12,), 1, float32), 0.05, 0))'
