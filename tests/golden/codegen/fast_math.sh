# Approximate instructions where a kernel's text asks for fast math, in any of the spellings that its dialect has for it, and
# in no kernel beside it that does not.
cat >"$TMP/lazy.py" <<'EOF2'
import tilelang
import tilelang.language as T

FAST = {tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True}


@T.macro
def compute(A, B):
    for i in T.Parallel(32):
        B[i] = T.exp(A[i]) / T.sqrt(A[i]) + T.sigmoid(T.sin(A[i]))


def template():
    @T.prim_func
    def main(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            compute(A, B)

    return main


@T.prim_func
def func(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    with T.Kernel(1, threads=32):
        compute(A, B)


@tilelang.jit(pass_configs=FAST)
def eager(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    with T.Kernel(1, threads=32):
        compute(A, B)


@tilelang.jit
def annotated(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    T.annotate_pass_configs(FAST)
    with T.Kernel(1, threads=32):
        compute(A, B)


@tilelang.jit
def flagged(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    T.annotate_compile_flags(["-O3 --use_fast_math"])
    with T.Kernel(1, threads=32):
        compute(A, B)


@tilelang.jit(pass_configs={"tl.enable_fast_math": False})
def declined(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    T.annotate_pass_configs(FAST)
    with T.Kernel(1, threads=32):
        compute(A, B)
EOF2
cat >"$TMP/threads.py" <<'EOF2'
import warp as wp

wp.set_module_options({"fast_math": True})


@wp.kernel
def of_module(a: wp.array(dtype=wp.vec3), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = wp.exp(a[i][0]) / wp.length(a[i]) + wp.sin((a[i] / a[i][1])[2])


@wp.kernel(module="unique", module_options={"fast_math": True})
def of_its_own(a: wp.array(dtype=wp.vec3), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = wp.exp(a[i][0]) / wp.length(a[i]) + wp.sin((a[i] / a[i][1])[2])


@wp.kernel(module="unique", module_options={"fast_math": False})
def unasked(a: wp.array(dtype=wp.vec3), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = wp.exp(a[i][0]) / wp.length(a[i]) + wp.sin((a[i] / a[i][1])[2])


of_module.compile(block_dim=32)
of_its_own.compile(block_dim=32)
unasked.compile(block_dim=32)
EOF2
instructions() {
    local program=$1
    shift
    "$TILEC" "$TMP/$program.py" "$@" --arch=sm_90a --emit=ptx -o "$TMP/$program.ptx" 2>&1 | grep error
    awk '/\.entry/ { name = $3; sub(/(__.*)?\(.*/, "", name); sub(/__.*/, "", name); name = name ":"; found[name] = 1 }
        match($0, /[ \t](div|sqrt|rcp|sin|cos|ex2)\.[a-z]+/) { found[name " " substr($0, RSTART + 1, RLENGTH - 1)] = 1 }
        END { for (one in found) print one }' "$TMP/$program.ptx" | sort |
        awk '$1 != name { printf "%s%s", name == "" ? "" : "\n", $1; name = $1 } $2 != "" { printf " %s", $2 } END { print "" }'
}
instructions threads
instructions lazy
instructions lazy --export 'a_template = tilelang.jit(template, pass_configs=FAST)()' \
    --export 'b_text = tilelang.jit(template, pass_configs={"tl.enable_fast_math": True})()' \
    --export 'c_older = tilelang.jit(template, pass_configs={"tl.disable_fast_math": False})()' \
    --export 'd_flag = tilelang.jit(template, compile_flags=["-O3", "-use_fast_math"])()' \
    --export 'e_device = tilelang.jit(template, pass_configs={"tl.device_compile_flags": "-O3 --use_fast_math"})()' \
    --export 'f_compiled = tilelang.compile(func, pass_configs=FAST)' \
    --export 'g_unasked = tilelang.jit(template)()' \
    --export 'h_refused = tilelang.jit(template, pass_configs={"tl.enable_fast_math": False, "tl.disable_tma": True})()' \
    --export 'i_compiled = tilelang.compile(func)'

# A launch takes what its module's options say then.
cat >>"$TMP/threads.py" <<'EOF2'

if __name__ == "__main__":
    x, found = wp.array([[0.5, 2.0, 1.0]], dtype=wp.vec3), []
    for options in ({"fast_math": True}, {"fast_math": False}, {"fast_math": True}):
        wp.set_module_options(options)
        y = wp.zeros(1, dtype=float)
        wp.launch(of_module, dim=1, inputs=[x, y], block_dim=32)
        found.append(y.numpy()[0])
    print(found[0] == found[2], found[0] != found[1], abs(found[0] - found[1]) < 1e-5, wp.get_module_options()["fast_math"])
EOF2
"$TILEC" run "$TMP/threads.py"
