# A loop by plan whose products in flight take more registers than there are waits for each of them at once, and keeps its producers;
# but where several blocks run on a multiprocessor, which cover for each other.
cd $TMP
cat > ptxas <<'END'
#!/bin/bash
. $TILE_ROOT/tests/tools/fake_ptxas.bash
[ "$threads" -gt 256 ] && cp "$ptx" planned.ptx
if grep -q 'wgmma.wait_group.sync.aligned 1' "$ptx"; then answer 168 400 400; else answer 168 0 0; fi
END
chmod +x ptxas
cat > two.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.jit
def two(N: int = 1024, D: int = 64):
    @T.prim_func
    def main(A: T.Tensor((N, D), T.float16), B: T.Tensor((N, D), T.float16), C: T.Tensor((N, D), T.float16)):
        with T.Kernel(N // 128, threads=256) as bx:
            a = T.alloc_shared((128, D), T.float16)
            b = T.alloc_shared((64, D), T.float16)
            c = T.alloc_shared((64, D), T.float16)
            left = T.alloc_fragment((128, 64), T.float32)
            right = T.alloc_fragment((128, 64), T.float32)
            product = T.alloc_fragment((128, 64), T.float16)
            out = T.alloc_fragment((128, D), T.float32)
            T.copy(A[bx * 128, 0], a)
            T.clear(out)
            for k in T.Pipelined(N // 64, num_stages=2):
                T.copy(B[k * 64, 0], b)
                T.copy(C[k * 64, 0], c)
                T.gemm(a, b, left, transpose_B=True, clear_accum=True)
                T.gemm(a, c, right, transpose_B=True, clear_accum=True)
                for i, j in T.Parallel(128, 64):
                    left[i, j] = T.exp2(left[i, j])
                for i, j in T.Parallel(128, 64):
                    product[i, j] = left[i, j] * right[i, j]
                T.gemm(product, c, out)
            T.copy(out, A[bx * 128, 0])
    return main

k = two()
END
said() { $TILEC $1 --arch=sm_90a --no-cache --ptxas=./ptxas -Rperf -o k.o 2>&1 | grep -oE '(a loop by plan|a loop of products and other work).*sm_90a, aligned' | sort | uniq -c; }
said two.tile
grep -oE 'wgmma.wait_group.sync.aligned [0-9]' planned.ptx | sort | uniq -c
sed 's/threads=256/threads=128/; s/(128, /(64, /g; s/128/64/g; s/threads=64/threads=128/' two.tile > beside.tile
said beside.tile
