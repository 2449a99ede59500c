# Attention whose loop is planned, with a slope by distance and rows that may see nothing: beside one warp of producers threads have fewer
# registers than that takes. A warpgroup of producers gives its own away: no spills, and no plan is given up.
needs ptxas
cd $TMP
cat >sloped.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def sloped(Q: T.Tensor[[2, 2048, 8, 96], T.bfloat16], K: T.Tensor[[2, 2048, 8, 96], T.bfloat16], V: T.Tensor[[2, 2048, 8, 96], T.bfloat16], slopes: T.Tensor[[8], T.float32]):
    O = T.empty((2, 2048, 8, 96), T.bfloat16)
    with T.Kernel(16, 8, 2, threads=256) as (bx, h, b):
        q = T.alloc_shared((128, 96), T.bfloat16)
        k = T.alloc_shared((128, 96), T.bfloat16)
        v = T.alloc_shared((128, 96), T.bfloat16)
        s = T.alloc_fragment((128, 128), T.float32)
        p = T.alloc_fragment((128, 128), T.bfloat16)
        o = T.alloc_fragment((128, 96), T.float32)
        most = T.alloc_fragment((128,), T.float32)
        before = T.alloc_fragment((128,), T.float32)
        factor = T.alloc_fragment((128,), T.float32)
        part = T.alloc_fragment((128,), T.float32)
        total = T.alloc_fragment((128,), T.float32)
        T.copy(Q[b, bx * 128:(bx + 1) * 128, h, :], q)
        T.clear(o)
        T.clear(total)
        T.fill(most, -T.infinity(T.float32))
        for step in T.Pipelined(bx + 1, num_stages=2):
            T.copy(K[b, step * 128:(step + 1) * 128, h, :], k)
            T.clear(s)
            T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(128, 128):
                s[i, j] = s[i, j] * 0.125 + slopes[h] * T.cast(step * 128 + j - (bx * 128 + i), T.float32)
            for i, j in T.Parallel(128, 128):
                s[i, j] = T.if_then_else(bx * 128 + i >= step * 128 + j, s[i, j], -T.infinity(T.float32))
            T.copy(most, before)
            T.reduce_max(s, most, dim=1, clear=False)
            for i in T.Parallel(128):
                factor[i] = T.if_then_else(most[i] == -T.infinity(T.float32), 1.0, T.exp2((before[i] - most[i]) * 1.44269504))
            for i, j in T.Parallel(128, 128):
                s[i, j] = T.if_then_else(most[i] == -T.infinity(T.float32), 0.0, T.exp2((s[i, j] - most[i]) * 1.44269504))
            T.reduce_sum(s, part, dim=1)
            for i in T.Parallel(128):
                total[i] = total[i] * factor[i] + part[i]
            T.copy(s, p)
            for i, j in T.Parallel(128, 96):
                o[i, j] *= factor[i]
            T.copy(V[b, step * 128:(step + 1) * 128, h, :], v)
            T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
        for i, j in T.Parallel(128, 96):
            o[i, j] /= total[i]
        T.copy(o, O[b, bx * 128:(bx + 1) * 128, h, :])
    return O


sloped.compile()
T
$TILEC sloped.tile --arch=sm_90a -Rperf --save-temps -o k.o 2>&1 | grep -oE '[0-9]+ warps and [0-9]+ bytes.*aligned.*|a loop by plan.*aligned.*|not planned.*aligned.*'
grep -hoE 'setmaxnreg[a-z.0-9]* [0-9]+' *aligned*.ptx
