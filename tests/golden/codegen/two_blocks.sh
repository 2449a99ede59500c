# Products of 128 x 128 tiles, three stages of 64 along k, by two warpgroups: persistent blocks, two of which have room on a multiprocessor,
# so that tiles are stored from one buffer; of 128 x 256 tiles one has room anyway, and as many buffers as there is room for. Panels of
# blocks that the author asks for keep neither.
cd $TMP
cat >k.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def product(N, columns):
    @T.prim_func
    def main(A: T.Tensor((N, N), T.float16), B: T.Tensor((N, N), T.float16), C: T.Tensor((N, N), T.float16)):
        with T.Kernel(N // columns, N // 128, threads=256) as (bx, by):
            a = T.alloc_shared((128, 64), T.float16)
            b = T.alloc_shared((64, columns), T.float16)
            c = T.alloc_fragment((128, columns), T.float32)
            T.use_swizzle(10)
            T.clear(c)
            for k in T.Pipelined(N // 64, num_stages=3):
                T.copy(A[by * 128, k * 64], a)
                T.copy(B[k * 64, bx * columns], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 128, bx * columns])
    return main
T
for size in '4224, 128' '4096, 256'; do # 33 blocks in a row are not merged
    $TILEC k.tile --arch=sm_90a --ptxas=none --export "k = product($size)" -Rperf -o k.o 2>&1 | grep -oE '(a store by|[0-9]+ warps and|persistent blocks).*aligned'
done
