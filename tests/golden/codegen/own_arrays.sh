# Arrays of a thread's own are registers where their indices are known once loops are unrolled, and what a thread moves element by
# element side by side goes by 16 bytes; threads that write rows of their own wait once, not for each element.
cat >"$TMP/kernels.py" <<'T'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def product(A: T.Tensor[[8192], T.float16], B: T.Tensor[[4096, 8192], T.float16]):
    C = T.empty((4096,), T.float32)
    with T.Kernel(2048, threads=(2, 32)) as bn:
        tn = T.get_thread_binding(0)
        tk = T.get_thread_binding(1)
        a = T.alloc_local((8,), T.float16)
        b = T.alloc_local((8,), T.float16)
        c = T.alloc_local((1,), T.float32)
        T.clear(c)
        for bk in T.serial(32):
            for k in T.vectorized(8):
                a[k] = A[bk * 256 + tk * 8 + k]
                b[k] = B[bn * 2 + tn, bk * 256 + tk * 8 + k]
            for k in T.serial(8):
                c[0] += a[k].astype(T.float32) * b[k].astype(T.float32)
        T.atomic_add(C[bn * 2 + tn], c[0])
    return C


@tilelang.lazy_jit
def rows(A: T.Tensor[[128, 32], T.float32]):
    B = T.empty((128, 32), T.float32)
    with T.Kernel(1, threads=128) as _:
        t = T.get_thread_binding(0)
        mine = T.alloc_local((32,), T.float32)
        other = T.alloc_shared((128, 32), T.float32)
        for i in T.vectorized(32):
            mine[i] = A[t, i]
        for i in T.serial(5):
            half = 1 << i
            for j in T.serial(16 // half):
                for k in T.serial(half):
                    at = 2 * half * j + k
                    mine[at] = mine[at] + mine[at + half]
        for i in T.vectorized(32):
            other[t, i] = mine[i]
        for i in T.vectorized(32):
            B[t, i] = other[127 - t, i]
    return B


@tilelang.lazy_jit
def unknown(A: T.Tensor[[128, 4], T.float32], I: T.Tensor[[128], T.int32]):
    B = T.empty((128,), T.float32)
    with T.Kernel(1, threads=128) as _:
        t = T.get_thread_binding(0)
        mine = T.alloc_local((4,), T.float32)
        for i in T.vectorized(4):
            mine[i] = A[t, i]
        B[t] = mine[I[t]]
    return B
T
cd "$TMP" || exit
look() {
    "$TILEC" kernels.py --arch=sm_90a --emit=ptx --export "k = $2" 2>/dev/null | awk '/^.version/ && ++n == 2 { exit } { print }' >k.ptx
    count() { grep -cE "$1" k.ptx; }
    echo "$1: $(count '(ld|st)\.local') accesses of local memory, $(count 'bar\.sync') barriers; by 16 bytes: $(count 'ld\.global\S*\.v4') of" \
        "$(count 'ld\.global') loads, $(count 'st\.global\S*\.v4') of $(count 'st\.global') stores; of shared memory" \
        "$(count 'ld\.shared\S*\.v4') of $(count 'ld\.shared') loads, $(count 'st\.shared\S*\.v4') of $(count 'st\.shared') stores"
}
look product 'product.compile(T.Tensor((8192,), T.float16), T.Tensor((4096, 8192), T.float16))'
look rows 'rows.compile(T.Tensor((128, 32), T.float32))'
look unknown 'unknown.compile(T.Tensor((128, 4), T.float32), T.Tensor((128,), T.int32))'
