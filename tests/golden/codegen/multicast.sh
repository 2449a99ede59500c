# Rows of B that are not whole lines of 128 bytes, of a width known at the call: blocks go in clusters of two, of which each copies half
# of what both need to both, and gives stages back to both. Where rows are whole lines, each copies for itself.
cd $TMP
cat > product.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def gemm(A: T.Tensor[[T.dyn["M"], T.dyn["K"]], T.float16], B: T.Tensor[[T.dyn["K"], int], T.float16]):
    M, K = A.shape
    K, N = B.shape
    C = T.empty((M, N), T.float16)
    with T.Kernel(T.ceildiv(M, 256), T.ceildiv(N, 128), threads=256) as (bx, by):
        a = T.alloc_shared((256, 64), T.float16)
        b = T.alloc_shared((64, 128), T.float16)
        c = T.alloc_fragment((256, 128), T.float32)
        T.clear(c)
        for k in T.Pipelined(T.ceildiv(K, 64), num_stages=4):
            T.copy(A[bx * 256, k * 64], a)
            T.copy(B[k * 64, by * 128], b)
            T.gemm(a, b, c)
        T.copy(c, C[bx * 256, by * 128])
    return C
T
for n in 4096 4104; do
  echo "$n columns"
  $TILEC --emit=ptx product.tile --arch=sm_90a --ptxas=none --export "gemm = gemm.compile(A=T.Tensor((4000, 4096), T.float16), B=T.Tensor((4096, $n), T.float16))" >all.ptx
  awk '/\.entry .*_aligned/ { inside = 1 } inside; /ret;/ { inside = 0 }' all.ptx |
    grep -oE 'reqnctapercluster.*|barrier\.cluster\.[a-z.]*|cp\.async\.bulk\.tensor\.2d\.shared[^ ]*|mbarrier\.arrive\.[a-z.:]*|mapa[^ ]*' | sort | uniq -c
done
