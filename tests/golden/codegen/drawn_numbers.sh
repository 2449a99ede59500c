# What Warp computes by CUDA's functions is computed as wp.log and wp.cos are, by one polynomial each, also where the library's own functions
# ask for it: no logarithm of pairs, whose quotient is a reciprocal to the last bit.
cat >"$TMP/kernels.py" <<'T'
import warp as wp


@wp.kernel
def normal(seed: int, out: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    out[i] = wp.randn(state)


@wp.func_native("return __logf(x) + logf(x);")
def native_log(x: float) -> float: ...


@wp.kernel
def native(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = native_log(x[i])
T
for kernel in normal native; do
    echo "$kernel: $("$TILEC" "$TMP/kernels.py" --arch=sm_90a --ptxas=none --emit=ptx --export "k = $kernel.compile(block_dim=128, tiled=0)" 2>/dev/null |
        awk '/^.version/ && ++n == 2 { exit } { print }' | grep -cE '(rcp|div)\.rn')"
done
