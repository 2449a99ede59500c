# Products that are added to are fmas in the text of a kernel, its gradient and the vectors of its dialect, and those of tiles where that takes no
# registers, unless it is told otherwise, in any of the spellings that there are for it. What the library's functions are made of is the same in
# both cases.
cat >"$TMP/tilus.tile" <<'END'
import math
import tilus
from tilus import float16, float32, float64, int32


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


class Apart(Apply):
    __fuse_fp__ = False


def own(x):
    return x * x + x - x * x * x


ONE = [math.exp, math.exp2, math.expm1, math.log, math.log2, math.log10, math.log1p, math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh,
       math.cosh, math.tanh, math.asinh, math.acosh, math.atanh, math.erf, math.erfc, math.cbrt, math.rsqrt, math.fast_exp, math.fast_log, math.fast_sin, math.fast_tanh]
TWO = [math.pow, math.atan2, math.fmod, math.hypot, math.remainder]


def every(x):
    result = x
    for function in ONE:
        result = where(function(x) > result, function(x), result)
    for function in TWO:
        result = where(function(x, result) > result, x, result)
    return result


from __core__ import where
END
count() { # FILE [OPTIONS]: what is computed in PTX
    "$TILEC" "$@" --arch=sm_80 --emit=ptx -o - | grep -o '\(fma\|add\|sub\|mul\)\.\(rn\.\)\?f[136][624]' | sort | uniq -c | tr -s ' \n' ' '
    echo
}
for class in 'Apply(own, float32)' 'Apply(own, float64)' 'Apply(own, float16)' 'Apart(own, float32)'; do echo "$class:$(count "$TMP/tilus.tile" --export "f = $class")"; done
echo "-ffp-contract=off:$(count "$TMP/tilus.tile" --export "f = Apply(own, float32)" -ffp-contract=off)"
for type in float32 float64; do for mode in fast off; do
    "$TILEC" "$TMP/tilus.tile" --export "f = Apply(every, $type)" --arch=sm_80 --emit=ptx -ffp-contract=$mode -o "$TMP/$mode.ptx" || exit 1
done; cmp "$TMP/fast.ptx" "$TMP/off.ptx" && echo "the library's functions of $type are the same"; done
cat >"$TMP/warp.py" <<'END'
import warp as wp


@wp.kernel(module="unique", module_options={"fuse_fp": FUSE})
def turned(q: wp.array(dtype=wp.quat), v: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat33), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = m[i] * wp.quat_rotate(q[i], v[i]) + wp.cross(v[i], v[i] * 2.0) * wp.length(v[i]) + wp.lerp(v[i], m[i][0], 0.3)


turned.compile(block_dim=32)
END
for fuse in True False; do echo "Warp, $fuse:$(count "$TMP/warp.py" -D FUSE=$fuse)"; done
cat >"$TMP/lazy.py" <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit(compile_flags=FLAGS)
def eager(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    with T.Kernel(1, threads=32):
        for i in T.serial(32):
            B[i] = A[i] * B[i] + A[i]


@T.prim_func
def func(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    with T.Kernel(1, threads=32):
        for i in T.serial(32):
            B[i] = A[i] * B[i] + A[i]


@tilelang.jit
def annotated(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    T.annotate_compile_flags("-fmad=false")
    with T.Kernel(1, threads=32):
        for i in T.serial(32):
            B[i] = A[i] * B[i] + A[i]


told = tilelang.compile(func, pass_configs={tilelang.PassConfigKey.TL_DEVICE_COMPILE_FLAGS: FLAGS})
END
for flags in None '"-O3"' '"-fmad=false"' '["--fmad", "false"]' '"-fmad=false -fmad=true"'; do
    for name in eager told; do echo "$name, $flags:$(count "$TMP/lazy.py" -D "FLAGS=$flags" --export "k = $name")"; done
done
echo "annotated:$(count "$TMP/lazy.py" -D FLAGS=None --export 'k = annotated')"
for mode in fast off; do
    echo "gradient, $mode:$(count "$TMP/tilus.tile" --export 'g = Apply(lambda x: x * x * x + x * 2.0, float32)' --grad g -ffp-contract=$mode)"
done
