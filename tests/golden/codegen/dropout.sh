# A thread's eight elements lie side by side, though the numbers that choose them are taken in turn: the ten rounds of Philox run twice for
# eight numbers, and nothing branches. Fragments whose elements are counted through two dimensions stay in registers.
cat >"$TMP/dropout.py" <<'END'
import tilelang.language as T

N = 4096


@T.prim_func
def dropout(x: T.Tensor((N,), "float16"), y: T.Tensor((N,), "float16")):
    with T.Kernel(T.ceildiv(N, 2048), threads=256) as bx:
        T.rng_init(0)
        for i, j in T.Parallel(256, 8):
            idx = (bx * 256 + i) * 8 + j
            value = T.rng_rand_float()
            if idx < N:
                y[idx] = T.if_then_else(value >= T.cast(0.5, "float32"), x[idx] * T.cast(2.0, "float16"), T.cast(0.0, "float16"))


@T.prim_func
def signs(x: T.Tensor((N,), "float16"), y: T.Tensor((N,), "float16")):
    with T.Kernel(T.ceildiv(N, 2048), threads=256) as bx:
        a = T.alloc_fragment((2048,), "float16")
        b = T.alloc_fragment((2048,), "float16")
        T.copy(x[bx * 2048:(bx + 1) * 2048], a)
        for i, j in T.Parallel(256, 8):
            b[i * 8 + j] = T.if_then_else(a[i * 8 + j] > T.cast(0.0, "float16"), T.cast(1.0, "float16"), T.cast(-1.0, "float16"))
        T.copy(b, y[bx * 2048:(bx + 1) * 2048])
END
$TILEC "$TMP/dropout.py" --arch sm_90a --emit=ptx -o - |
  awk '/^\.visible \.entry/ { print $3; on = /aligned/ } on { print }' | grep -oE '^[a-z_0-9]*\(|(ld|st)\.(global|shared)[.a-z0-9]*|mul\.hi|bar\.sync|bra ' |
  awk '/mul.hi/ { rounds++; next } rounds { print "mul.hi", rounds; rounds = 0 } { print }' | uniq -c | awk '{ $1 = $1 } 1'
