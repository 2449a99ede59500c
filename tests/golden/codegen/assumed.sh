# What is assumed takes bounds checks away: predicates of loads, with and without.
cd $TMP
kernel() {
    cat > k.tile <<T
import tilelang
import tilelang.language as T


@tilelang.jit
def pick(A: T.Tensor[[T.dyn["n"]], T.float32], order: T.Tensor[[64], T.int32]):
    n = A.shape[0]
    B = T.empty((64,), T.float32)
    with T.Kernel(1, threads=64):
        t = T.get_thread_binding()
        place = order[t]
        $1
        B[t] = A[place]
    return B


@tilelang.jit
def rows(A: T.Tensor[[T.dyn["n"], 64], T.float32]):
    n = A.shape[0]
    whole = n // 2
    $2
    B = T.empty((whole, 64), T.float32)
    with T.Kernel(T.ceildiv(whole, 16), threads=64) as b:
        a = T.alloc_fragment((16, 64), T.float32)
        T.fill(a, A[0, 0])
        T.copy(a, B[b * 16, 0])
    return B
T
    $TILEC k.tile --arch=sm_80 --emit=ptx --ptxas=none >k.ptx
    awk '/\.entry/ { name = $0; sub(/.*\.entry /, "", name); sub(/\(.*/, "", name) } /setp/ { tests[name]++ }
        /(ld|st)\.global/ { accesses[name]++; wide[name] += /\.v4/ }
        END { for (name in accesses) printf "%s: %d accesses, %d wide, %d comparisons\n", name, accesses[name], wide[name], tests[name] }' k.ptx | sort
}
kernel pass pass
kernel "T.assume(0 <= place < n)" "T.assume(whole % 16 == 0)"
