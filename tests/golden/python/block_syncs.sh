# Syncs of thread groups that the whole block comes to, by the options of jit and compile: how many arrivals a barrier waits for.
needs numpy
cd "$TMP"
cat >syncs.py <<'END'
import tilelang
import tilelang.language as T

WHOLE = {tilelang.PassConfigKey.TL_DISABLE_THREAD_STORAGE_SYNC: True}


def body():
    @T.prim_func
    def main(A: T.Tensor((128,), "int32")):
        with T.Kernel(1, threads=256):
            s = T.alloc_shared((1,), "int32")
            t = T.get_thread_binding()
            if t < 128:
                if t == 0:
                    s[0] = A[0] + 1
                T.sync_threads()
            else:
                T.sync_threads()
                A[t - 128] = s[0]

    return main


kernels = {
    "compile": tilelang.compile(body(), pass_configs=WHOLE),
    "jit": tilelang.jit(body, pass_configs=WHOLE)(),
    "with fast math": tilelang.jit(body, pass_configs={**WHOLE, "tl.enable_fast_math": True})(),
    "declined": tilelang.jit(body, pass_configs={"tl.disable_thread_storage_sync": False})(),
    "plain": tilelang.compile(body()),
}
for name, kernel in kernels.items():
    lines = kernel.get_kernel_source().splitlines()
    print(name, [line.split()[-1] for line in lines if "mbarrier.init" in line])
END
python3 -m tilec run syncs.py
