# A kernel of so many operations that LLVM does little to its code for the emulator gives the same numbers.
cd $TMP
{
    cat <<'END'
import tilelang
import tilelang.language as T
from tile.host import arange, int32


@tilelang.jit
def many(A: T.Tensor[[T.dyn["n"]], T.int32]):
    (n,) = A.shape
    with T.Kernel(1, threads=32):
END
    for ((i = 0; i < 800; i++)); do echo "        if n > $i: A[$i] = A[$i] * 3 + A[$((i * 7 % 400))]"; done
    cat <<'END'
        for i in T.Parallel(32):
            A[i] = A[31 - i]


many.compile()


def check(n):
    a = arange(n, int32)
    many(a)
    expected = list(range(n))
    for i in range(n):
        expected[i] = expected[i] * 3 + expected[i * 7 % 400]
    expected = [expected[31 - i] for i in range(32)] + expected[32:]
    print([int(a[i]) for i in range(n)] == expected, sum(expected))
END
} > many.tile
$TILEC many.tile --arch=emulator -o many.o && $TILEC run --device=emulator many.tile 'check(800); check(401)'
