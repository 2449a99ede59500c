"""Programs of Tilus Script: the random kernels of tests/fuzz, with arrays of their own."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import element_types as types  # noqa: E402
from kernels import Expression, Kernel, Statement, count_of  # noqa: E402

HEAD = """import tilus
from tilus import (bfloat16, boolean, float16, float32, float64, int16, int32, int64, int8, uint16,
                   uint32, uint64, uint8)
from tile.host import arange, zeros

"""


class Program(Kernel):
    """What the kernels of tests/fuzz are, with reductions, scans and loops that are left; nothing computes it but the
    reference interpreter."""
    in_for = 0

    def made(self, dtype, shape, text):
        return Expression(dtype, shape, text, None)

    def reduced(self, dtype, shape, depth):
        """Along a dimension that the result lacks, or keeps as 1."""
        extent, at = self.pick([2, 3, 8, 16, 33]), self.random.randrange(len(shape) + 1)
        if len(shape) > 2 or extent * count_of(shape) > 2100:
            return self.scanned(dtype, shape, depth)
        a = self.tile(dtype, tuple(shape[:at]) + (extent,) + tuple(shape[at:]), depth)
        words = ["max", "min"] if types.is_float(dtype) else ["sum", "max", "min"]
        return self.made(dtype, shape, f"self.{self.pick(words)}({a.text}, dim={at})")

    def scanned(self, dtype, shape, depth):
        if types.is_float(dtype):
            return Kernel.tile(self, dtype, shape, depth)
        a = self.tile(dtype, shape, depth)
        exclusive = ", exclusive=True" if self.chance(0.3) else ""
        return self.made(dtype, shape, f"self.cumsum({a.text}, dim={self.random.randrange(len(shape))}{exclusive})")

    def tile(self, dtype, shape, depth):
        if depth > 0 and self.budget > 0 and dtype != "boolean" and self.chance(0.12):
            self.budget -= 1
            return self.pick([self.reduced, self.scanned])(dtype, tuple(shape), depth - 1)
        return Kernel.tile(self, dtype, shape, depth)

    def loop(self):
        self.in_for += 1
        made = Kernel.loop(self)
        self.in_for -= 1
        # a counter of 64 bits is not what is assigned to an int32 under run-time control
        self.params = [(name, "int32" if kind == "int64" else kind, value) for name, kind, value in self.params]
        if "'all'" in made.lines[0]:
            made.bodies[0][:] = [s for s in made.bodies[0] if not getattr(s, "jumps", False)]
        return made

    def while_loop(self):
        kept, self.in_for = self.in_for, 0
        made = Kernel.while_loop(self)
        self.in_for = kept
        return made

    def statement(self):
        if self.in_for and self.chance(0.06):
            made = Statement([f"if {self.condition().text}: {self.pick(['break', 'continue'])}"], None)
            made.jumps = True
            return made
        return Kernel.statement(self)


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
    kernel = Program(f"K{seed}", seed, shared_only=seed % 4 == 0)
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
