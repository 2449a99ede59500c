# Patches of images that a convolution multiplies are gathered stages ahead by cp.async of 16 bytes, whether the text spells the
# condition out or not, and whatever columns behind the filter's end its last iteration has; no load goes through registers.
cat > $TMP/patches.tile <<'EOF'
import tilelang
import tilelang.language as T

@tilelang.jit(out_idx=[-1])
def convolution(K: int, block_K: int, spelled: bool, N: int = 4, H: int = 32, C: int = 64, F: int = 128):
    @T.prim_func
    def main(X: T.Tensor((N, H, H, C), T.float16), W: T.Tensor((K * K * C, F), T.float16), Y: T.Tensor((N * H * H, F), T.float16)):
        with T.Kernel(N * H * H // 128, threads=256) as by:
            x = T.alloc_shared((128, block_K), T.float16)
            w = T.alloc_shared((block_K, F), T.float16)
            acc = T.alloc_fragment((128, F), T.float32)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K * K * C, block_K), num_stages=3):
                if spelled:
                    for i, j in T.Parallel(128, block_K):
                        m, kk = by * 128 + i, k * block_K + j
                        h, v = m % (H * H) // H + kk // (K * C) - K // 2, m % H + kk // C % K - K // 2
                        inside = kk < K * K * C and h >= 0 and h < H and v >= 0 and v < H
                        x[i, j] = T.if_then_else(inside, X[m // (H * H), h, v, kk % C], T.cast(0, T.float16))
                else:
                    T.im2col(X, x, by, k, K, 1, 1, K // 2)
                T.copy(W[k * block_K, 0], w)
                T.gemm(x, w, acc)
            T.copy(acc, Y[by * 128, 0])
    return main
EOF
for call in 'convolution(3, 32, True)' 'convolution(3, 32, False)' 'convolution(5, 128, True)' 'convolution(5, 128, False)'; do
  echo "$call"
  $TILEC $TMP/patches.tile --arch=sm_90a --export "k = $call" --emit=ptx 2>/dev/null | sed '1,/^\.visible/!{/^\.visible/,$d}' |
    grep -oE 'ld\.global[.a-z0-9]*|cp\.async\.c[ag]\.shared\.global' | sort | uniq -c
done
