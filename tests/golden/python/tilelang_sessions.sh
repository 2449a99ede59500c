# Sessions of a profiler around kernels whose ranges are empty: what programs ask of them is Python's.
export TILE_DEVICE=emulator
cat >"$TMP/sessions.py" <<'P'
import os

import tilelang
import tilelang.language as T
from tilelang.tools.cuda import iket

folder = os.path.join(os.environ["TMP"], "traces")


@T.prim_func
def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64), iket.range("all"):
        for i in T.Parallel(64):
            iket.mark("before")
            B[i] = A[i] + 1


print(iket.is_enabled())
with iket.session(output_dir=folder, runtime_payloads=True):
    print(iket.is_enabled(), iket.runtime_payloads_enabled(), str(iket.output_dir()) == folder, iket.event_table())
    kernel = tilelang.compile(main)
print(iket.is_enabled(), iket.runtime_payloads_enabled())
path = iket.output_path("kernel.txt", directory=folder)
path.write_text(kernel.get_kernel_source())
print(path.exists(), iket.trace_files(directory=folder))
P
cd "$TMP" && python3 -m tilec run sessions.py
