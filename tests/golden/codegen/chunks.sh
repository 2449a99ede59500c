# A parallel loop of 8192 iterations a thread is code for some of them, in a loop.
cd $TMP
cat > k.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def turned(A: T.Tensor[[1024, 512], T.float32]):
    B = T.empty((512, 1024), T.float32)
    with T.Kernel(1, threads=64):
        for i, j in T.Parallel(1024, 512):
            B[j, i] = A[i, j] * 2
    return B
T
$TILEC k.tile --arch=sm_80 --emit=ptx --ptxas=none >k.ptx
[ $(grep -c . k.ptx) -lt 1500 ] && echo "some"
grep -c 'st.global' k.ptx
