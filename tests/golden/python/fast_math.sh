# Fast math of kernels in Python: what TileLang's and Warp's options say, and when they change.
needs numpy
cd "$TMP"
cat >lazy.py <<'END'
import tilelang
import tilelang.language as T

FAST = {tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True}


@T.macro
def compute(A, B):
    for i in T.Parallel(32):
        B[i] = T.exp(A[i]) / T.sqrt(A[i])


def body():
    @T.prim_func
    def main(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            compute(A, B)

    return main


@tilelang.jit(pass_configs=FAST)
def eager(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    with T.Kernel(1, threads=32):
        compute(A, B)


@tilelang.jit
def annotated(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")):
    T.annotate_pass_configs(FAST)
    with T.Kernel(1, threads=32):
        compute(A, B)


kernels = {
    "compile": tilelang.compile(body(), pass_configs=FAST),
    "jit": tilelang.jit(body, pass_configs=FAST)(),
    "older": tilelang.jit(body, pass_configs={"tl.disable_fast_math": False})(),
    "flags": tilelang.jit(body, compile_flags="-O3 --use_fast_math")(),
    "eager": eager.compile(),
    "annotated": annotated.compile(),
    "plain": tilelang.compile(body()),
    "declined": tilelang.jit(body, pass_configs={"tl.enable_fast_math": False})(),
}
for name, kernel in kernels.items():
    text = kernel.get_tir()
    print(name, [word in text for word in (" = approx ", " = div ", " = sqrt ")])
END
python3 -m tilec run lazy.py
cat >threads.py <<'END'
import warp as wp


@wp.kernel
def scaled(x: wp.array(dtype=wp.vec3), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i][0]) / wp.length(x[i])


@wp.kernel(module="unique", module_options={"fast_math": True})
def own(x: wp.array(dtype=wp.vec3), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i][0]) / wp.length(x[i])


def result(kernel):
    y = wp.zeros(1, dtype=float)
    wp.launch(kernel, dim=1, inputs=[wp.array([[0.7, 2.0, 1.0]], dtype=wp.vec3), y])
    return float(y.numpy()[0])


exact = result(scaled)
wp.set_module_options({"fast_math": True})
fast = result(scaled)
wp.set_module_options({"fast_math": False})
print(exact != fast, abs(exact - fast) < 1e-5, result(scaled) == exact, result(own) == fast)
END
python3 -m tilec run threads.py
