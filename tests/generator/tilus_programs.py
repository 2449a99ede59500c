"""Programs of Tilus Script: the random kernels of tests/fuzz, with arrays of their own, reductions, scans and loops that are left.
As there, each statement is computed by Python, too."""
import functools
import itertools
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import element_types as types  # noqa: E402
from kernels import Expression, Jump, Kernel, Statement, count_of  # noqa: E402

HEAD = """import tilus
from tilus import (bfloat16, boolean, float16, float32, float64, int16, int32, int64, int8, uint16,
                   uint32, uint64, uint8)
from tile.host import arange, zeros

"""


class Program(Kernel):
    """`fills`: what the buffers hold before the call, as numbers of `values`."""
    in_for, fills = 0, {}

    def reduced(self, dtype, shape, depth):
        """Along a dimension that the result lacks, or keeps as 1."""
        extent, at = self.pick([2, 3, 8, 16, 33]), self.random.randrange(len(shape) + 1)
        if len(shape) > 2 or extent * count_of(shape) > 2100:
            return self.scanned(dtype, shape, depth)
        a = self.tile(dtype, tuple(shape[:at]) + (extent,) + tuple(shape[at:]), depth)
        word = self.pick(["max", "min"] if types.is_float(dtype) else ["sum", "max", "min"])
        combine = {"max": types.larger, "min": types.smaller, "sum": int.__add__}[word]

        def value(env):
            return [types.FIT[dtype](functools.reduce(combine, line)) for line in lines_along(a.value(env), a.shape, at)]
        return Expression(dtype, shape, f"self.{word}({a.text}, dim={at})", value)

    def scanned(self, dtype, shape, depth):
        if types.is_float(dtype):
            return Kernel.tile(self, dtype, shape, depth)
        a = self.tile(dtype, shape, depth)
        exclusive = ", exclusive=True" if self.chance(0.3) else ""
        dim = self.random.randrange(len(shape))

        def value(env):
            items, step = list(a.value(env)), count_of(shape[dim + 1:])
            for first, line in zip(starts_along(shape, dim), lines_along(items, shape, dim)):
                sums = [types.FIT[dtype](x) for x in itertools.accumulate(line, initial=0)]
                items[first:first + step * shape[dim]:step] = sums[:-1] if exclusive else sums[1:]
            return items
        return Expression(dtype, shape, f"self.cumsum({a.text}, dim={dim}{exclusive})", value)

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
            condition, word = self.condition(), self.pick(["break", "continue"])

            def run(env):
                if condition.value(env):
                    raise Jump(word == "break")
            made = Statement([f"if {condition.text}: {word}"], run)
            made.jumps = True
            return made
        return Kernel.statement(self)


    def memory(self):
        return {b.name: list(self.fills[b.name].numbers(b)) for b in self.buffers}


def starts_along(shape, dim):
    """Where the lines along a dimension begin, in row-major order."""
    step = count_of(shape[dim + 1:])
    return [i * step * shape[dim] + j for i in range(count_of(shape[:dim])) for j in range(step)]


def lines_along(items, shape, dim):
    step = count_of(shape[dim + 1:])
    return [items[first:first + step * shape[dim]:step] for first in starts_along(shape, dim)]


class Fill:
    """What a buffer holds: small integers where sums have to be exact."""

    def __init__(self, source, buffer):
        if buffer.small:
            self.modulus, self.shift = 7, 0 if types.KIND[buffer.dtype] == "uint" else 3
        elif types.KIND[buffer.dtype] == "bool":
            self.modulus, self.shift = 2, 0
        else:
            self.modulus, self.shift = source.choice([31, 251, 1021]), source.choice([0, 15, 100])
        self.factor, self.first = source.randrange(1, 200), source.randrange(100)
        self.is_divided = types.is_float(buffer.dtype) and not buffer.small

    def text(self, buffer):
        text = f"(arange({max(1, buffer.size)}, int32) * {self.factor} + {self.first}) % {self.modulus} - {self.shift}"
        return f"({text}) / 16.0" if self.is_divided else text

    def numbers(self, buffer):
        fit = types.cast("float64" if self.is_divided else "int32", buffer.dtype)
        for i in range(max(1, buffer.size)):
            number = (i * self.factor + self.first) % self.modulus - self.shift
            yield fit(number / 16.0 if self.is_divided else number)


def kernel_of(seed):
    kernel = Program(f"K{seed}", seed, shared_only=seed % 4 == 0)
    source = random.Random(-seed)
    kernel.fills = {b.name: Fill(source, b) for b in kernel.buffers}
    kernel.called_with = [str(value) for _, _, value in kernel.params] + [b.name for b in kernel.buffers]
    return kernel


def program(seed):
    kernel = kernel_of(seed)
    text = HEAD + "\n".join(kernel.lines()).replace(": ~uint16", ": ~{}") + "\n"
    pointers = [b.dtype for b in kernel.buffers if b.dtype in ("uint16", "bfloat16")]
    head, _, rest = text.partition("):\n        self.attrs")
    text = head.format(*pointers) + "):\n        self.attrs" + rest
    for buffer in kernel.buffers:
        text += f"{buffer.name} = zeros(({max(1, buffer.size)},), {buffer.dtype})\n"
        text += f"{buffer.name}[:] = {kernel.fills[buffer.name].text(buffer)}\n"
    return text + f"{kernel.name}()({', '.join(kernel.called_with)})\n"


def expected(seed):
    """By the name of each array: its type and what it holds at the end, as numpy's array."""
    import numpy
    kernel = kernel_of(seed)
    wide = {"bfloat16": "float32", "boolean": "bool"}
    memory = kernel.expected()
    return {b.name: (b.dtype, numpy.array(memory[b.name], wide.get(b.dtype, b.dtype))) for b in kernel.buffers}
