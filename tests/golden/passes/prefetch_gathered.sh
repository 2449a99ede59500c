# Elements that are gathered to shared memory under a condition, zeros elsewhere, are gathered an iteration ahead of the product that reads them, in a
# loop that does more and goes by a plan, under the condition alone; what another condition chooses, or something beside the store uses, is not.
cat > $TMP/a.tile <<'T'
import tilelang
import tilelang.language as T

WAY = "same"


@tilelang.jit
def product(X: T.Tensor[[4096, 64], T.float16], K: T.Tensor[[1024, 64], T.float16], Y: T.Tensor[[4096, 64], T.float32], way: str = WAY):
    with T.Kernel(64, threads=128) as b:
        x = T.alloc_shared([64, 64], T.float16)
        k = T.alloc_shared([64, 64], T.float16)
        sums = T.alloc_fragment([64, 64], T.float32)
        T.clear(sums)
        for step in T.Pipelined(16, num_stages=2):
            for i, j in T.Parallel(64, 64):
                row = (b * 64 + i) * 3 % 4000 + step
                inside = row % 3 != 0
                if way == "same":
                    x[i, j] = T.if_then_else(inside, X[row, j], T.float16(0))
                elif way == "one":
                    x[i, j] = T.if_then_else(inside, X[row, j], T.float16(1))
                else:
                    x[i, j] = T.if_then_else(inside, X[row, j], T.float16(0)) + T.float16(1)
            T.copy(K[step * 64, 0], k)
            T.gemm(x, k, sums)
            for i, j in T.Parallel(64, 64):
                sums[i, j] = sums[i, j] * 0.5
        T.copy(sums, Y[b * 64, 0])
T
for way in same one other; do
    echo "$way:"
    $TILEC $TMP/a.tile --arch=sm_90a --ptxas=none --no-cache -Rperf --print-after=pipeline -o $TMP/a.o --export "k = product" -D "WAY='$way'" 2>&1 |
        awk '/^kernel/ { first = !seen++ } first && / = (gather|select) .*tile<f16/ { match($0, /= (gather|select)/); print substr($0, RSTART + 2, RLENGTH - 2) }
             / error|loads are made/ { sub(/.*remark: /, ""); print }' | sort | uniq -c
done
