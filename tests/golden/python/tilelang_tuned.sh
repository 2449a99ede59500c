# What a prim_func tells of its parameters, and a search whose calls say where it begins.
needs numpy
export PYTHONPATH=$TILE_ROOT/python TILE_DEVICE=emulator TILE_LIBRARIES=$TILE_BUILD
cat >"$TMP/tuned.py" <<'P'
import numpy
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def scaled(n, threads, times=2):
    @T.prim_func
    def main(A: T.Tensor((n, 8), "float16"), count: T.int32, B: T.Tensor((n, T.dynamic("width")), "float32")):
        with T.Kernel(n, threads=threads) as b:
            for i in T.Parallel(8):
                B[b, i] = A[b, i] * times

    return main


func = scaled.get_tir(4, 32)
for param in func.params:
    buffer = func.buffer_map.get(param)
    print(param.name, param.dtype, buffer if buffer is None else (buffer.name, [str(extent) for extent in buffer.shape], buffer.dtype))


@tilelang.jit(out_idx=[1])
def doubled(n, threads, times=2):
    @T.prim_func
    def main(A: T.Tensor((n, 8), "float16"), B: T.Tensor((n, 8), "float32")):
        with T.Kernel(n, threads=threads) as b:
            for i in T.Parallel(8):
                B[b, i] = A[b, i] * times

    return main


a = numpy.ones((4, 8), numpy.float16)
tuned = tilelang.autotune(configs=[{"threads": 64}, {"threads": 128}], do_not_specialize=["threads", "times"])(doubled)
for call in (lambda: tuned(4, threads=32, times=3), lambda: tuned(4, 96, 3), lambda: tuned(4, 96, 5)):  # one search, and kernels of their own numbers
    kernel = call()
    print(kernel.config, numpy.asarray(kernel(a)).max())
print(len(tuned._tuner_cache))
fixed = tilelang.autotune(configs=[{"threads": 64}])(doubled)
print(fixed(4, 32).config)
# What a call gives of it is no search's: the others are by default, or, without one, searched.
for space in ([{"threads": 64, "times": 5}, {"threads": 128, "times": 7}], [{"times": 7, "threads": 64}, {"times": 8, "threads": 128}]):
    part = tilelang.autotune(configs=space)(doubled)
    for call in (lambda: part(4, threads=32), lambda: part(4, times=4), lambda: part(4)):
        kernel = call()
        print(kernel.config, numpy.asarray(kernel(a)).max(), end=" ")
    print()
# What takes a number, beside tensors, is searched by the program's inputs alone; with all parameters given nothing is searched.
@tilelang.autotune(configs=[{"threads": 64}])
@tilelang.jit(out_idx=[2])
def numbered(n, threads):
    @T.prim_func
    def main(A: T.Tensor((n, 8), "float16"), count: T.int32, B: T.Tensor((n, 8), "float32")):
        with T.Kernel(n, threads=threads) as b:
            for i in T.Parallel(8):
                B[b, i] = A[b, i] + count

    return main


kernel = numbered(4, threads=32)
print(kernel.config, numpy.asarray(kernel(a, 1)).max())
try:
    numbered(4)
except ValueError as error:
    print(error)
P
cd "$TMP" && python3 -m tilec run tuned.py
