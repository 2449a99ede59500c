# A table that is loaded as a whole, and looked up at an index that all threads have: read where it is wanted, but not where the launch
# writes the table, nor where the tile is larger than it.
cd $TMP
cat >k.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def looked_up(n: int, width: int, writes: bool):
    @T.prim_func
    def main(table: T.Tensor((8, 32), T.int32), A: T.Tensor((64, 64), T.float32), B: T.Tensor((64, 64), T.float32)):
        with T.Kernel(8, threads=64) as b:
            rows = T.alloc_fragment((width,), T.int32)
            sums = T.alloc_fragment((64,), T.float32)
            T.copy(table[b, 0:width], rows)
            T.clear(sums)
            for k in T.serial(n):
                if rows[k] >= 0:
                    for j in T.Parallel(64):
                        sums[j] += A[rows[k], j]
            T.copy(sums, B[b, :])
            if writes:
                for j in T.Parallel(32):
                    table[b, j] = 0
    return main
T
for call in '20, 32, False' '20, 32, True' '20, 64, False'; do
    echo "$call"
    $TILEC k.tile --arch=sm_80 --ptxas=none --print-after=loaded_elements --export "k = looked_up($call)" -o k.o 2>&1 | awk '/^kernel.*_aligned/ { on = 1 } on' | grep -oE '= (element_load|reduce|load) %[a-zA-Z0-9]*' | sed 's/%[0-9]*$/%/' | sort | uniq -c
done
