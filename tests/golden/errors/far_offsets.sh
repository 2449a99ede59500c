# Offsets of 2^33 elements are not taken for zero: each access is found outside of the memory that there is.
cat >"$TMP/far.tile" <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def far(A: T.ptr, B: T.Tensor[[3, 4], T.float32], row: T.int32):
    view = T.match_buffer(A, (8, 4), T.float32, strides=(1 << 31, 1))
    with T.Kernel(1, threads=32):
        x = T.alloc_fragment((1, 4), T.float32)
        s = T.alloc_shared((1, 4), T.float32)
        T.copy(view[row, 0], x)
        T.copy(x, B[0:1, 0:4])
        T.copy(view[row:row + 1, 0:4], s)
        T.copy(s, B[1:2, 0:4])
        for i in T.Parallel(4):
            B[2, i] = view[row, 3 - i]
        B[2, 0] = view[row, 0]
END
cd "$TMP" || exit
"$TILEC" run far.tile 'a = zeros((64,), float32); b = zeros((3, 4), float32); far(a, b, 4)' 2>&1 | sed 's/0x[0-9a-f]*/ADDRESS/'
