# A loop over a fragment's rows, each written by a parallel loop: all rows are read by accesses of 16 bytes, no loop is left, nor choices
# between rows, and shared memory is for what the warps' maxima are combined by.
cd $TMP
cat >rows.py <<'T'
import tilelang
import tilelang.language as T

@T.prim_func
def most(A: T.Tensor[(2048, 4096), "float16"], B: T.Tensor[(2048,), "float32"]):
    with T.Kernel(512, threads=128) as bx:
        x = T.alloc_fragment((4, 4096), "float32")
        y = T.alloc_fragment((4, 4096), "float32")
        m = T.alloc_fragment((4,), "float32")
        for i in T.serial(4):
            for j in T.Parallel(4096):
                x[i, j] = A[bx * 4 + i, j]
        for i in T.serial(4):
            for j in T.Parallel(4096):
                y[i, j] = T.abs(x[i, j])
        T.reduce_max(y, m, dim=1)
        T.copy(m, B[bx * 4])
T
$TILEC rows.py --arch=sm_90a --ptxas=none --emit=ptx -Rperf -o rows.ptx 2>&1 | grep -oE '[0-9]+ warps and [0-9]+ bytes of shared memory'
awk '/^\.visible/ { wanted = /_aligned/ } wanted' rows.ptx | grep -oE 'ld\.global[.a-z0-9]*|selp|bra\>|bar\.sync' | sort | uniq -c
# A loop over columns that reads a fragment's elements by the loop's index: they are copied to shared memory before the loop, and the
# iterations have no barrier.
cat >columns.py <<'T'
import tilelang
import tilelang.language as T

@T.prim_func
def running(A: T.Tensor[(2048, 128), "float32"], B: T.Tensor[(2048, 128), "float32"]):
    with T.Kernel(128, threads=128) as bx:
        x = T.alloc_fragment((16, 128), "float32")
        y = T.alloc_fragment((16, 128), "float32")
        total = T.alloc_fragment((16,), "float32")
        T.copy(A[bx * 16, 0], x)
        T.clear(total)
        for i in T.Parallel(16):
            for j in T.serial(128):
                total[i] = total[i] + x[i, j]
                y[i, j] = total[i]
        T.copy(y, B[bx * 16, 0])
T
$TILEC columns.py --arch=sm_90a --ptxas=none --emit=ptx -o columns.ptx 2>/dev/null
awk '/^\.visible/ { wanted = /_aligned/ } wanted' columns.ptx | grep -oE 'BB[0-9]+_[0-9]+|bra|bar\.sync|(ld|st)\.shared[.a-z0-9]*' | uniq -c
# A thread has one of the rows, and a run of neighbours of it: each of 32 iterations side by side adds to one sum, and puts it in one register.
awk '/^\.visible/ { wanted = /_aligned/ } wanted' columns.ptx | grep -oE 'add\.rn\.f32|selp\.f32' | sort | uniq -c
# Of a loop that is unrolled, as all of it is little, parts are read by accesses of 16 bytes, and each of 64 sums goes to one register.
sed 's/128), "float32"\]/64), "float32"]/g; s/16, 128/16, 64/g; s/serial(128)/serial(64)/' columns.py >unrolled.py
$TILEC unrolled.py --arch=sm_90a --ptxas=none --emit=ptx -o unrolled.ptx 2>/dev/null
awk '/^\.visible/ { wanted = /_aligned/ } wanted' unrolled.ptx | grep -oE 'bra|bar\.sync|(ld|st)\.shared[.a-z0-9]*|add\.rn\.f32|selp\.f32' | sort | uniq -c
# Where shared memory has no room for two of them as long as a loop runs, each iteration copies one after the other.
cat >both.py <<'T'
import tilelang
import tilelang.language as T

@T.prim_func
def both(A: T.Tensor[(2048, 512), "float32"], B: T.Tensor[(2048, 512), "float32"], C: T.Tensor[(2048, 512), "float32"]):
    with T.Kernel(64, threads=256) as bx:
        x = T.alloc_fragment((32, 512), "float32")
        y = T.alloc_fragment((32, 512), "float32")
        total = T.alloc_fragment((32,), "float32")
        T.copy(A[bx * 32, 0], x)
        T.copy(B[bx * 32, 0], y)
        T.clear(total)
        for i in T.Parallel(32):
            for j in T.serial(512):
                total[i] = total[i] + x[i, j]
                total[i] = total[i] * y[i, j]
                C[bx * 32 + i, j] = total[i]
T
for arch in sm_86 sm_90a; do
    echo "$arch: $($TILEC both.py --arch=$arch --ptxas=none --emit=ptx -Rperf -o both.ptx 2>&1 | grep -oE 'error.*|[0-9]+ bytes of shared memory' | sort -u | tr '\n' ' ')"
done
