# Barriers of the author's own, one of them left out, another parity, another count: the emulator finds fault with each, and none
# with the whole, on a GPU with mbarriers alone and on one with wgmma.
cd $TMP
cat > whole.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def product(A: T.Tensor[[64, 128], T.float16], B: T.Tensor[[128, 64], T.float16]):
    C = T.empty((64, 64), T.float32)
    with T.Kernel(1, threads=256):
        a = T.alloc_shared((64, 32), T.float16)
        b = T.alloc_shared((32, 64), T.float16)
        acc = T.alloc_fragment((64, 64), T.float32)
        ready = T.alloc_barrier(128)
        done = T.alloc_barrier(128)
        with T.ws(0):
            for k in range(4):
                T.barrier_wait(done, (k + 1) % 2)
                T.tma_copy(A[0, k * 32], a, barrier=ready)
                T.tma_copy(B[k * 32, 0], b, barrier=ready)
                T.barrier_arrive(ready)
        with T.ws(1):
            T.clear(acc)
            for k in range(4):
                T.barrier_wait(ready, k % 2)
                T.gemm(a, b, acc)
                T.barrier_arrive(done)
            T.copy(acc, C)
    return C
T
run() {
    for arch in emulator:sm_90a emulator:sm_80; do
        echo "$1, $arch"
        $TILEC run --arch=$arch mutant.tile 'a = random((64, 128), float16, seed=1); b = random((128, 64), float16, seed=2); assert allclose(product(a, b), matmul(a, b), 1e-2, 1e-2); print("right")' 2>&1 |
            sed -n 's/^\(right\)$/  \1/p; s/^mutant.tile:\([0-9]*\):[0-9]*: \(race\|unwritten memory\|unfinished copy\|unfinished read\|unfenced write\|unfenced read\|deadlock\)\(.*\)/  line \1: \2\3/p; s/.*\(assertion failed\).*/  \1/p' | sed 's/: \(race\|un[a-z ]*\): .*/: \1/' | sort -u
    done
}
cp whole.tile mutant.tile; run "the whole"
for line in 'T.barrier_wait(done' 'T.barrier_arrive(ready' 'T.barrier_wait(ready' 'T.barrier_arrive(done'; do
    grep -v -F "$line" whole.tile > mutant.tile; run "without $line)"
done
sed 's/(k + 1) % 2/k % 2/' whole.tile > mutant.tile; run "producers a phase late"
sed 's/ready, k % 2/ready, (k + 1) % 2/' whole.tile > mutant.tile; run "consumers a phase early"
sed 's/ready = T.alloc_barrier(128)/ready = T.alloc_barrier(256)/' whole.tile > mutant.tile; run "more arrivals than threads"
sed 's/done = T.alloc_barrier(128)/done = T.alloc_barrier(1)/' whole.tile > mutant.tile; run "fewer arrivals than threads"
