# What blocks add to global memory, where nobody wants to know what was there: several elements an instruction from sm_90 on, 16-bit
# floats by the machine's own sums; what is wanted, or compared, as before.
cat >"$TMP/kernels.py" <<'T'
import tilelang
import tilelang.language as T


def sums(dtype):
    @T.prim_func
    def tile(A: T.Tensor((256, 128), dtype), C: T.Tensor((128, 128), dtype)):
        with T.Kernel(2, threads=128) as bx:
            a = T.alloc_fragment((128, 128), dtype)
            T.copy(A[bx * 128, 0], a)
            T.atomic_add(C[0, 0], a)

    return tile


def threads(dtype, count):
    @T.prim_func
    def elements(A: T.Tensor((128, 8), dtype), C: T.Tensor((128, 8), dtype)):
        with T.Kernel(2, threads=128):
            t = T.get_thread_binding(0)
            a = T.alloc_local((count,), dtype)
            for i in T.vectorized(count):
                a[i] = A[t, i]
            for i in T.unroll(count):
                T.atomic_add(C[t, i], a[i])

    return elements


def wanted(dtype):
    @T.prim_func
    def old(A: T.Tensor((128, 8), dtype), C: T.Tensor((128, 8), dtype), D: T.Tensor((128,), dtype)):
        with T.Kernel(2, threads=128):
            t = T.get_thread_binding(0)
            D[t] = T.atomic_add(C[t, 0], A[t, 0], return_prev=True)

    return old
T
cd "$TMP" || exit
look() {
    "$TILEC" kernels.py --arch="$1" --emit=ptx --export "k = $2" 2>/dev/null | awk '/^.version/ && ++n == 2 { exit } { print }' >k.ptx
    echo "$1 $2: $(grep -oE '(red|atom)\.[a-z0-9_.:]*' k.ptx | sort | uniq -c | tr -s ' \n' ' ')"
    [ "$1" != sm_90a ] || "$PTXAS" -arch=sm_90a k.ptx -o k.cubin || echo 'ptxas refuses it'
}
needs ptxas
for target in sm_90a sm_80; do
    for dtype in T.float32 T.float16 T.bfloat16; do
        look $target "sums($dtype)"
        look $target "threads($dtype, 8)"
        look $target "wanted($dtype)"
    done
    look $target 'threads(T.int32, 4)'
done
