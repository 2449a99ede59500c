# A transform of 64 elements in six stages: each is one barrier, and no stage divides.
cat >"$TMP/stages.py" <<'END'
import tilelang.language as T


@T.prim_func
def stages(x: T.Tensor((64,), "float32"), y: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        s = T.alloc_shared((128,), "float32")
        for i in T.Parallel(64):
            s[i] = x[i]
            s[i + 64] = x[i]
        T.sync_threads()
        for stage in T.serial(6):
            half = 1 << stage
            for i in T.Parallel(64):
                k = i % half
                a = i // half * (1 << (stage + 1)) + k
                u, v = s[a], s[a + half] * T.cast(T.cast(k, "float64") / T.cast(half, "float64"), "float32")
                s[a] = u + v
                s[a + half] = u - v
            T.sync_threads()
        for i in T.Parallel(64):
            y[i] = s[i]
END
$TILEC "$TMP/stages.py" --arch sm_90a --emit=ptx -o - | awk '/^\.visible \.entry/ { on = !seen++ } on' | grep -oE 'bar\.sync|(div|rem)\.[a-z.0-9]*' | sort | uniq -c | awk '{ print $1, $2 }'
