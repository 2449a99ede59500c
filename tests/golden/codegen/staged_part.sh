# needs ptxas
# Rows of a fragment that go to others of a shared tile: no more shared memory than the tile has, as that part alone is read.
cat >"$TMP/part.tile" <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def upper(A, B):
    A: T.Tensor[[64, 256], T.float32]
    B: T.Tensor[[32, 256], T.float32]
    with T.Kernel(1, threads=128):
        f = T.alloc_fragment((64, 256), T.float32)
        s = T.alloc_shared((32, 256), T.float32)
        T.copy(A, f)
        for i, j in T.Parallel(64, 256):
            if i < 32:
                s[i, j] = f[i + 32, j]
        T.copy(s, B)


upper.compile()
END
cd "$TMP" && "$TILEC" part.tile --arch=sm_90a -o part.o -H part.h && "$TILEC" info part.o | grep -o '[0-9]* bytes of shared memory' | sort | uniq -c
