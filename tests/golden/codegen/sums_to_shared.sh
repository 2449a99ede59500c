# Sums of a product go to shared memory as f16 by stmatrix, whoever reads the tile then: here threads that write rows of 264 bytes, which
# TMA does not.
cat >"$TMP/sums.py" <<'END'
import tilelang.language as T

K = 256


@T.prim_func
def sums(a: T.Tensor((128, K), "float16"), b: T.Tensor((K, 128), "float16"), c: T.Tensor((128, 132), "float16"), m: T.int32):
    with T.Kernel(1, threads=128):
        sa = T.alloc_shared((128, 64), "float16")
        sb = T.alloc_shared((64, 128), "float16")
        sc = T.alloc_shared((128, 128), "float16")
        acc = T.alloc_fragment((128, 128), "float32")
        T.clear(acc)
        for k in T.Pipelined(K // 64, num_stages=2):
            T.copy(a[0, k * 64], sa)
            T.copy(b[k * 64, 0], sb)
            T.gemm(sa, sb, acc)
        T.copy(acc, sc)
        for i, j in T.Parallel(128, 128):
            if i < m:
                c[i, j] = sc[i, j] * 2.0
END
$TILEC "$TMP/sums.py" --arch sm_90a --emit=ptx -o - | awk '/^\.visible \.entry/ { print $3; on = /aligned/ } on' | grep -oE '^[a-z_0-9]*\(|st\.(shared|global)[.a-z0-9]*|stmatrix[.a-z0-9]*' | sort | uniq -c | awk '{ $1 = $1 } 1'
