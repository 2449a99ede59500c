# What a thread reads at the same place of global memory again is read once, so that a row that it finds there comes by one access; but not behind a store.
cat > $TMP/rows.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.jit
def rows(again: bool):
    @T.prim_func
    def main(ptr: T.Tensor((65,), T.int32), col: T.Tensor((T.dyn["n"],), T.int32), X: T.Tensor((T.dyn["k"], 128), T.float32), Y: T.Tensor((64, 128), T.float32)):
        with T.Kernel(64, threads=32) as row:
            c = T.get_thread_binding() * 4
            x = T.alloc_local((4,), T.float32)
            acc = T.alloc_local((4,), T.float32)
            for v in T.unroll(4):
                acc[v] = 0
            for t in T.serial(ptr[row], ptr[row + 1]):
                for v in T.vectorized(4):
                    x[v] = X[col[t], c + v]
                if again:
                    col[t] = 0
                for v in T.unroll(4):
                    acc[v] += x[v] * col[t]
            for v in T.vectorized(4):
                Y[row, c + v] = acc[v]
    return main
END
$TILEC $TMP/rows.tile --arch=sm_90a --export 'once = rows(False)' --export 'again = rows(True)' --emit=ptx 2>/dev/null |
  grep -oE '^\.visible \.entry [a-z0-9_]+|ld\.global[.a-z0-9]*|st\.global[.a-z0-9]*' | uniq -c
