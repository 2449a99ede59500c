"""A kernel, its tests and its benchmark, on numpy's arrays, or on torch's where there is a GPU.

    python3 -m tilec run softmax.py
    python3 -m tilec test softmax.py
    python3 -m tilec bench softmax.py
"""

import numpy
import pytest
import tilelang
import tilelang.language as T

try:
    import torch
except ImportError:
    torch = None
gpu = torch is not None and torch.cuda.is_available()


@tilelang.jit(out_idx=[-1])
def softmax(rows, columns, block=4):
    @T.prim_func
    def main(X: T.Tensor((rows, columns), T.float32), Y: T.Tensor((rows, columns), T.float32)):
        with T.Kernel(T.ceildiv(rows, block), threads=128) as bx:
            x = T.alloc_fragment((block, columns), T.float32)
            most = T.alloc_fragment((block,), T.float32)
            sums = T.alloc_fragment((block,), T.float32)
            T.copy(X[bx * block, 0], x)
            T.reduce_max(x, most, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = T.exp(x[i, j] - most[i])
            T.reduce_sum(x, sums, dim=1)
            for i, j in T.Parallel(block, columns):
                x[i, j] = x[i, j] / sums[i]
            T.copy(x, Y[bx * block, 0])

    return main


def numbers(rows, columns):
    x = numpy.random.default_rng(1).standard_normal((rows, columns), numpy.float32)
    return torch.from_numpy(x).cuda() if gpu else x


def as_numpy(array):
    return array.cpu().numpy() if gpu else array


@pytest.mark.parametrize("rows, columns", [(1, 32), (7, 128), (64, 1024)])
def test_softmax(rows, columns):
    x = numbers(rows, columns)
    found = as_numpy(softmax(rows, columns)(x))
    powers = numpy.exp(as_numpy(x).astype(numpy.float64))
    numpy.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-5)


def test_another_shape():
    with pytest.raises(RuntimeError, match="X"):
        softmax(8, 32)(numbers(8, 64))


def bench_softmax():
    """Gives what is to be timed."""
    x = numbers(4096, 1024) if gpu else numbers(64, 1024)
    kernel = softmax(*x.shape)
    return lambda: kernel(x)


if __name__ == "__main__":
    print("sums of rows:", as_numpy(softmax(2, 32)(numbers(2, 32))).sum(1).round(5))
