# A filter of nine places, whose borders a mask leaves out: nine loads of each operand that wait for nothing, and no choice of what is read but
# of the sums, eight a place.
$TILEC $TILE_ROOT/tests/exec/tilelang_filters.tile --arch=sm_90a --export 'filter = depthwise_images(4, 56, 56, 256)' --emit=ptx 2>/dev/null |
  awk '/^.visible .entry/ { print $3 } /_aligned_param_0,/ { on = 1 } on { print } /^}/ { on = 0 }' |
  grep -oE '^[a-z_0-9]+\($|ld\.global[.a-z0-9]*|selp\.[a-z0-9]*|bra |st\.global[.a-z0-9]*' | sort | uniq -c
# The 25 places of a filter whose edges are masked, by four elements of a thread: masks and coordinates count as little, so that it is not too
# much. Most places are aligned to nothing: neighbours are those of lanes, so that no access asks for lines of which it takes a part.
cat >$TMP/edges.py <<'T'
import tilelang
import tilelang.language as T

@T.prim_func
def blur(X: T.Tensor[(1024, 1024), "float32"], Y: T.Tensor[(1024, 1024), "float32"]):
    with T.Kernel(16, 64, threads=256) as (bx, by):
        total = T.alloc_fragment((16, 64), "float32")
        T.clear(total)
        for dy, dx in T.grid(5, 5):
            for i, j in T.Parallel(16, 64):
                y = by * 16 + i + dy - 2
                x = bx * 64 + j + dx - 2
                if y >= 0 and y < 1024 and x >= 0 and x < 1024:
                    total[i, j] += X[y, x]
        for i, j in T.Parallel(16, 64):
            Y[by * 16 + i, bx * 64 + j] = total[i, j] * 0.04
T
$TILEC $TMP/edges.py --arch=sm_90a --ptxas=none --emit=ptx -o $TMP/edges.ptx 2>/dev/null
grep -oE 'ld\.global[.a-z0-9]*|\bdiv|\brem|\bbra' $TMP/edges.ptx | sort | uniq -c
