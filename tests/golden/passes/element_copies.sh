# Elements that a thread moves to shared tiles one after the other, to several in turn, by an index that is in an array of its own: vectors;
# in an asynchronous scope cp.async of 16 bytes, the indices of rows loaded ahead.
cat > $TMP/a.py <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def rows(A, B, order, scope):
    A: T.Tensor((4096, 320), T.float16)
    B: T.Tensor((128, 64), T.float16)
    order: T.Tensor((4096,), T.int32)
    C = T.empty((64, 64), T.float32)
    with T.Kernel(1, threads=256):
        left = T.alloc_shared((64, 128), T.float16)
        right = T.alloc_shared((64, 128), T.float16)
        rest = T.alloc_shared((64, 64), T.float16)
        second = T.alloc_shared((128, 64), T.float16)
        valid = T.alloc_shared((64,), "bool", scope="shared")
        sums = T.alloc_fragment((64, 64), T.float32)
        index = T.alloc_local([1], T.int32)
        filled = T.alloc_barrier(arrive_count=128)
        free = T.alloc_barrier(arrive_count=128)
        tx = T.get_thread_binding()
        T.copy(B, second)
        if tx < 128:
            T.clear(sums)
            for i in T.serial(64):
                T.barrier_wait(filled, i & 1)
                T.gemm(left, second, sums)
                T.gemm(right, second, sums)
                T.gemm(rest, second[0:64, :], sums)
                T.barrier_arrive(free)
            T.copy(sums, C)
        else:
            for i in T.serial(64):
                T.barrier_wait(free, (i & 1) ^ 1)
                for r in T.serial(4):
                    index[0] = order[i * 64 + r * 16 + (tx - 128) // 8]
                    valid[r * 16 + (tx - 128) // 8] = index[0] < 4000
                    if valid[r * 16 + (tx - 128) // 8]:
                        with T.attr("default", scope, 1):
                            for u in T.serial(2):
                                for v in T.vectorized(8):
                                    column = 64 * u + (tx - 128) % 8 * 8 + v
                                    left[r * 16 + (tx - 128) // 8, column] = A[index[0], column]
                                    right[r * 16 + (tx - 128) // 8, column] = A[index[0], 128 + column]
                        with T.attr("default", scope, 1):
                            for v in T.vectorized(8):
                                rest[r * 16 + (tx - 128) // 8, (tx - 128) % 8 * 8 + v] = A[index[0], 256 + (tx - 128) % 8 * 8 + v]
                T.cp_async_barrier_noinc(filled)
    return C
T
for scope in async_scope pragma; do
    $TILEC $TMP/a.py --arch=sm_90a --ptxas=none --no-cache -Rperf --print-after=lower -o $TMP/a.o --export "k = rows.compile(T.Tensor((4096, 320), T.float16), T.Tensor((128, 64), T.float16), T.Tensor((4096,), T.int32), scope='$scope')" > $TMP/said 2>&1
    echo "$scope:"
    grep -o 'a loop whose loads are made.*registers' $TMP/said | sort | uniq -c
    awk -v begin="$(grep -n 'index\[0\] = order' $TMP/a.py | cut -d: -f1)" '/^kernel/ { aligned = /_aligned/ }
        aligned && match($0, /a.py:[0-9]+/) && substr($0, RSTART + 5, RLENGTH - 5) > begin + 2 {
            if ($1 == "cp_async") print $1, $5, $6, $7
            if ($1 == "st" || ($3 == "ld" && /f16/)) print ($3 == "ld") ? "ld" : "st", /align = 16/ ? "of 16 bytes" : "of fewer" }' $TMP/said | sort | uniq -c
    grep -E '(: error|^tilec: )' $TMP/said
done
true
