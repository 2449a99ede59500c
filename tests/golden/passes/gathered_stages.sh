# What threads gather for a product of a loop with stages is copied ahead to stages, as its other operand is: by cp.async, as a thread's 16 bytes lie side by
# side; but not where the loop writes what is gathered, where the tile is used behind the loop, where elements are apart, or where it does more.
cat > $TMP/a.tile <<'T'
import tilelang
import tilelang.language as T

WAY = "rows"


@tilelang.jit
def product(X: T.Tensor[[4096, 64], T.float16], table: T.Tensor[[1024], T.int32], K: T.Tensor[[1024, 64], T.float16], Y: T.Tensor[[4096, 64], T.float32], way: str = WAY):
    with T.Kernel(64, threads=128) as b:
        x = T.alloc_shared([64, 64], T.float16)
        k = T.alloc_shared([64, 64], T.float16)
        sums = T.alloc_fragment([64, 64], T.float32)
        T.clear(sums)
        for step in T.Pipelined(16, num_stages=3):
            for i, j in T.Parallel(64, 64):
                row = (b * 64 + i) * 3 % 4000 + step
                inside = row % 3 != 0
                if way == "apart":
                    x[i, j] = T.if_then_else(inside, X[row, 63 - j], T.float16(0))
                elif way == "table":
                    x[i, j] = X[table[step * 64 + i], j]
                elif way == "ones":
                    x[i, j] = T.if_then_else(inside, X[row, j], T.float16(1))
                else:
                    x[i, j] = T.if_then_else(inside, X[row, j], T.float16(0))
            T.copy(K[step * 64, 0], k)
            T.gemm(x, k, sums)
            if way == "written":
                X[step, 0] = T.float16(0)
            if way == "more":
                for i, j in T.Parallel(64, 64):
                    sums[i, j] = sums[i, j] * 0.5
        if way == "behind":
            for i, j in T.Parallel(64, 64):
                sums[i, j] += x[i, j]
        T.copy(sums, Y[b * 64, 0])
T
for way in rows table apart ones written behind more; do
    echo "$way:"
    $TILEC $TMP/a.tile --arch=sm_90a --ptxas=none --no-cache -Rperf --print-after=multi_buffer -o $TMP/a.o --export "k = product" -D "WAY='$way'" 2>&1 |
        awk '/^kernel/ { first = /_aligned export/ } first && / = (gather|select) .*tile<f16/ { match($0, /= (gather|select)/); print substr($0, RSTART + 2, RLENGTH - 2) }
             first && / shared_store .*async = 1/ { match($0, /\{.*\}/); print "shared_store", substr($0, RSTART, RLENGTH) }
             / error|multi-buffered over.*aligned|by plan.*aligned/ { sub(/.*remark: /, ""); print }' | sort | uniq -c
done
