# The least of floats in memory, which the machine has no instruction for: what is there is read, and exchanged where a lesser one is found alone,
# so that threads which change nothing do not stand in line. Where the atomic orders something, or what was there is asked for, each takes its turn.
cat >"$TMP/kernels.py" <<'T'
import tilelang
import tilelang.language as T
import warp as wp


@wp.kernel
def least(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    wp.atomic_min(out, 0, x[wp.tid()])


@wp.kernel
def wanted(x: wp.array(dtype=float), out: wp.array(dtype=float), old: wp.array(dtype=float)):
    old[wp.tid()] = wp.atomic_min(out, 0, x[wp.tid()])


def ordered(order):
    @T.prim_func
    def kernel(A: T.Tensor((1024,), "float32"), C: T.Tensor((1,), "float32")):
        with T.Kernel(8, threads=128) as bx:
            t = T.get_thread_binding(0)
            T.atomic_min(C[0], A[bx * 128 + t], memory_order=order)

    return kernel
T
for kernel in 'least.compile(block_dim=128, tiled=0)' 'wanted.compile(block_dim=128, tiled=0)' 'ordered("relaxed")' 'ordered("acq_rel")'; do
    echo "$kernel:"
    "$TILEC" "$TMP/kernels.py" --arch=sm_90a --ptxas=none --emit=ptx --export "k = $kernel" 2>/dev/null |
        awk '/^.version/ && ++n == 2 { exit } { print }' | grep -oE '(ld\.global|atom|min|setp\.ne)\.[a-z0-9_.:]*| bra '
done
