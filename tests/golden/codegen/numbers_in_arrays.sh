# Where a tile lies stands in arrays of one number each, as texts with roles of threads have it: copies are by TMA, of slices whose length is
# known though both ends are read of the array, and stores by 16 bytes.
cat >"$TMP/turns.py" <<'END'
import tilelang.language as T

M, K = 1024, 512


@T.prim_func
def turns(a: T.Tensor((4, M, K), "float16"), b: T.Tensor((4, M, K), "float16")):
    with T.Kernel(16, threads=128) as pid:
        s = T.alloc_shared((64, 64), "float16")
        full = T.alloc_barrier([128])
        batch = T.alloc_local((1,), "int32")
        row = T.alloc_local((1,), "int32")
        for w in T.serial(5):
            tile = w * 16 + pid
            if tile < 64:
                batch[0] = tile // 16
                row[0] = tile % 16 * 64
                for k in T.serial(8):
                    T.tma_copy(a[batch[0], row[0]:row[0] + 64, k * 64:(k + 1) * 64], s, barrier=full)
                    T.barrier_arrive(full)
                    T.barrier_wait(full, (w * 8 + k) & 1)
                    T.copy(s, b[batch[0], row[0]:row[0] + 64, k * 64:(k + 1) * 64])
END
$TILEC "$TMP/turns.py" --arch sm_90a --emit=ptx -o - | awk '/^\.visible \.entry/ { print $3; on = /aligned/ } on' | grep -oE '^[a-z_0-9]*\(|(ld|st)\.(global|local)[.a-z0-9]*|cp\.async\.bulk\.tensor\.[0-9]d\.[a-z]*(::[a-z]*)?\.[a-z]*(::[a-z]*)?' | uniq -c
