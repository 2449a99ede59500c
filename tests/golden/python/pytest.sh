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

# A process that a test starts finds the dialects, too, where a folder of the same name comes first on its path, as that of a dialect's own
# source tree does in its tests; and what Python would have imported when it begins, it still imports.
mkdir -p tree/warp/tests site
touch tree/warp/__init__.py tree/warp/tests/__init__.py
cat >tree/warp/tests/test_started.py <<'END'
import multiprocessing
import sys

import warp as wp


@wp.kernel
def twice(a: wp.array(dtype=float)):
    a[wp.tid()] *= 2.0


def child(queue):
    a = wp.full(4, 42.0)
    wp.launch(twice, dim=4, inputs=[a])
    queue.put(a.numpy().tolist() + [sys.hidden])


def test_started():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=50) == [84.0] * 4 + ["hidden"]
    process.join()
    assert process.exitcode == 0
END
echo 'import sys; sys.hidden = "hidden"' >site/sitecustomize.py
cd tree
PYTHONPATH=$PYTHONPATH:$TMP/site python3 -m tilec test -q -p no:cacheprovider -p no:warnings warp/tests/test_started.py | sed 's/ in .*//'
