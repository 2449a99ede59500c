# A norm's sums of parts in shared memory are added, and their root is taken, before what is scaled is loaded: behind the loads the parts
# would be alive with all that is loaded.
cat >"$TMP/norm.py" <<'END'
import tilelang.language as T

N = 8192


@T.prim_func
def norm(x: T.Tensor((64, N), "float16"), g: T.Tensor((N,), "float16"), y: T.Tensor((64, N), "float16"), n: T.int32):
    with T.Kernel(64, threads=256) as row:
        a = T.alloc_fragment((N,), "float32")
        s = T.alloc_fragment((1,), "float32")
        T.copy(x[row, :], a)
        b = T.alloc_fragment((1, N), "float32")
        for i in T.Parallel(N):
            b[0, i] = a[i] * a[i]
        T.reduce_sum(b, s, dim=1)
        scale = T.alloc_fragment((N,), "float16")
        r = T.alloc_var("float32")
        r = T.rsqrt(s[0])
        T.copy(g, scale)
        if n > 0:
            for i in T.Parallel(N):
                y[row, i] = a[i] * r * scale[i]
END
$TILEC "$TMP/norm.py" --arch sm_90a --emit=ptx -o - | awk '/^\.visible \.entry/ { on = /aligned/ } on' | grep -oE 'bar\.sync|ld\.shared[.a-z0-9]*|ld\.global[.a-z0-9]*|rsqrt[.a-z0-9]*|bra' | uniq -c | awk '{ $1 = $1 } 1'
