# A vectorized loop within a parallel one is a dimension of it: the tile is written and read as a whole, with one barrier between, and not
# element by element in turns.
cat >"$TMP/halves.py" <<'END'
import tilelang.language as T


@T.prim_func
def halves(a: T.Tensor((64, 64), "uint16"), b: T.Tensor((64, 64), "uint16")):
    with T.Kernel(1, threads=128):
        held = T.alloc_fragment((64, 64), "uint16")
        turned = T.alloc_shared((64, 64), "bfloat16")
        T.copy(a, held)
        for i, j in T.Parallel(64, 32):
            for v in T.vectorized(2):
                turned[i, j * 2 + v] = T.reinterpret(held[i, j * 2 + v], dtype="bfloat16")
        for i, j in T.Parallel(64, 32):
            for v in T.vectorized(2):
                held[i, j * 2 + v] = T.reinterpret(turned[j * 2 + v, i], dtype="uint16")
        T.copy(held, b)
END
$TILEC "$TMP/halves.py" --arch sm_90a --ptxas=none --emit=ptx -o - 2>"$TMP/messages" | grep -oE '(ld|st)\.(shared|global)[.a-z0-9]*|bar\.sync' | sort | uniq -c | awk '{ $1 = $1 } 1'
