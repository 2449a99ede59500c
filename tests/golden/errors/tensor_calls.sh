# What a call of a kernel function refuses: each argument by its name.
cat >"$TMP/calls.tile" <<'TILE'
import tilelang.language as T
from tilelang import jit, lazy_jit


@lazy_jit
def product(A: T.Tensor[[int, T.dyn["K"]], T.float16], B: T.Tensor[[T.dyn["K"], 8], T.float16], times: T.int32 = 1):
    M, K = A.shape
    C = T.empty((M, 8), T.float32)
    with T.Kernel(1):
        C[0, 0] = K * times
    return C


@lazy_jit
def unnamed(A: T.Tensor[[T.dyn], T.float32], B: T.Tensor[[T.dyn], T.float32]):
    (n,) = A.shape
    (n,) = B.shape
    with T.Kernel(1):
        A[0] = B[0]


@lazy_jit
def narrow(A: T.StridedTensor[[T.dyn[T.int8, "n"]], [1], T.float32]):
    with T.Kernel(1):
        A[0] = 1


@lazy_jit
def asserted(A: T.Tensor[[T.dyn["n"]], T.float32], count: T.int32):
    (n,) = A.shape
    assert n % 8 == 0
    assert 0 < count <= n, f"count is 1 to the number of elements"
    with T.Kernel(1):
        A[0] = count


@lazy_jit
def positive(A: T.Tensor[[T.dyn["n"]], T.float32]):
    (n,) = A.shape
    B = T.empty((n - 10,), T.float32)
    with T.Kernel(1):
        B[0] = A[0]
    return B
TILE
cd "$TMP" || exit
ones='A = zeros((4, 6), float16); B = zeros((6, 8), float16)'
for call in 'product(zeros((4, 6), float32), B)' 'product(A, zeros((6, 9), float16))' 'product(A, zeros((7, 8), float16))' \
    'product(zeros((4,), float16), B)' 'product(zeros((6, 4), float16).T, B)' 'product(A)' 'product(A, 5)' 'product(A, B, 1, 2)' \
    'product(A, B, B=B)' 'product(A, B, other=3)' 'product(A, B, times=1.5)' 'product(A, B, times=2 ** 31)' 'product.compile(A, B)(zeros((5, 6), float16), B)' \
    'product.compile(A, B, times=3)(A, B, A)' 'unnamed(zeros((4,), float32), zeros((5,), float32))' 'narrow(zeros((200,), float32))' \
    'positive(zeros((4,), float32))' 'asserted(zeros((9,), float32), 2)' 'asserted(zeros((8,), float32), 9)' 'product.par_compile([{"A": A, "B": B}, {"A": A}, {"A": B, "B": A}])' 'product.par_compile([5])' \
    'print(product.par_compile([{"A": A, "B": B}, {"A": B, "B": A}], ignore_error=True))'; do
    "$TILEC" run calls.tile "$ones; $call" && echo "nothing was refused"
done
