# Bytes that do not lie side by side along k are read one by one: warps are arranged so that each has few columns of them.
cat > $TMP/bytes.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.jit
def product(columns: bool):
    @T.prim_func
    def main(A: T.Tensor((128, 4096), T.int8), B: T.Tensor((4096, 128) if columns else (128, 4096), T.int8), C: T.Tensor((128, 128), T.int32)):
        with T.Kernel(1, threads=256) as x:
            a = T.alloc_shared((128, 64), T.int8)
            b = T.alloc_shared((64, 128) if columns else (128, 64), T.int8)
            sums = T.alloc_fragment((128, 128), T.int32)
            T.clear(sums)
            for k in T.Pipelined(64, num_stages=2):
                T.copy(A[0, k * 64], a)
                if columns:
                    T.copy(B[k * 64, 0], b)
                else:
                    T.copy(B[0, k * 64], b)
                T.gemm(a, b, sums, transpose_B=not columns)
            T.copy(sums, C)
    return main
END
for arch in sm_80 sm_90a; do
    $TILEC $TMP/bytes.tile --arch=$arch --export 'columns = product(True)' --export 'rows = product(False)' --emit=ptx --print-after=matrix -o $TMP/bytes.ptx 2>&1 |
        grep -oE '^kernel @[a-z0-9_]+|dims = \[[0-9], [0-9]\], instruction = m[a-z0-9.]*' | uniq | sed "s/^/$arch /"
done
