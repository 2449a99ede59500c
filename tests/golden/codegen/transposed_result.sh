# A product of which the transpose is stored, from blocks that take turns: ptxas keeps the products in flight, for nothing that is
# computed for the stores stands between the loop and the wait for the last of them.
cat > $TMP/transposed.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.lazy_jit
def gemm(A: T.Tensor[[int, int], T.float16], B: T.Tensor[[int, int], T.float16]):
    M, K = A.shape
    K, N = B.shape
    C = T.empty((M, N), T.float16)
    with T.Kernel(T.ceildiv(M, 256), T.ceildiv(N, 128), threads=256) as (bx, by):
        A_shared = T.alloc_shared((256, 64), A.dtype)
        B_shared = T.alloc_shared((64, 128), B.dtype)
        sums = T.alloc_fragment((128, 256), T.float32)
        T.clear(sums)
        for k in T.Pipelined(T.ceildiv(K, 64), num_stages=4):
            T.copy(A[bx * 256, k * 64], A_shared)
            T.copy(B[k * 64, by * 128], B_shared)
            T.gemm(B_shared, A_shared, sums, transpose_A=True, transpose_B=True)
        for i, j in T.Parallel(128, 256):
            C[bx * 256 + j, by * 128 + i] = sums[i, j]
    return C
END
$TILEC --arch=sm_90a --no-cache --emit=ptx $TMP/transposed.tile > $TMP/all.ptx --export \
  'gemm = gemm.compile(A=T.Tensor((4096, 4096), T.float16), B=T.Tensor((4096, 4096), T.float16))' &&
grep -o 'wgmma.mma_async[^ ]*' $TMP/all.ptx | sort | uniq -c
