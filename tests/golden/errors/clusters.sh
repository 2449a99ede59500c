# Blocks that use each other's shared memory, one of the waits left out: the emulator finds fault with each, and none with the
# whole. Blocks of a launch that do not all come to where they meet; clusters that are not whole, or too large; more blocks than
# run at a time.
cd $TMP
cat > whole.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def swap(A: T.Tensor[[T.dyn, 64], T.float32]):
    N, _ = A.shape
    B = T.empty((N, 64), T.float32)
    with T.ClusterKernel(N, cluster_dims=2, threads=64) as bx:
        own = T.alloc_shared((64,), T.float32)
        other = T.alloc_shared((64,), T.float32)
        for k in range(2):
            T.copy(A[bx, 0], own)
            T.cluster_sync()  # first
            T.copy_cluster(own, other, dst_block=1 - T.block_rank_in_cluster())
            T.cluster_sync()  # second
            T.copy(other, B[bx, 0])
    return B


@tilelang.lazy_jit
def pull(A: T.Tensor[[4, 64], T.float32]):
    B = T.empty((4, 64), T.float32)
    with T.ClusterKernel(4, cluster_dims=2, threads=64) as bx:
        own = T.alloc_shared((64,), T.float32)
        other = T.alloc_shared((64,), T.float32)
        T.cluster_sync()
        T.copy(A[bx, 0], own)
        T.copy_cluster(own, other, dst_block=1 - T.block_rank_in_cluster())
        T.copy(own, B[bx, 0])
    return B


@tilelang.lazy_jit
def half(A: T.Tensor[[4], T.int32], n: T.int32):
    with T.ClusterKernel(4, cluster_dims=2, threads=32) as bx:
        if bx < n:
            T.cluster_sync()
        A[bx] = bx


@tilelang.lazy_jit
def beyond(A: T.Tensor[[4], T.int32], n: T.int32):
    with T.ClusterKernel(4, cluster_dims=2, threads=32) as bx:
        s = T.alloc_shared((32,), T.int32)
        T.fill(s, 0)
        T.cluster_sync()
        T.copy_cluster(s, s, dst_block=n)
        T.cluster_sync()


@tilelang.lazy_jit
def meet(A: T.Tensor[[T.dyn], T.int32], n: T.int32):
    N, = A.shape
    with T.Kernel(N, threads=32) as bx:
        A[bx] = bx
        if bx < n:
            T.sync_grid()  # all
        A[(bx + 1) % N] = bx


@tilelang.lazy_jit
def pushed(A: T.Tensor[[4, 64], T.float32]):
    B = T.empty((4, 64), T.float32)
    with T.ClusterKernel(4, cluster_dims=2, threads=64) as bx:
        own = T.alloc_shared((64,), T.float32)
        inbox = T.alloc_shared((64,), T.float32)
        full = T.alloc_cluster_barrier(1)
        T.copy(A[bx, 0], own)
        T.copy_cluster(own, inbox, dst_block=1 - T.block_rank_in_cluster(), remote_barrier=full)
        T.mbarrier_wait_parity(full, 0)  # landed
        T.copy(inbox, B[bx, 0])
        T.cluster_sync()  # last
    return B


@tilelang.lazy_jit
def large(A: T.Tensor[[16], T.int32]):
    with T.ClusterKernel(16, cluster_dims=16, threads=32) as bx:
        A[bx] = bx


@tilelang.lazy_jit
def broken(A: T.Tensor[[15], T.int32]):
    with T.ClusterKernel(15, cluster_dims=2, threads=32) as bx:
        A[bx] = bx
T
run() {
    echo "$1"
    $TILEC run mutant.tile "$2" 2>&1 | sed -n '/^mutant.tile/p; /: error: [a-z]*: /{/fault.* found/!p}; /^fine/p' | cut -c1-300
}
swap='a = random((4, 64), float32); b = swap(a); print("fine", all([b[i, j] == a[i ^ 1, j] for i in range(4) for j in range(64)]))'
cp whole.tile mutant.tile; run "the whole" "$swap"
grep -v "# first" whole.tile > mutant.tile; run "without the first" "$swap"
grep -v "# second" whole.tile > mutant.tile; run "without the second" "$swap"
sed 's/T.cluster_sync()  # second/T.cluster_arrive_relaxed(); T.cluster_wait()/' whole.tile > mutant.tile; run "with a relaxed second" "$swap"
sed 's/T.cluster_sync()  # second/T.cluster_wait()/' whole.tile > mutant.tile; run "with half of the second" "$swap"
sed 's/T.cluster_sync()  # second/T.cluster_arrive(); T.cluster_arrive()/' whole.tile > mutant.tile; run "with two arrivals" "$swap"
cp whole.tile mutant.tile
run "a block may end before" 'a = random((4, 64), float32); b = pull(a)'
run "a block that has ended need not come" 'a = zeros((4,), int32); half(a, 3); print("fine", [a[i] for i in range(4)])'
run "no such block" 'a = zeros((4,), int32); beyond(a, 2)'
run "clusters that are not whole" 'a = random((3, 64), float32); b = swap(a)'
run "clusters that are too large" 'a = zeros((16,), int32); large(a)'
run "a number that is known" 'a = zeros((15,), int32); broken(a)'
run "blocks that meet" 'a = zeros((9,), int32); meet(a, 9); print("fine", [a[i] for i in range(9)])'
run "blocks that do not all meet" 'a = zeros((9,), int32); meet(a, 7)'
sed 's/T.sync_grid()  # all/pass/' whole.tile > mutant.tile; run "blocks that do not meet" 'a = zeros((9,), int32); meet(a, 7)'
sed 's/if bx < n:/if bx < N:/' whole.tile > mutant.tile; run "more blocks than run at a time" 'a = zeros((5000,), int32); meet(a, 5000)'
pushed='a = random((4, 64), float32); b = pushed(a); print("fine", all([b[i, j] == a[i ^ 1, j] for i in range(4) for j in range(64)]))'
cp whole.tile mutant.tile; run "what another block sends" "$pushed"
grep -v "# landed" whole.tile > mutant.tile; run "without waiting for it" "$pushed"
grep -v "# last" whole.tile > mutant.tile; run "without a last meeting" "$pushed"
sed 's/T.mbarrier_wait_parity(full, 0)/T.mbarrier_expect_tx(full, 512); &/' whole.tile > mutant.tile; run "bytes that do not come" "$pushed"
sed 's/full = T.alloc_cluster_barrier(1)/full = T.alloc_cluster_barrier(2)/' whole.tile > mutant.tile; run "more arrivals than come" "$pushed"
echo "a GPU without clusters"
cat > pair.tile <<'T'
import tilelang.language as T


@T.prim_func
def pair(A: T.Tensor((4,), T.int32)):
    with T.ClusterKernel(4, cluster_dims=2, threads=32) as bx:
        A[bx] = bx
T
$TILEC -c pair.tile -o pair.o --arch=sm_80
one_copy() { # NAME COLUMNS MASK
    cat > cast.tile <<T
import tilelang.language as T


@T.prim_func
def $1(A: T.Tensor((64, $2), T.float16)):
    with T.ClusterKernel(4, cluster_dims=4, threads=32) as bx:
        s = T.alloc_shared((8, $2), T.float16)
        T.copy_cluster(A[bx * 8, 0], s, cluster_mask=$3)
T
}
echo "no such blocks"
one_copy beyond 64 16; $TILEC check cast.tile
echo "a copy that TMA cannot do"
one_copy narrow 12 3; $TILEC -c cast.tile --arch=sm_90a -o cast.o
echo "a tensor that is not aligned"
one_copy wide 64 3; $TILEC run cast.tile 'a = random((65 * 64,), float16); b = a[1:4097].reshape((64, 64)); wide(b)' 2>&1 |
    sed -n '/error/p' | sed 's/0x[0-9a-f]*/ADDRESS/'
