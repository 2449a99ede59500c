# What consumers take by setmaxnreg.inc is there: a block has no more registers than its threads begin with, whole units each, and who waits
# for more waits for ever. By 256 threads and 128 of producers, two blocks on a multiprocessor begin with 80 registers a thread.
cat > $TMP/pool.tile <<'EOF'
import tilelang
import tilelang.language as T

@tilelang.jit(out_idx=[3])
def attention(S: int, D: int, block_M: int, block_N: int, threads: int):
    scale = (1.0 / D) ** 0.5 * 1.44269504

    @T.prim_func
    def main(Q: T.Tensor((96, S, D), T.float16), K: T.Tensor((96, S, D), T.float16), V: T.Tensor((96, S, D), T.float16), O: T.Tensor((96, S, D), T.float16)):
        with T.Kernel(S // block_M, 96, threads=threads) as (bx, by):
            q, k, v = T.alloc_shared((block_M, D), T.float16), T.alloc_shared((block_N, D), T.float16), T.alloc_shared((block_N, D), T.float16)
            s, p = T.alloc_fragment((block_M, block_N), T.float32), T.alloc_fragment((block_M, block_N), T.float16)
            o = T.alloc_fragment((block_M, D), T.float32)
            top, before, by_row, part, total = [T.alloc_fragment((block_M,), T.float32) for _ in range(5)]
            T.copy(Q[by, bx * block_M : (bx + 1) * block_M, :], q)
            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity(T.float32))
            for n in T.Pipelined(S // block_N, num_stages=2):
                T.copy(K[by, n * block_N : (n + 1) * block_N, :], k)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.reduce_max(s, top, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    by_row[i] = T.exp2(before[i] * scale - top[i] * scale)
                for i, j in T.Parallel(block_M, block_N):
                    s[i, j] = T.exp2(s[i, j] * scale - top[i] * scale)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * by_row[i] + part[i]
                T.copy(s, p)
                for i, j in T.Parallel(block_M, D):
                    o[i, j] *= by_row[i]
                T.copy(V[by, n * block_N : (n + 1) * block_N, :], v)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, D):
                o[i, j] /= total[i]
            T.copy(o, O[by, bx * block_M : (bx + 1) * block_M, :])
    return main
EOF
for call in 'attention(1024, 64, 128, 64, 256)' 'attention(1024, 32, 64, 64, 128)' 'attention(1024, 128, 128, 128, 256)' 'attention(1024, 128, 64, 128, 128)' 'attention(1024, 80, 128, 64, 256)'; do
  $TILEC $TMP/pool.tile --arch=sm_90a --export "k = $call" --emit=ptx 2>/dev/null | awk -v call="$call" '
    /^\.visible/ { report(); threads = 0; blocks = 1; given = taken = 0 }
    /^\.maxntid/ { threads = $2 + 0 } /^\.minnctapersm/ { blocks = $2 + 0 }
    /setmaxnreg\.dec/ { given = $2 + 0 } /setmaxnreg\.inc/ { taken = $2 + 0 }
    END { report() }
    function report(  first, all) {
      if (!taken) return
      first = int(65536 / 128 / int((threads / 32 * blocks + 3) / 4) / 8) * 8; if (first > 256) first = 256
      all = first * threads
      print call ": " threads " threads, " blocks " blocks, " first " registers each:", \
            given * 128 + taken * (threads - 128) <= all ? "enough for " taken : "too few for " taken
    }'
done
