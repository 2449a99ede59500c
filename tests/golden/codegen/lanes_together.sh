# What the lanes of a warp combine by T.tvm_thread_allreduce goes by shuffles, without shared memory and barriers; what threads of
# several warps combine does not.
cat > $TMP/lanes.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.jit
def sums(across: int, rows: int):
    @T.prim_func
    def main(A: T.Tensor((rows, across), T.float32), B: T.Tensor((rows,), T.float32)):
        with T.Kernel(1, threads=(across, rows)):
            x = T.get_thread_binding(0)
            y = T.get_thread_binding(1)
            total = T.alloc_local((1,), T.float32)
            with T.attr(T.comm_reducer(lambda p, q: p + q, [T.Cast(T.float32, 0)]), "reduce_scope", T.reinterpret(T.uint64(0), dtype="handle")):
                T.evaluate(T.tvm_thread_allreduce(T.uint32(1), A[y, x], True, total[0], x, dtype="handle"))
            if x == 0:
                B[y] = total[0]
    return main
END
$TILEC $TMP/lanes.tile --arch=sm_90a --export 'warp = sums(32, 4)' --export 'part = sums(8, 16)' --export 'two = sums(64, 2)' --emit=ptx 2>/dev/null |
  grep -oE '^\.visible \.entry [a-z0-9_]+|shfl\.sync\.[a-z]*|bar\.sync|st\.shared' | uniq -c
