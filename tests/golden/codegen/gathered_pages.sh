# Rows that are gathered from pages, whose numbers a table has, come 16 bytes at a time, whatever whole pages a tile has.
cat > $TMP/pages.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.jit
def pages(rows: int, page: int, D: int = 64):
    @T.prim_func
    def main(K: T.Tensor((100, page, D), T.float16), table: T.Tensor((256,), T.int32), O: T.Tensor((4 * rows, D), T.float16)):
        with T.Kernel(4, threads=128) as k:
            tile = T.alloc_shared((rows, D), T.float16)
            for i, d in T.Parallel(rows, D):
                tile[i, d] = K[table[k * (rows // page) + i // page], i % page, d]
            T.copy(tile, O[k * rows, 0])
    return main
END
$TILEC $TMP/pages.tile --arch=sm_90a --export 'pages_16 = pages(64, 16)' --export 'pages_4 = pages(32, 4)' --emit=ptx 2>/dev/null |
  grep -oE '^\.visible \.entry [a-z0-9_]+|ld\.global[.a-z0-9]*|cp\.async\.c[ag]\.shared\.global|st\.shared[.a-z0-9]*' | uniq -c
