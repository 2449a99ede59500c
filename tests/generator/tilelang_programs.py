"""Programs of the TileLang dialect: tiles in shared memory and fragments, parallel and pipelined loops.

No program has undefined behaviour: tensors that are read are not written by the same kernel; a place of what is
written has one writer (a block's own rows, once), or atomics of one kind write it; within a parallel loop an
iteration writes at its own place, and reads elsewhere only what the loop does not write; sums are of small whole
numbers."""
import random

from choices import Choices

HEAD = """import tilelang
import tilelang.language as T
from tile.host import arange, zeros

"""
INTS = ["int32", "int32", "int32", "int8", "uint8", "int16", "int64", "uint32"]
FLOATS = ["float32", "float32", "float16", "float16", "bfloat16", "float64"]
PACKED = ["int4", "uint4", "int4"]
EXACT = {"float32": 2 ** 24, "float64": 2 ** 53, "float16": 2 ** 11, "bfloat16": 2 ** 8}
PRODUCTS = [("float16", "float32"), ("float16", "float32"), ("bfloat16", "float32"), ("int8", "int32"), ("float32", "float32"),
            ("float64", "float64"), ("float8_e4m3", "float32"), ("float8_e5m2", "float32"), ("float16", "float16")]


def count_of(shape):
    total = 1
    for extent in shape:
        total *= extent
    return total


def is_float(dtype):
    return dtype.startswith(("float", "bfloat"))


class Buffer:
    """`bound`: elements are whole numbers of at most that size; None: anything. kind: shared, fragment, input."""

    def __init__(self, name, dtype, shape, kind, bound=None):
        self.name, self.dtype, self.shape, self.kind, self.bound = name, dtype, tuple(shape), kind, bound


class Kernel(Choices):
    def __init__(self, program):
        self.program, self.random = program, program.random
        self.name = program.fresh("kernel")
        self.inputs, self.outputs, self.numbers = [], [], []
        self.scopes, self.body, self.depth = [[]], [], 2
        self.loops = []  # of run time, the threads together
        self.threads = self.pick([32, 64, 96, 128, 128, 128, 256])
        self.grid = self.pick([(1,), (2,), (3,), (2, 2), (1, 3)])
        self.blocks = "bx" if len(self.grid) == 1 else f"(bx * {self.grid[1]} + by)"
        self.block_count = count_of(self.grid)
        for _ in range(2):
            self.numbers.append((program.fresh("n"), self.random.randrange(0, 6)))
        shapes = [(5,), (16,), (33,), (64,), (128,), (100,), (4, 8), (3, 5), (8, 16), (16, 16), (7, 33), (32, 8), (16, 64), (32, 32), (2, 3, 4), (4, 4, 8)]
        self.shapes = [self.pick(shapes) for _ in range(2)]
        for _ in range(self.pick([3, 4, 5, 6, 8])):
            self.statement()
        for _ in range(2):
            self.output()

    def fresh(self, letter):
        return self.program.fresh(letter)

    def dtype(self):
        return self.pick(["float32", "int32"] + INTS + FLOATS)

    def known(self, **wanted):
        return [b for scope in self.scopes for b in scope if all(getattr(b, k) == v for k, v in wanted.items())]

    def allocate(self, dtype, shape, kind=None, bound=None):
        kind = kind or self.pick(["shared", "fragment", "fragment"])
        name = self.fresh("s" if kind == "shared" else "f")
        self.line(f"{name} = T.alloc_{kind}(({', '.join(map(str, shape))},), T.{dtype})")
        buffer = Buffer(name, dtype, shape, kind, bound)
        self.scopes[-1].append(buffer)
        return buffer

    def input(self, dtype, rank, small=False):
        old = [b for b in self.inputs if b.dtype == dtype and len(b.shape) == rank and (b.bound or not small)]
        if old and self.chance(0.7):
            return self.pick(old)
        extents = {1: [(40,), (128,), (300,), (77,)], 2: [(9, 40), (33, 17), (48, 64), (64, 128), (40, 72)], 3: [(3, 7, 20), (5, 4, 16)]}[rank]
        buffer = Buffer(self.fresh("A"), dtype, self.pick(extents), "input", 3 if small or self.chance(0.3) or dtype.startswith("float8") else None)
        self.inputs.append(buffer)
        return buffer

    # ---- scalars of the block ----

    def uniform(self):
        choices = ["bx"] + [name for name, _ in self.numbers] + self.loops * 2 + (["by"] if len(self.grid) == 2 else [])
        a = self.pick(choices)
        return self.pick([a, a, f"({a} * {self.pick([2, 3, 8])})", f"({a} + {self.pick([1, 3])})", f"({a} % {self.pick([2, 3])})", f"({a} - 1)", "0", "2"])

    def condition(self):
        return f"{self.uniform()} {self.pick(['<', '<=', '>', '==', '!='])} {self.pick(['1', '2', '3', self.uniform()])}"

    def trips(self):
        return self.pick([self.numbers[0][0], self.numbers[1][0], "0", "1", "2", "3", "5"])

    # ---- elements in a parallel loop ----

    def literal(self, dtype):
        if is_float(dtype):
            return self.pick(["0.5", "-1.25", "3.0", "2.0", "1.0", "-7.0"])
        return str(self.pick([0, 1, 2, 3, 7, 13] + ([] if dtype.startswith("u") else [-1, -5])))

    def place(self, variables, extents, shape, own):
        """Indices of one iteration: its own, or any at all."""
        places = []
        for d, extent in enumerate(shape):
            same = [v for v, e in zip(variables, extents) if e == extent]
            v = self.pick(variables)
            forms = [f"{v}", f"({v} + {self.pick([1, 2, 3])})", f"({v} - {self.pick([1, 2])})", f"({extent - 1} - {v})", f"({v} * 2)", f"({v} // 2)",
                     f"({v} % {extent})", f"({v} * 3 + {self.uniform()}) % {extent}", str(self.random.randrange(extent))]
            if same and (own or self.chance(0.6)):
                places.append(same[min(d, len(same) - 1)])
            else:
                places.append(self.pick(forms))
        return ", ".join(places)

    def inside(self, places, variables, extents, shape):
        """Fragments are read inside: as often as not by the rest of a division."""
        most = dict(zip(variables, extents))
        return ", ".join(p if most.get(p, e + 1) <= e else f"T.abs({p}) % {e}" for p, e in zip(self.split(places), shape))

    @staticmethod
    def split(text):
        parts, depth, part = [], 0, ""
        for c in text:
            depth += c in "([" and 1 or c in ")]" and -1 or 0
            if c == "," and depth == 0:
                parts.append(part.strip())
                part = ""
            else:
                part += c
        return parts + [part.strip()]

    def element(self, dtype, variables, extents, written, depth):
        """Text of an expression of that type; `written` are buffers that the loop writes: read in place alone."""
        if depth <= 0:
            kind = self.random.randrange(6)
            readable = [b for b in self.known(dtype=dtype)]
            if kind < 3 and readable:
                buffer = self.pick(readable)
                if buffer in written:
                    if buffer.shape == tuple(extents):
                        return f"{buffer.name}[{', '.join(variables)}]"
                else:
                    places = self.place(variables, extents, buffer.shape, False)
                    return f"{buffer.name}[{self.inside(places, variables, extents, buffer.shape)}]"
            if kind < 5:
                buffer = self.input(dtype, self.pick([1, 2, 2]))
                return f"{buffer.name}[{self.place(variables, extents, buffer.shape, False)}]"
            if is_float(dtype) or self.chance(0.3):
                return f"T.cast({self.literal(dtype)}, 'T.{dtype}')".replace("'T.", "'")
            return f"T.cast({self.pick(variables)} * {self.pick([1, 2, 3, 5])} + {self.uniform()}, '{dtype}')"
        a = self.element(dtype, variables, extents, written, depth - 1)
        kind = self.random.randrange(10)
        if kind == 0:
            source = self.pick(["int32", "int8", "uint8", "int16"] if not is_float(dtype) else ["int32", "int16", "uint8"])
            return f"T.cast({self.element(source, variables, extents, written, depth - 1)}, '{dtype}')"
        if kind == 2 and self.chance(0.4):
            packed = self.input(self.pick(PACKED), self.pick([1, 2]), True)
            return f"T.cast({packed.name}[{self.place(variables, extents, packed.shape, False)}], '{dtype}')"
        if kind == 1:
            return f"T.if_then_else({self.test(variables, extents, written)}, {a}, {self.element(dtype, variables, extents, written, depth - 1)})"
        b = self.element(dtype, variables, extents, written, depth - 1)
        if is_float(dtype):
            form = self.pick(["({} + {})", "({} - {})", "({} * {})", "T.max({}, {})", "T.min({}, {})", "({} / (T.abs({}) + 1.0))", "T.sqrt(T.abs({}))", "T.abs({})",
                              "(-{})", "T.floor({})"])
        else:
            form = self.pick(["({} + {})", "({} - {})", "({} * {})", "T.max({}, {})", "T.min({}, {})", "({} & {})", "({} | {})", "({} ^ {})", "({} // {c})",
                              "({} % {c})", "({} >> {s})", "({} << {s})"])
        return form.format(a, b, c=self.pick([1, 2, 3, 7, 16]), s=self.pick([1, 2, 3]))

    def test(self, variables, extents, written):
        v = self.pick(variables)
        forms = [f"{v} < {self.random.randrange(1, 40)}", f"{v} % {self.pick([2, 3])} == 1", f"{v} + {self.uniform()} > {self.random.randrange(20)}"]
        if len(variables) > 1:
            forms.append(f"{variables[0]} >= {variables[1]}")
        forms.append(f"{self.element('int32', variables, extents, written, 0)} > {self.pick([0, 3])}")
        return self.pick(forms)

    # ---- statements ----

    def statement(self):
        kinds = [self.fill] * 2 + [self.parallel] * 5 + [self.copy] * 3 + [self.reduce] * 2 + [self.output, self.scan, self.atomics, self.gemm, self.gemm]
        if self.depth < 5:
            kinds += [self.loop, self.loop, self.branch, self.branch]
        self.pick(kinds)()

    def some(self, dtype=None, shape=None, bound=None):
        """A buffer that holds something."""
        found = [b for b in self.known() if (dtype is None or b.dtype == dtype) and (shape is None or b.shape == tuple(shape))
                 and (not bound or b.bound is not None)]
        if found and self.chance(0.7):
            return self.pick(found)
        dtype, shape = dtype or self.dtype(), shape or self.pick(self.shapes)
        buffer = self.allocate(dtype, shape, None, 3 if bound else None)
        self.load(buffer, bound)
        return buffer

    def load(self, buffer, small=False):
        rank = max(len(buffer.shape), self.pick([1, 2])) if len(buffer.shape) < 3 else 3
        source = self.input(buffer.dtype, rank, small)
        index = [self.pick([f"{self.uniform()} * {e}", f"{self.uniform()}", "0", "1"]) for e in buffer.shape]
        index = [f"{self.random.randrange(source.shape[0])}"] * (rank - len(index)) + index
        if self.chance(0.4):
            ends = [f"{i}" for i in index[:rank - len(buffer.shape)]]
            ends += [f"{i}:{i} + {e}" for i, e in zip(index[rank - len(buffer.shape):], buffer.shape)]
            self.line(f"T.copy({source.name}[{', '.join(ends)}], {buffer.name})")
        else:
            self.line(f"T.copy({source.name}[{', '.join(index)}], {buffer.name})")

    def fill(self):
        dtype, shape = self.dtype(), self.pick(self.shapes)
        small = self.chance(0.4)
        buffer = self.allocate(dtype, shape, None, 3 if small else None)
        if self.chance(0.3):
            self.line(self.pick([f"T.clear({buffer.name})", f"T.fill({buffer.name}, {self.pick([1, 2, 3])})"]))
        else:
            self.load(buffer, small)

    def copy(self):
        source = self.some()
        known = [b for b in self.known(shape=source.shape) if b is not source and b.bound is None and is_float(b.dtype) == is_float(source.dtype)]
        if known and self.chance(0.6):
            return self.line(f"T.copy({source.name}, {self.pick(known).name})")
        dtype = source.dtype if self.chance(0.5) else self.pick(FLOATS if is_float(source.dtype) else INTS)
        buffer = self.allocate(dtype, source.shape, None, source.bound if source.bound and source.bound < 100 and not dtype.startswith("u") else None)
        self.line(f"T.copy({source.name}, {buffer.name})")

    def parallel(self):
        shape = self.pick(self.shapes)
        targets = [b for b in self.known(shape=tuple(shape)) if b.bound is None]
        count = self.pick([1, 1, 2])
        while len(targets) < count:
            buffer = self.allocate(self.dtype(), shape)
            self.line(f"T.fill({buffer.name}, {self.pick([0, 1, 3])})")
            targets.append(buffer)
        written = self.random.sample(targets, count)
        variables = [self.fresh("i") for _ in shape]
        self.line(f"for {', '.join(variables)} in T.Parallel({', '.join(map(str, shape))}):")
        self.depth += 1
        for target in written:
            self.assignment(target, variables, shape, written)
        self.depth -= 1

    def assignment(self, target, variables, shape, written):
        kind = self.random.randrange(6)
        own = f"{target.name}[{', '.join(variables)}]"
        value = self.element(target.dtype, variables, shape, written, self.pick([1, 2, 2]))
        if kind == 0:
            self.line(f"if {self.test(variables, shape, written)}:")
            self.line(f"    {own} = {value}")
            if self.chance(0.5):
                self.line("else:")
                self.line(f"    {own} = {self.element(target.dtype, variables, shape, written, 1)}")
        elif kind == 1:
            name = self.fresh("k")
            self.line(f"for {name} in T.serial({self.trips()}):")
            jump, first = self.pick(["break", "continue"]), self.chance(0.5)
            if self.chance(0.4) and first:
                self.line(f"    if {self.test(variables, shape, written)}:")
                self.line(f"        {jump}")
            self.line(f"    {own} = {own} + T.cast({name}, '{target.dtype}') * {value}")
            if self.chance(0.4) and not first:
                self.line(f"    if {name} > 1 and {self.test(variables, shape, written)}:")
                self.line(f"        {jump}")
        elif kind == 2:
            self.line(f"{own} {self.pick(['+=', '-='])} {value}")
        else:
            self.line(f"{own} = {value}")

    def reduce(self):
        dtype = self.pick(["int32", "float32", "int64", "float64", "float16"])
        shape = self.pick([s for s in self.shapes if len(s) > 1] or [(8, 16)])
        dim = self.random.randrange(len(shape))
        source = self.some(dtype, shape, True)
        if is_float(dtype) and source.bound * shape[dim] >= EXACT[dtype]:
            return self.copy()
        rest = tuple(e for d, e in enumerate(shape) if d != dim)
        kinds = ["sum", "max", "min", "absmax", "abssum"] + ([] if is_float(dtype) else ["bitand", "bitor", "bitxor"])
        out = self.allocate(dtype, rest, "fragment")
        self.line(f"T.reduce_{self.pick(kinds)}({source.name}, {out.name}, dim={dim})")

    def scan(self):
        dtype = self.pick(["int32", "float32", "int32"])
        shape = self.pick([s for s in self.shapes if len(s) < 3] or [(16,)])
        source = self.some(dtype, shape, is_float(dtype))
        out = self.allocate(dtype, shape)
        self.line(f"T.cumsum({source.name}, {out.name}, dim={self.random.randrange(len(shape))}, reverse={self.chance(0.3)})")

    def atomics(self):
        dtype = self.pick(["int32", "float32", "int32", "float64"])
        small = is_float(dtype)
        source = self.some(dtype, self.pick([s for s in self.shapes if len(s) < 3] or [(16,)]), small)
        out = Buffer(self.fresh("B"), dtype, (self.pick([5, 16, 64]),), "output")
        self.outputs.append(out)
        variables = [self.fresh("i") for _ in source.shape]
        own = f"{source.name}[{', '.join(variables)}]"
        self.line(f"for {', '.join(variables)} in T.Parallel({', '.join(map(str, source.shape))}):")
        mode = "add" if small else self.pick(["add", "add", "max", "min"])
        self.line(f"    T.atomic_{mode}({out.name}[({' + '.join(variables)}) % {out.shape[0]}], {own})")

    def gemm(self):
        source, total = self.pick(PRODUCTS)
        m, n, k = self.pick([16, 16, 32, 64, 64, 128]), self.pick([8, 16, 16, 32, 64]), self.pick([16, 32, 32, 64])
        if m * n > 4096 or self.threads in (96,) and m % 48:
            m, n = 32, 16
        if source.startswith("float8") or source == "int8":
            k = max(k, 32)
        stages, size = self.pick([0, 1, 2, 2, 3, 4]), {"float64": 8, "float32": 4}.get(source, 2)
        while k * (m + n) * size * max(1, stages) > 64000:
            k, stages = max(16, k // 2), max(1, stages - 1)
        anew = total != "float16" and self.chance(0.3)  # in loops of so many iterations as nobody knows
        trips = self.pick(self.numbers)[0] if anew else self.trips() if total != "float16" else self.pick(["1", "2"])
        turned_a, turned_b = self.chance(0.25), self.chance(0.3)
        a_shape, b_shape = ((k, m) if turned_a else (m, k)), ((n, k) if turned_b else (k, n))
        left, right = self.input(source, 2, True), self.input(source, 2, True)
        a = self.allocate(source, a_shape, "shared" if anew else self.pick(["shared", "shared", "shared", "fragment"]), 3)
        b = self.allocate(source, b_shape, "shared", 3)
        c = self.allocate(total, (m, n), "fragment")
        self.scopes[-1].remove(a)  # what they hold behind a pipelined loop is nobody's business
        self.scopes[-1].remove(b)
        self.line(f"T.clear({c.name})")
        step = self.fresh("k")
        self.line(f"for {step} in T.Pipelined({trips}, num_stages={stages}):")
        across = f"{self.blocks} * {m}"
        self.line(f"    T.copy({left.name}[{f'{step} * {k}, {across}' if turned_a else f'{across}, {step} * {k}'}], {a.name})")
        self.copy_right(step, right, b, lambda at: f"0, {at} * {k}" if turned_b else f"{at} * {k}, 0")
        policy = self.pick(["", "", ", policy=T.GemmWarpPolicy.FullRow", ", policy=T.GemmWarpPolicy.FullCol"])
        if self.threads == 96:
            policy = ""
        self.line(f"    T.gemm({a.name}, {b.name}, {c.name}{', transpose_A=True' if turned_a else ''}{', transpose_B=True' if turned_b else ''}{policy})")
        if self.chance(0.2) and not self.loops:
            self.line(f"    if {step} == 1:")
            self.line(f"        T.clear({c.name})")
        if anew:
            self.write_anew(a, b, c, (turned_a, turned_b))

    def copy_right(self, step, right, b, index):
        """By one branch or the other: from the iteration's place, or a later one's."""
        if self.chance(0.7):
            return self.line(f"    T.copy({right.name}[{index(step)}], {b.name})")
        self.line(f"    if {step} {self.pick(['<', '==', '>='])} {self.pick(['1', '2', self.numbers[0][0]])}:")
        self.line(f"        T.copy({right.name}[{index(step)}], {b.name})")
        self.line("    else:")
        self.line(f"        T.copy({right.name}[{index(f'({step} + 1)')}], {b.name})")

    def write_anew(self, a, b, c, turned):
        """In the same iteration: an operand's tile, from what threads hold, and a product of that."""
        held = self.allocate(a.dtype, a.shape, "fragment", 3)
        self.scopes[-1].remove(held)
        allocation = self.body.pop()  # and its numbers: before the loop
        at = max(i for i, text in enumerate(self.body) if "T.Pipelined" in text)
        self.body[at:at] = [allocation, " " * (len(allocation) - len(allocation.lstrip())) + f"T.fill({held.name}, {self.pick([1, 2])})"]
        self.line(f"    T.copy({held.name}, {a.name})")
        self.line(f"    T.gemm({a.name}, {b.name}, {c.name}{', transpose_A=True' if turned[0] else ''}{', transpose_B=True' if turned[1] else ''})")

    def output(self):
        """A block's own rows; in a loop none, as a later round would write them again."""
        if self.loops:
            return self.copy()
        source = self.some()
        out = Buffer(self.fresh("B"), source.dtype, (source.shape[0] * self.block_count - self.pick([0, 0, 1 if source.shape[0] > 1 else 0]),) + source.shape[1:], "output")
        self.outputs.append(out)
        places = [f"{self.blocks} * {source.shape[0]}"] + ["0"] * (len(source.shape) - 1)
        if self.chance(0.5):
            return self.line(f"T.copy({source.name}, {out.name}[{', '.join(places)}])")
        variables = [self.fresh("i") for _ in source.shape]
        own = f"{source.name}[{', '.join(variables)}]"
        self.line(f"for {', '.join(variables)} in T.Parallel({', '.join(map(str, source.shape))}):")
        self.line(f"    {out.name}[{', '.join([places[0] + ' + ' + variables[0]] + variables[1:])}] = {own}")

    # ---- control ----

    def block(self, count):
        self.scopes.append([])
        self.depth += 1
        for _ in range(count):
            self.statement()
        self.depth -= 1
        self.scopes.pop()

    def branch(self):
        self.line(f"if {self.condition()}:")
        self.block(self.pick([1, 2]))
        if self.chance(0.4):
            self.line("else:")
            self.block(1)

    def loop(self):
        name = self.fresh("k")
        kind = self.random.randrange(4)
        if kind == 0:
            self.line(f"for {name} in T.Pipelined({self.trips()}, num_stages={self.pick([0, 1, 2, 3])}):")
        elif kind == 1:
            self.line(f"for {name} in T.unroll({self.pick([1, 2, 3])}):")
        else:
            self.line(f"for {name} in {self.pick(['T.serial', 'range'])}({self.trips()}):")
        self.loops.append(name)
        self.block(self.pick([1, 2, 3]))
        self.loops.pop()

    # ---- text ----

    def text(self):
        yield "@tilelang.jit\n"
        shape = ", ".join(f"{b.name}: T.Tensor[[{', '.join(self.extent(b, d) for d in range(len(b.shape)))}], T.{b.dtype}]" for b in self.inputs + self.outputs)
        numbers = ", ".join(f"{name}: T.int32" for name, _ in self.numbers)
        yield f"def {self.name}({shape}, {numbers}):\n"
        yield f"    with T.Kernel({', '.join(map(str, self.grid))}, threads={self.threads}) as {'bx' if len(self.grid) == 1 else '(bx, by)'}:\n"
        for line in self.body:
            yield line + "\n"
        yield "\n\n"

    def extent(self, buffer, dim):
        """As a type wants it: known, a key, or of run time."""
        return {0: str(buffer.shape[dim]), 1: "int", 2: "T.dyn"}[(len(buffer.name) + len(buffer.dtype) + dim + buffer.shape[dim]) % 3]

    def call(self):
        for buffer in self.inputs + self.outputs:
            yield f"{buffer.name} = zeros(({', '.join(map(str, buffer.shape))},), {'T.' + buffer.dtype})\n"
            if buffer.kind == "input":
                yield f"{buffer.name}[:] = {self.values(buffer)}\n"
        given = [b.name for b in self.inputs + self.outputs] + [str(value) for _, value in self.numbers]
        yield f"{self.name}({', '.join(given)})\n"

    def values(self, buffer):
        count, unsigned = count_of(buffer.shape), buffer.dtype.startswith("u")
        modulus, shift = (7, 0 if unsigned else 3) if buffer.bound or buffer.dtype in PACKED else (self.pick([13, 61, 127]), 0 if unsigned else self.pick([0, 6, 40]))
        text = f"(arange({count}, T.int32) * {self.random.randrange(1, 90)} + {self.random.randrange(50)}) % {modulus} - {shift}"
        if is_float(buffer.dtype) and not buffer.bound:
            text = f"({text}) / {self.pick([1, 2, 8])}.0"
        return f"({text}).reshape({', '.join(map(str, buffer.shape))})" if len(buffer.shape) > 1 else text


class Program:
    def __init__(self, seed):
        self.random, self.counter = random.Random(seed), 0
        self.kernels = [Kernel(self) for _ in range(self.random.choice([1, 1, 1, 2]))]

    def fresh(self, letter):
        self.counter += 1
        return letter + str(self.counter)

    def text(self):
        yield HEAD
        for kernel in self.kernels:
            yield from kernel.text()
        for kernel in self.kernels:
            yield from kernel.call()


def program(seed):
    return "".join(Program(seed).text())
