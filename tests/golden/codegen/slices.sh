# Slices of a shared tile that a loop copies one after the other, each from a page that a table has, are copied together: 16 bytes at a
# time by cp.async where they are copies, ahead of the product in its loop; so are those that are cast on the way. A slice that begins
# where the text says at run time is stored 16 bytes at a time, too, though rows of other slices lie between its own in the swizzled tile.
cat > $TMP/slices.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.jit
def pages(page: int, cache: str):
    @T.prim_func
    def main(Q: T.Tensor((64, 128), T.bfloat16), K: T.Tensor((100, page, 128), cache), table: T.Tensor((256,), T.int32), O: T.Tensor((64, 64), T.float32)):
        with T.Kernel(1, threads=128) as k:
            q = T.alloc_shared((64, 128), T.bfloat16)
            tile = T.alloc_shared((64, 128), T.bfloat16)
            sums = T.alloc_fragment((64, 64), T.float32)
            T.copy(Q, q)
            T.clear(sums)
            for t in T.Pipelined(16, num_stages=2):
                for p in T.serial(64 // page):
                    T.copy(K[table[t * (64 // page) + p], :, :], tile[p * page : (p + 1) * page, :])
                T.gemm(q, tile, sums, transpose_B=True)
            T.copy(sums, O)
    return main

@tilelang.jit
def chosen():
    @T.prim_func
    def main(A: T.Tensor((16, 128), T.bfloat16), B: T.Tensor((64, 128), T.bfloat16), at: T.Tensor((1,), T.int32), O: T.Tensor((64, 64), T.float32)):
        with T.Kernel(1, threads=128) as k:
            a = T.alloc_shared((64, 128), T.bfloat16)
            b = T.alloc_shared((64, 128), T.bfloat16)
            sums = T.alloc_fragment((64, 64), T.float32)
            T.clear(a)
            T.copy(B, b)
            T.copy(A, a[T.min(at[0], 3) * 16 : T.min(at[0], 3) * 16 + 16, :])
            T.clear(sums)
            T.gemm(a, b, sums, transpose_B=True)
            T.copy(sums, O)
    return main
END
$TILEC $TMP/slices.tile --arch=sm_90a --export 'pages_16 = pages(16, "bfloat16")' --export 'pages_32_fp8 = pages(32, "float8_e4m3fn")' --export 'chosen = chosen()' --emit=ptx 2>/dev/null |
  awk '/^\.visible/ { wanted = /_aligned/ } wanted' |
  grep -oE '^\.visible \.entry [a-z0-9_]+|ld\.global[.a-z0-9]*|cp\.async\.c[ag]\.shared\.global|st\.shared[.a-z0-9]*|cp\.async\.commit_group|wgmma\.mma_async' | uniq -c
