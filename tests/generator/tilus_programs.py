"""Programs of Tilus Script: the random kernels of tests/fuzz, with arrays of their own."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import element_types as types  # noqa: E402
from kernels import Kernel  # noqa: E402

HEAD = """import tilus
from tilus import (bfloat16, boolean, float16, float32, float64, int16, int32, int64, int8, uint16,
                   uint32, uint64, uint8)
from tile.host import arange, zeros

"""


def values(source, buffer):
    """Text of an array for the buffer: small integers where sums have to be exact."""
    if buffer.small:
        modulus, shift = 7, 0 if types.KIND[buffer.dtype] == "uint" else 3
    elif types.KIND[buffer.dtype] == "bool":
        modulus, shift = 2, 0
    else:
        modulus, shift = source.choice([31, 251, 1021]), source.choice([0, 15, 100])
    text = f"(arange({max(1, buffer.size)}, int32) * {source.randrange(1, 200)} + {source.randrange(100)}) % {modulus} - {shift}"
    if types.is_float(buffer.dtype) and not buffer.small:
        text = f"({text}) / 16.0"
    return text


def program(seed):
    kernel = Kernel(f"K{seed}", seed, shared_only=seed % 4 == 0)
    source = random.Random(-seed)
    text = HEAD + "\n".join(kernel.lines()).replace(": ~uint16", ": ~{}") + "\n"
    pointers = [b.dtype for b in kernel.buffers if b.dtype in ("uint16", "bfloat16")]
    head, _, rest = text.partition("):\n        self.attrs")
    text = head.format(*pointers) + "):\n        self.attrs" + rest
    for buffer in kernel.buffers:
        text += f"{buffer.name} = zeros(({max(1, buffer.size)},), {buffer.dtype})\n"
        text += f"{buffer.name}[:] = {values(source, buffer)}\n"
    given = [str(value) for _, _, value in kernel.params] + [b.name for b in kernel.buffers]
    return text + f"{kernel.name}()({', '.join(given)})\n"
