# Four products of bytes and their sum are one instruction, with no others where the bytes lie side by side or are a word's. Whole
# numbers of few bits become bf16 by way of f32, two at a time; others by the instruction for that, or, where there is none, by way of an f32
# that is rounded to odd: never by way of f64.
cd $TMP
cat >bytes.tile <<'T'
import tilelang
import tilelang.language as T

@tilelang.jit
def rows(n, k):
    @T.prim_func
    def main(A: T.Tensor((n, k), "int8"), x: T.Tensor((k,), "int8"), y: T.Tensor((n,), "int32")):
        with T.Kernel(n // 32, threads=32) as bx:
            i = bx * 32 + T.get_thread_binding(0)
            a, b = T.alloc_local((16,), "int8"), T.alloc_local((16,), "int8")
            total = T.alloc_local((1,), "int32")
            total[0] = 0
            for j in T.serial(k // 16):
                for v in T.vectorized(16):
                    a[v] = A[i, j * 16 + v]
                    b[v] = x[j * 16 + v]
                for v in T.serial(4):
                    T.dp4a(a[v * 4], b[v * 4], total[0])
            y[i] = total[0]
    return main
T
$TILEC bytes.tile --arch=sm_90a --ptxas=none --emit=ptx --export 'bytes = rows(1024, 64)' -o - | awk '/^\.visible/ { wanted = /_aligned/ } wanted' |
  grep -oE 'dp4a[.a-z0-9]*|prmt|bfe|ld\.global[.a-z0-9]*' | sort | uniq -c
$TILEC $TILE_ROOT/tests/exec/tilelang_words.tile --arch=sm_90a --ptxas=none --emit=ptx --export 'words = by_names' -o - | grep -oE 'dp4a[.a-z0-9]*|prmt|bfe' | sort | uniq -c
for arch in sm_90a sm_80; do
    echo $arch
    $TILEC $TILE_ROOT/tests/exec/exact_casts.tile --arch=$arch --ptxas=none --emit=ptx --export 'casts = rounded' -o - | grep -oE 'cvt\.r[.a-z0-9]*|\.f64' | sort | uniq -c
done
# A sum with exp(x), which is a power of two times what the instruction gives, is one fma.
cat >exp.tile <<'T'
import tilelang
import tilelang.language as T

@tilelang.jit
def gates(n):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((2, n), "float32")):
        with T.Kernel(n // 32, threads=32) as bx:
            i = bx * 32 + T.get_thread_binding(0)
            B[0, i] = 1.0 + T.exp(A[i])
            B[1, i] = T.exp(B[0, i]) - A[i]
    return main
T
$TILEC exp.tile --arch=sm_90a --ptxas=none --emit=ptx --export 'k = gates(1024)' -o - | grep -oE '(fma|add|sub|mul)\.r[a-z.]*f32' | sort | uniq -c
