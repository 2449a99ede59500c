"""tilec for Python: kernels on the arrays of torch, numpy, CuPy and whatever speaks DLPack.

    matmul = tilec.load("matmul.tile").matmul       # compiled when it is called, and kept
    matmul(m, n, k, a, b, c)

    kernels = tilec.Library("build/libkernels.so")     # compiled ahead: see tilec --emit=python
    kernels.kernel("matmul")(m, n, k, a, b, c)

A call goes to the stream that is current in the library that the arrays are of, on the GPU; without one to the emulator, with arrays
of the CPU's memory. python -m tilec run FILE.py runs programs of Tilus, TileLang and Warp.
"""

from tilec.native import CompileError, Error  # noqa: F401


def load(path, **names):
    """The kernels of a source file; `names` are bound to these values in it, whatever it assigns."""
    from tilec.program import Program

    return Program(path, names)


def Library(beside, name=None):
    """The kernels of a shared library that objects of tilec's are linked into."""
    from tilec import aot

    return aot.Library(beside, name)

