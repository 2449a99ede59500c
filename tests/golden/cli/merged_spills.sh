# Blocks of products are merged with their neighbours, but where ptxas has too few registers for the epilogue of both.
cd $TMP
cat > ptxas <<'END'
#!/bin/bash
. $TILE_ROOT/tests/tools/fake_ptxas.bash
[ "$threads" -gt 256 ] && answer 168 $SPILLS $SPILLS || answer 168 0 0
END
chmod +x ptxas
cat > product.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def product(A: T.Tensor[[4096, 4096], T.float16], B: T.Tensor[[4096, 4096], T.float16]):
    C = T.empty((4096, 4096), T.float16)
    with T.Kernel(32, 32, threads=128) as (bx, by):
        a = T.alloc_shared((128, 64), T.float16)
        b = T.alloc_shared((64, 128), T.float16)
        c = T.alloc_fragment((128, 128), T.float32)
        T.clear(c)
        for k in T.Pipelined(64, num_stages=3):
            T.copy(A[by * 128, k * 64], a)
            T.copy(B[k * 64, bx * 128], b)
            T.gemm(a, b, c)
        T.copy(c, C[by * 128, bx * 128])
    return C
END
for SPILLS in 0 64; do
    export SPILLS
    $TILEC product.tile --arch=sm_90a --no-cache --ptxas=./ptxas -Rperf -o k.o --export 'k = product.compile()' 2>&1 |
        grep -oE '(two blocks along|[0-9]+ warps|a product of [0-9x ]+).* \[sm_90a, aligned'
done
