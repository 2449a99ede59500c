# A fragment of one dimension at an index that counts through it by two variables: its elements stay in registers.
cd $TMP
cat >counted.py <<'T'
import tilelang
import tilelang.language as T

@T.prim_func
def positive(x: T.Tensor((1048576,), "float16"), y: T.Tensor((1048576,), "float16")):
    with T.Kernel(512, threads=256) as bx:
        a = T.alloc_fragment((2048,), "float16")
        b = T.alloc_fragment((2048,), "float16")
        T.copy(x[bx * 2048 : (bx + 1) * 2048], a)
        for i, j in T.Parallel(256, 8):
            b[i * 8 + j] = T.max(a[i * 8 + j], T.cast(0, "float16"))
        T.copy(b, y[bx * 2048 : (bx + 1) * 2048])
T
$TILEC counted.py --arch=sm_90a --ptxas=none --emit=ptx -o counted.ptx 2>/dev/null
awk '/^\.visible/ { wanted = /_aligned/ } wanted' counted.ptx | grep -oE '(ld|st)\.(shared|global)[.a-z0-9]*|bar\.sync' | sort | uniq -c
