# pytest by `tilec test`: tests of the dialects' own kind, of numpy's arrays.
needs numpy
needs pytest
cd "$TMP"
cat >test_copy.py <<'END'
import numpy
import pytest
import tilelang
import tilelang.language as T
from tilelang import testing


@pytest.mark.parametrize("n", [32, 100])
def test_copy(n):
    @T.prim_func
    def main(A: T.Tensor((n,), T.float32), B: T.Tensor((n,), T.float32)):
        with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
            T.copy(A[bx * 32 : bx * 32 + 32], B[bx * 32 : bx * 32 + 32])

    a = numpy.arange(n, dtype=numpy.float32)
    b = tilelang.compile(main, out_idx=[1])(a)
    numpy.testing.assert_array_equal(a, b)


@testing.requires_cuda_compute_version_ge(10, 0)
def test_skipped():
    assert False


def test_refused():
    @T.prim_func
    def main(A: T.Tensor((32,), T.float32)):
        with T.Kernel(1, threads=32):
            T.no_such_word(A)

    with pytest.raises(RuntimeError, match="no_such_word"):
        tilelang.compile(main)
END
python3 -m tilec test -q -p no:cacheprovider | sed 's/ in [0-9.]*s//'
