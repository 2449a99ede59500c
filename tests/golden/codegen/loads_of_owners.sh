# Eight warps copy 64 elements by registers, for shared memory alone: two of them load.
cd $TMP
export TILEC_CACHE=off
cat > copy.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def flipped(n):
    @T.prim_func
    def main(A: T.Tensor((n, 3), "float16"), B: T.Tensor((n, 3), "float16")):
        with T.Kernel(n // 64, threads=256) as b:
            S = T.alloc_shared((64,), "float16")
            T.copy(A[b * 64:b * 64 + 64, 1], S)
            for i in T.Parallel(64):
                B[b * 64 + i, 1] = S[63 - i]

    return main
END
$TILEC copy.tile -Wno-W0706 --arch=sm_90a -S -o copy.ptx --export 'k = flipped.compile(n=4096)' && grep -o '.*ld.global[.a-z0-9]*' copy.ptx
