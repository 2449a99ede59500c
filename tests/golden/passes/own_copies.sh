# Copies of a producer's own threads: their fence is that of those who wait for them, the indices of their rows are loaded ahead.
cat > $TMP/a.py <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(A, B, order, stages):
    A: T.Tensor((4096, 64), T.float16)
    B: T.Tensor((64, 64), T.float16)
    order: T.Tensor((4096,), T.int32)
    C = T.empty((64, 64), T.float32)
    with T.Kernel(1, threads=256):
        left = T.alloc_shared((2, 64, 64), T.float16)
        right = T.alloc_shared((64, 64), T.float16)
        valid = T.alloc_shared((2, 64), "bool", scope="shared")
        sums = T.alloc_fragment((64, 64), T.float32)
        filled = T.alloc_barrier(arrive_count=[128, 128])
        free = T.alloc_barrier(arrive_count=[128, 128])
        tx = T.get_thread_binding()
        T.copy(B, right)
        if tx < 128:
            T.clear(sums)
            for i in T.serial(32):
                for stage in T.unroll(2):
                    T.barrier_wait(filled[stage], i & 1)
                    T.gemm(left[stage, :, :], right, sums)
                    T.barrier_arrive(free[stage])
            T.copy(sums, C)
        else:
            for i in T.serial(32):
                for stage in T.unroll(2):
                    T.barrier_wait(free[stage], (i & 1) ^ 1)
                    for r in T.serial(4):
                        row = order[(i * 2 + stage) * 64 + r * 16 + (tx - 128) // 8]
                        valid[stage, r * 16 + (tx - 128) // 8] = row < 4096
                        if valid[stage, r * 16 + (tx - 128) // 8]:
                            T.ptx_cp_async(
                                T.access_ptr(left[stage, r * 16 + (tx - 128) // 8, (tx - 128) % 8 * 8], "w", 8),
                                T.access_ptr(A[row, (tx - 128) % 8 * 8], "r", 8),
                                8,
                            )
                    T.cp_async_barrier_noinc(filled[stage])
    return C
T
$TILEC $TMP/a.py --arch=sm_90a --ptxas=none --no-cache -Rperf --print-after=sync -o $TMP/a.o --export 'k = rows.compile(T.Tensor((4096, 64), T.float16), T.Tensor((64, 64), T.float16), T.Tensor((4096,), T.int32), stages=2)' > $TMP/said 2>&1
grep -o 'a loop whose loads are made.*registers' $TMP/said | sort | uniq -c
awk '/^kernel/ { which = /_aligned/ ? "aligned" : "general" }
    $1 == "mbarrier_wait" || $1 == "mbarrier_arrive" || $1 == "mbarrier_arrive_on_copies" || $1 == "fence_async" || $1 == "barrier" || $1 == "dot_shared" || $3 == "dot_shared" {
        if (which == "aligned") print ($3 == "dot_shared") ? $3 : ($1 ~ /^mbarrier_/) ? $1 " " $2 : $1 }' $TMP/said
grep -E '(: error|^tilec: )' $TMP/said
true
