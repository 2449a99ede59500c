# A recurrence over a tile that memory has nothing to say about: what is loaded for it is loaded as its threads need it, and sums of it stay where they are.
cd $TMP
export TILEC_CACHE=off
cat > state.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def state(S: int, V: int, K: int, warps: int):
    @T.prim_func
    def main(k: T.Tensor((S, K), T.bfloat16), v: T.Tensor((S, V), T.bfloat16), o: T.Tensor((S, V), T.bfloat16)):
        with T.Kernel(1, threads=32 * warps):
            h = T.alloc_fragment((V, K), T.float32)
            d = T.alloc_fragment((V, K), T.float32)
            ks = T.alloc_shared((K,), T.bfloat16)
            vs = T.alloc_shared((V,), T.bfloat16)
            u = T.alloc_fragment((V,), T.float32)
            T.clear(h)
            for t in T.serial(S):
                T.copy(k[t, :], ks)
                T.copy(v[t, :], vs)
                for i, j in T.Parallel(V, K):
                    d[i, j] = h[i, j] * ks[j]
                T.reduce_sum(d, u, dim=1)
                for i in T.Parallel(V):
                    u[i] = vs[i] - u[i]
                for i, j in T.Parallel(V, K):
                    h[i, j] += u[i] * ks[j]
                T.copy(u, o[t, :])

    return main
END
for shape in "V=32, K=128, warps=4" "V=64, K=64, warps=4" "V=16, K=256, warps=1"; do
    $TILEC state.tile -Wno-W0706 --arch=sm_90a -S -o state.ptx --export "state = state(S=64, $shape)"
    count() { grep -c "$1" state.ptx; }
    echo "$shape: $(count ld.global) loads, $(count shfl) shuffles, $(count 'shared') accesses of shared memory, $(count bar.sync) barriers, $(count st.global) stores, all variants"
done
