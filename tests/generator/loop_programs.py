"""Programs of TileLang's dialect about loops: two products with threads' work between them (attention, packed weights, pages of a table),
serial loops over the rows of register tiles, parallel loops of which each thread does many iterations, elements that threads set at indices of
their own, what both sides of a condition write, limits of rows, scans beside each other, sums and extremes of rows, and reducers.

Sums are of whole numbers small enough for every order to be exact; a place that is written has one writer."""
import random

from choices import Choices

HEAD = """import tilelang
import tilelang.language as T
from tile.host import arange, zeros


"""
TYPES = ["float32", "float32", "int32", "int32", "float16", "bfloat16", "int8", "uint8", "int16", "int64", "float64"]
FLOATS = ["float32", "float16", "bfloat16"]


def is_float(dtype):
    return dtype.startswith(("float", "bfloat"))


class Program(Choices):
    def __init__(self, seed):
        self.random, self.seed, self.counter = random.Random(seed), seed, 0
        self.body, self.depth, self.tensors, self.numbers = [], 2, [], {}
        self.blocks = self.pick([1, 2, 2, 3])
        self.threads = self.pick([32, 64, 128, 128, 128, 256, 256, 384])
        for _ in range(2):
            self.numbers[self.fresh("n")] = self.random.randrange(0, 70)
        kinds = [self.attention] * 5 + [self.packed_weights, self.rows, self.rows, self.many, self.many, self.own_elements, self.sides, self.sides,
                                        self.limits, self.scans, self.reducers, self.reduced, self.gathered]
        for _ in range(self.pick([1, 1, 2])):
            self.pick(kinds)()

    def fresh(self, letter):
        self.counter += 1
        return letter + str(self.counter)

    # ---- what there is ----

    def tensor(self, letter, dtype, shape, modulus=None, shift=0):
        """An input of `modulus` numbers from -shift on; an output without."""
        name = self.fresh(letter)
        self.tensors.append((name, dtype, tuple(shape), modulus, shift))
        return name

    def input(self, dtype, shape, most=3):
        """Of numbers of at most that size."""
        unsigned = dtype.startswith("u")
        return self.tensor("A", dtype, shape, (most if unsigned else 2 * most) + 1, 0 if unsigned else most)

    def indices(self, count, most):
        return self.tensor("I", "int32", (count,), most, 0)

    def output(self, dtype, shape):
        """A block's own, along the first dimension."""
        return self.tensor("B", dtype, [self.blocks * shape[0]] + list(shape[1:]))

    def tile(self, dtype, shape, kind=None):
        kind = kind or self.pick(["fragment", "fragment", "shared"])
        name = self.fresh({"fragment": "f", "shared": "s", "reducer": "r"}[kind])
        self.insert(0, f"{name} = T.alloc_{kind}(({', '.join(map(str, shape))},), T.{dtype})")
        return name

    def number(self):
        return self.pick(list(self.numbers))

    def limit(self, extent):
        """Text of how many of so many there are: some, none, or more."""
        return self.pick([self.number(), f"{self.number()} % {extent + 2}", f"{self.number()} - bx * 16", f"{self.random.randrange(extent + 1)}",
                          f"T.min({self.number()}, {extent})"])

    def send(self, tile, dtype, shape):
        out = self.output(dtype, shape)
        if self.chance(0.4):
            return self.line(f"T.copy({tile}, {out}[{', '.join([f'bx * {shape[0]}'] + ['0'] * (len(shape) - 1))}])")
        names = [self.fresh("i") for _ in shape]
        with self.parallel(names, shape):
            self.line(f"{out}[{', '.join([f'bx * {shape[0]} + {names[0]}'] + names[1:])}] = {tile}[{', '.join(names)}]")

    def parallel(self, names, shape):
        return self.within(f"for {', '.join(names)} in T.Parallel({', '.join(map(str, shape))}):")

    def rounds(self):
        return self.pick(["0", "1", "2", "3", "4", f"{self.number()} % 5", f"T.ceildiv({self.number()}, 16)", f"bx + {self.number()} % 3"])

    def pipelined(self, name, rounds):
        return self.within(f"for {name} in T.Pipelined({rounds}, num_stages={self.pick([0, 1, 2, 2, 2, 3, 4])}):")

    # ---- two products ----

    def mask_of(self, row, column):
        """Conditions on a score's place in the matrix."""
        forms = [f"{column} < {self.number()}", f"{column} <= {row}", f"{row} >= {column}", f"{column} + {self.number()} > {row}",
                 f"{column} < {self.number()} + {row} % 4"]
        if self.chance(0.3):
            return f"T.And({self.pick(forms)}, {self.pick(forms)})"
        return self.pick(forms)

    def attention(self):
        """Products of rows by keys, made small whole numbers by what stands for the softmax, and those by values."""
        groups = max(1, self.threads // 128)
        m, n, d, e = 64 * groups if self.chance(0.7) else self.pick([16, 32, 64]), self.pick([16, 32, 64, 64, 128]), self.pick([16, 32, 64]), self.pick([16, 32, 64])
        if self.threads < 128:
            m = min(m, 32)
        if m * n > 64 * 192:
            n = 32
        dtype = self.pick(["float16", "float16", "bfloat16"])
        paged, same = self.chance(0.3), self.chance(0.2)
        e = d if same else e
        rows_known, pages = 5 * n + self.pick([0, 0, 3]), self.pick([1, 3])
        queries, keys = self.input(dtype, (self.blocks * m, d), 1), self.input(dtype, (rows_known, d), 1)
        values = keys if same else self.input(dtype, (rows_known, e), 2)
        table = self.indices(64, pages) if paged else None
        q = self.tile(dtype, (m, d), self.pick(["shared", "shared", "fragment"]))
        k, v = self.tile(dtype, (n, d), "shared"), None if same else self.tile(dtype, (n, e), "shared")
        s, p, o = self.tile("float32", (m, n), "fragment"), self.tile(dtype, (m, n), self.pick(["fragment"] * 4 + ["shared"])), self.tile("float32", (m, e), "fragment")
        stats = self.chance(0.5)
        if stats:
            most, before, total = (self.tile("float32", (m,), "fragment") for _ in range(3))
        i, x, y = self.fresh("k"), self.fresh("i"), self.fresh("j")
        rounds, policy = self.rounds(), self.pick(["", ", policy=T.GemmWarpPolicy.FullRow", ", policy=T.GemmWarpPolicy.FullRow"])
        self.line(f"T.copy({queries}[bx * {m}, 0], {q})")
        self.line(f"T.clear({o})")
        if stats:
            self.line(f"T.fill({most}, {self.pick(['-4', '-T.infinity(T.float32)'])})")
            self.line(f"T.clear({total})")
        place = f"{table}[{self.pick([i, f'({i} + bx) % 64'])}] * {n}" if paged else f"{i} * {n}"
        again = self.chance(0.2)
        with self.within(*[f"for {self.fresh('t')} in T.serial({self.pick(['2', '3', self.number() + ' % 3'])}):"] * again), self.pipelined(i, rounds):
            later = self.chance(0.5)
            self.copy(keys, place, n, d, k)
            if not same and not later:
                self.copy(values, place, n, e, v)
            row, column = f"(bx * {m} + {x})", f"({i} * {n} + {y})"
            masked = self.pick([None, "first", "between", "between"])
            if masked == "first":
                with self.parallel([x, y], (m, n)):
                    self.line(f"{s}[{x}, {y}] = T.if_then_else({self.mask_of(row, column)}, 0.0, {self.pick(['-T.infinity(T.float32)', '-1e9'])})")
            else:
                self.line(f"T.clear({s})")
            self.line(f"T.gemm({q}, {k}, {s}, transpose_B=True{policy})")
            if not same and later:
                self.copy(values, place, n, e, v)
            if masked == "between":
                with self.parallel([x, y], (m, n)):
                    self.line(f"{s}[{x}, {y}] = T.if_then_else({self.mask_of(row, column)}, {s}[{x}, {y}], {self.pick(['-T.infinity(T.float32)', '-9.0'])})")
            if stats:
                self.line(f"T.copy({most}, {before})")
                self.line(f"T.reduce_max({s}, {most}, dim=1, clear=False)")
                with self.parallel([x, y], (m, n)):
                    self.line(f"{s}[{x}, {y}] = T.if_then_else({s}[{x}, {y}] > {most}[{x}] - {self.pick([1, 3])}, {self.pick(['1.0', f'T.max({s}[{x}, {y}] - {most}[{x}], -1.0) + 1.0'])}, 0.0)")
                sums = self.tile("float32", (m,), "fragment")
                self.line(f"T.reduce_sum({s}, {sums}, dim=1)")
                with self.parallel([x], (m,)):
                    self.line(f"{total}[{x}] = T.if_then_else({before}[{x}] == {most}[{x}], {total}[{x}], 0.0) + {sums}[{x}]")
                with self.parallel([x, y], (m, e)):
                    self.line(f"{o}[{x}, {y}] *= T.if_then_else({before}[{x}] == {most}[{x}], 1.0, 0.0)")
            else:
                form = self.pick([f"T.max(T.min({s}[{x}, {y}], 2.0), -2.0)", f"T.if_then_else({s}[{x}, {y}] > 0.0, 1.0, 0.0)",
                                  f"T.max(T.min({s}[{x}, {y}], {x} % 3), {y} % 2 - 1)"])
                with self.parallel([x, y], (m, n)):
                    self.line(f"{s}[{x}, {y}] = {form}")
                if self.chance(0.3):
                    with self.parallel([x, y], (m, e)):
                        self.line(f"{o}[{x}, {y}] *= T.if_then_else({self.pick([f'{i} % 2 == 0', f'{x} % 2 == 0', f'{i} > 1'])}, 1.0, {'-1.0' if again else '0.5'})")
            self.line(f"T.copy({s}, {p})")
            self.line(f"T.gemm({p}, {k if same else v}, {o}{policy})")
        if stats:
            self.send(total, "float32", (m,))
            self.send(most, "float32", (m,))
        self.send(o, "float32", (m, e))

    def copy(self, source, place, rows, columns, tile):
        form = self.random.randrange(4)
        if form == 0:
            return self.line(f"T.copy({source}[{place}, 0], {tile})")
        if form == 1:
            a, b = self.fresh("i"), self.fresh("j")
            with self.parallel([a, b], (rows, columns)):
                self.line(f"{tile}[{a}, {b}] = {source}[{place} + {a}, {b}]")
            return None
        return self.line(f"T.copy({source}[{place}:{place} + {rows}, :], {tile})")

    def gathered(self):
        """Rows at indices that are read, one by one, and a product, or two, of them."""
        m, n, d = self.pick([16, 64, 64]), self.pick([16, 32, 64]), self.pick([16, 32, 64])
        if self.threads < 128:
            m = 16
        dtype = self.pick(["float16", "bfloat16"])
        queries, keys = self.input(dtype, (self.blocks * m, d), 1), self.input(dtype, (90, d), 1)
        table = self.indices(6 * n, self.pick([90, 90, 97, 60]))  # some outside
        q, k = self.tile(dtype, (m, d), "shared"), self.tile(dtype, (n, d), "shared")
        s, o = self.tile("float32", (m, n), "fragment"), self.tile("float32", (m, d), "fragment")
        p = self.tile(dtype, (m, n), self.pick(["fragment", "shared"]))
        i, x, y = self.fresh("k"), self.fresh("i"), self.fresh("j")
        self.line(f"T.copy({queries}[bx * {m}, 0], {q})")
        self.line(f"T.clear({o})")
        with self.pipelined(i, self.rounds()):
            with self.parallel([x, y], (n, d)):
                row = f"{table}[{i} * {n} + {x}]"
                if self.chance(0.5):
                    self.line(f"{k}[{x}, {y}] = {keys}[{row}, {y}]")
                else:
                    inside = f"{i} * {n} + {x} < {self.number()}"
                    self.line(f"{k}[{x}, {y}] = T.if_then_else({inside}, {keys}[{row}, {y}], {self.pick([0, 0, 1])})")
            self.line(f"T.clear({s})")
            self.line(f"T.gemm({q}, {k}, {s}, transpose_B=True)")
            with self.parallel([x, y], (m, n)):
                self.line(f"{p}[{x}, {y}] = T.max(T.min({s}[{x}, {y}], 2.0), -1.0)")
            self.line(f"T.gemm({p}, {k}, {o})")
        self.send(o, "float32", (m, d))

    def packed_weights(self):
        """A product whose right operand threads make of another type, or of a scale a row."""
        m, n, d = self.pick([16, 64, 64]), self.pick([16, 32, 64]), self.pick([32, 64])
        if self.threads < 128:
            m = 16
        dtype, packed = self.pick(["float16", "bfloat16"]), self.pick(["int8", "uint8", "float8_e4m3", "float8_e5m2", "int4", "uint4", "float32"])
        left, right = self.input(dtype, (self.blocks * m, 5 * d), 1), self.tensor("A", packed, (n, 5 * d), 4, 0 if packed.startswith("u") else 2)
        scales = self.input("float32", (n, 5), 1)
        a, raw, b = self.tile(dtype, (m, d), "shared"), self.tile(packed, (n, d), "shared"), self.tile(dtype, (n, d), self.pick(["shared", "fragment"]))
        o = self.tile("float32", (m, n), "fragment")
        held = self.tile(packed, (n, d), "fragment") if self.chance(0.5) else None
        i, x, y = self.fresh("k"), self.fresh("i"), self.fresh("j")
        self.line(f"T.clear({o})")
        with self.pipelined(i, self.rounds()):
            self.line(f"T.copy({left}[bx * {m}, {i} * {d}], {a})")
            self.line(f"T.copy({right}[0, {i} * {d}], {raw})")
            if held:
                self.line(f"T.copy({raw}, {held})")
            source = f"T.cast({held or raw}[{x}, {y}], '{dtype}')"
            scale = self.pick(["", f" * T.cast({scales}[{x}, {i}], '{dtype}')", " * 2"])
            with self.parallel([x, y], (n, d)):
                self.line(f"{b}[{x}, {y}] = {source}{scale}")
            target = b
            if b.startswith("f"):
                target = self.tile(dtype, (n, d), "shared")
                self.line(f"T.copy({b}, {target})")
            self.line(f"T.gemm({a}, {target}, {o}, transpose_B=True)")
        self.send(o, "float32", (m, n))

    # ---- rows ----

    def rows(self):
        """Serial loops over a dimension of a register tile, around a parallel one over the other."""
        dtype = self.pick(TYPES)
        r, c = self.pick([1, 2, 3, 4, 7, 8, 16]), self.pick([5, 16, 33, 64, 128, 200])
        turned = self.chance(0.3)
        shape = (c, r) if turned else (r, c)
        source, table = self.input(dtype, (self.blocks * shape[0], shape[1]), 9), self.indices(r, r)
        x, y = self.tile(dtype, shape, "fragment"), self.tile(dtype, shape)
        row, column = self.tile(dtype, (c,)), self.tile(dtype, (r,))
        self.line(f"T.copy({source}[bx * {shape[0]}, 0], {y})")
        self.line(self.pick([f"T.copy({y}, {x})", f"T.fill({x}, 1)"]))
        self.line(f"T.fill({row}, 2)")
        self.line(f"T.fill({column}, 3)")

        def at(tile, i, j):
            return f"{tile}[{j}, {i}]" if turned else f"{tile}[{i}, {j}]"
        for _ in range(self.pick([1, 2, 3])):
            i, j, k = self.fresh("i"), self.fresh("j"), self.fresh("k")
            reads = [at(y, i, j), at(y, i, j), at(x, i, j), f"{row}[{j}]", f"{column}[{i}]", f"T.cast({i}, '{dtype}')", at(y, f"{r - 1} - {i}", j),
                     at(y, i, f"{c - 1} - {j}"), at(x, f"T.max({i} - 1, 0)", j), at(y, f"{table}[{i}]", j), at(x, str(self.random.randrange(r)), j)]
            head = self.pick([f"for {i} in T.serial({r}):", f"for {i} in T.serial({r}):", f"for {i} in range({r}):", f"for {i} in T.unroll({r}):",
                              f"for {i} in T.serial({self.number()} % {r + 1}):", f"for {i} in T.serial({min(1, r - 1)}, {r}):"])
            value = f"{self.pick(reads)} {self.pick(['+', '-', '+', '*'] if is_float(dtype) else ['+', '-', '*', '^', '&'])} {self.pick(reads)}"
            if "*" in value and is_float(dtype):
                value = self.pick(reads)
            with self.within(head):
                with self.parallel([j], (c,)):
                    kind = self.random.randrange(6)
                    if kind == 0:
                        with self.within(f"if {self.pick([f'{j} < {self.limit(c)}', f'{i} < {self.limit(r)}', f'{self.pick(reads)} > 1', f'({i} + {j}) % 3 == 0'])}:"):
                            self.line(f"{at(x, i, j)} = {value}")
                        if self.chance(0.5):
                            with self.within("else:"):
                                self.line(f"{at(x, i, j)} = {self.pick(reads)}")
                    elif kind == 1:
                        self.line(f"{at(x, i, j)} = T.if_then_else({j} < {self.limit(c)}, {value}, {self.pick(reads)})")
                    elif kind == 2:
                        with self.within(f"for {k} in T.serial({self.pick([2, 3])}):"):
                            self.line(f"{at(x, i, j)} += {self.pick(reads)}")
                    elif kind == 3:
                        self.line(f"{at(x, i, j)} = {value}")
                        self.line(f"{self.pick([row + f'[{j}]', at(x, i, j)])} = {at(x, i, j)} - 1")
                    else:
                        self.line(f"{at(x, i, j)} = {value}")
        self.send(x, dtype, shape)
        self.send(row, dtype, (c,))

    # ---- many iterations a thread ----

    def many(self):
        """From memory to memory, more elements than threads: by a table, within limits, with arrays of the iteration's own."""
        dtype = self.pick(TYPES)
        count = self.threads * self.pick([1, 2, 3, 4, 8]) + self.pick([0, 0, 1, 17])
        source, other = self.input(dtype, (self.blocks * count,), 20), self.input(self.pick([dtype, "float32", "int32"]), (count,), 20)
        table = self.indices(count, self.pick([count, count + 9]))
        i, v = self.fresh("i"), self.fresh("v")
        out = self.output(dtype, (count * 2,) if self.chance(0.4) else (count,))
        each = 2 if self.tensors[-1][2][0] == self.blocks * count * 2 else 1
        own = f"bx * {count * each} + {i}" + (f" * 2 + {v}" if each == 2 else "")
        reads = [f"{source}[bx * {count} + {i}]", f"{source}[{i}]", f"{source}[{table}[{i}]]", f"T.cast({other}[{i}], '{dtype}')", f"T.cast({other}[{count - 1} - {i}], '{dtype}')",
                 f"{source}[bx * {count} + ({i} + {self.number()}) % {count}]"]
        with self.parallel([i], (count,)):
            held = None
            if self.chance(0.6) or each == 2:
                held = self.fresh("l")
                self.line(f"{held} = T.alloc_local(({self.pick([2, 3, 4])},), T.{dtype})")
                self.line(f"{held}[0] = {self.pick(reads)}")
                self.line(f"{held}[1] = {self.pick(reads)}")
                reads += [f"{held}[0]", f"{held}[1]"]
            with self.within(*[f"for {v} in {self.pick(['T.vectorized', 'T.serial'])}(2):"] * (each == 2)):
                if each == 2:
                    reads = [f"{held}[{v}]", f"{held}[1 - {v}]"] + reads[:1]
                value = f"{self.pick(reads)} {self.pick(['+', '-'])} {self.pick(reads)}"
                kind = self.random.randrange(5)
                if kind == 0:
                    with self.within(f"if {i} < {self.limit(count)}:"):
                        self.line(f"{out}[{own}] = {value}")
                    if self.chance(0.6):
                        with self.within("else:"):
                            self.line(f"{out}[{own}] = {self.pick(['0', '1'] + reads)}")
                elif kind == 1:
                    self.line(f"{out}[{own}] = T.if_then_else({table}[{i}] < {self.limit(count)}, {value}, {self.pick(reads)})")
                elif kind == 2:
                    self.line(f"{out}[{own}] = {value}")
                    self.line(f"{out}[{own}] += {self.pick(reads)}")
                else:
                    self.line(f"{out}[{own}] = {value}")

    def own_elements(self):
        """Elements of a tile that each iteration sets at places of its own, some of them twice."""
        dtype = self.pick(TYPES)
        r, c, each = self.pick([1, 2, 4]), self.pick([8, 16, 32, 50]), self.pick([2, 4, 8])
        source = self.input(dtype, (self.blocks * r, c * 3), 20)
        x = self.tile(dtype, (r, c * each), "fragment")
        few, i, j, k = self.fresh("l"), self.fresh("i"), self.fresh("j"), self.fresh("k")
        self.line(f"T.fill({x}, {self.pick([0, 1])})")
        with self.parallel([i, j], (r, c)):
            self.line(f"{few} = T.alloc_local((3,), T.{dtype})")
            with self.within(f"for {k} in T.serial(3):"):
                self.line(f"{few}[{k}] = {source}[bx * {r} + {i}, {self.pick([f'{j} * 3 + {k}', f'{k} * {c} + {j}'])}]")
            place = self.pick([f"{j} * {each} + {k}", f"{k} * {c} + {j}", f"({c - 1} - {j}) * {each} + {each - 1} - {k}"])
            with self.within(f"for {k} in {self.pick(['T.vectorized', 'T.serial', 'T.unroll'])}({each}):"):
                with self.within(*[f"if {self.pick([f'{few}[{k} % 3] > 1', f'{j} < {self.limit(c)}', f'{k} != 1'])}:"] * self.chance(0.5)):
                    self.line(f"{x}[{i}, {place}] = {few}[{k} % 3]")
                if self.chance(0.5):
                    self.line(f"{x}[{i}, {place}] += T.cast({k}, '{dtype}')")
        if self.chance(0.5):
            with self.parallel([i, j], (r, c * each)):
                self.line(f"{x}[{i}, {j}] = {x}[{i}, {j}] + 1")
        self.send(x, dtype, (r, c * each))

    def sides(self):
        """What one side of a condition writes to a place, or the other, or both do, in one `if` or in two."""
        dtype = self.pick(TYPES)
        shape = self.pick([(16, 32), (64, 16), (33, 9), (8, 128), (200,), (64,)])
        source, x = self.input(dtype, (self.blocks * shape[0] + 5,) + shape[1:], 30), self.tile(dtype, shape)
        names = [self.fresh("i") for _ in shape]
        own, there = ", ".join(names), ", ".join([f"bx * {shape[0]} + {names[0]}"] + names[1:])
        first = self.fresh("m")
        self.line(f"{first} = {self.number()} % 7")
        out = self.output(dtype, shape)
        at = self.pick([f"{x}[{own}]", f"{x}[{own}]", f"{out}[{there}]"])
        if at.startswith(x):
            self.line(f"T.fill({x}, 5)")
        tests = [f"{names[0]} < {self.limit(shape[0])}", f"{names[-1]} < {self.limit(shape[-1])}", f"{first} + {names[0]} < {self.limit(shape[0])}",
                 f"{source}[{there}] > 2", f"({' + '.join(names)}) % 2 == 0"]
        values = [f"{source}[{there}]", f"{source}[{', '.join([f'bx * {shape[0]} + {names[0]} + {first}'] + names[1:])}]", "0", "7",
                  f"{source}[{there}] + T.cast({names[-1]}, '{dtype}')"]
        if at.startswith(x):
            values.append(f"{at} - 1")
        with self.parallel(names, shape):
            self.choice(at, tests, values, 0)
        if at.startswith(x):
            with self.parallel(names, shape):
                mirrored = ", ".join([f"{shape[0] - 1} - {names[0]}"] + names[1:])
                self.line(f"{out}[{there}] = {x}[{self.pick([own, mirrored])}]")

    def choice(self, at, tests, values, depth):
        test = self.pick(tests)
        twice = self.chance(0.25)
        with self.within(f"if {test}:"):
            self.some(at, tests, values, depth)
        if twice:
            with self.within(f"if not ({test}):" if self.chance(0.5) else f"if {test.replace(' < ', ' >= ')}:"):
                self.some(at, tests, values, depth)
        elif self.chance(0.8):
            if self.chance(0.3):
                with self.within(f"elif {self.pick(tests)}:"):
                    self.some(at, tests, values, depth)
            with self.within("else:"):
                self.some(at, tests, values, depth)

    def some(self, at, tests, values, depth):
        if depth < 2 and self.chance(0.3):
            return self.choice(at, tests, values, depth + 1)
        return self.line(f"{at} = {self.pick(values)}")

    def limits(self):
        """Choices by how a column compares with limits of its row, of many columns a thread, and what rarely is chosen."""
        r, c = self.pick([8, 16, 32, 64]), self.pick([16, 64, 96, 128])
        source, ends = self.input("float32", (self.blocks * r, c), 9), self.input("int32", (r,), 60)
        x, low = self.tile("float32", (r, c), "fragment"), self.tile("int32", (r,))
        i, j, most = self.fresh("i"), self.fresh("j"), self.tile("float32", (r,), "fragment")
        self.line(f"T.copy({source}[bx * {r}, 0], {x})")
        self.line(f"T.copy({ends}, {low})")
        column, row = f"({self.pick(['bx', self.number(), '0'])} * 8 + {j})", f"({self.number()} + {i})"
        forms = [f"{column} < {row}", f"{column} <= {row}", f"{column} >= {low}[{i}]", f"{column} < {low}[{i}]", f"{column} > {row} - {self.number()}",
                 f"{column} < {self.number()}"]
        for _ in range(self.pick([1, 2])):
            test = self.pick([self.pick(forms), f"T.And({self.pick(forms)}, {self.pick(forms)})", f"T.Or({self.pick(forms)}, {self.pick(forms)})"])
            other = self.pick(["-T.infinity(T.float32)", "0.0", f"{x}[{i}, {j}] - 1.0", f"T.max({x}[{i}, {j}] * {x}[{i}, {j}] - 3.0, {x}[{i}, {j}] * 4.0)"])
            with self.parallel([i, j], (r, c)):
                self.line(f"{x}[{i}, {j}] = T.if_then_else({test}, {x}[{i}, {j}], {other})")
        self.line(f"T.reduce_max({x}, {most}, dim=1)")
        self.send(most, "float32", (r,))
        self.send(x, "float32", (r, c))

    def scans(self):
        dtype = self.pick(["int32", "float32", "int64"])
        shape = self.pick([(64,), (100,), (128,), (8, 32), (4, 100), (16, 16)])
        tiles = [self.tile(dtype, shape) for _ in range(self.pick([1, 2, 3]))]
        source = self.input(dtype, (self.blocks * shape[0],) + shape[1:], 5)
        carried, k = self.tile(dtype, shape, "fragment"), self.fresh("k")
        for tile in tiles:
            self.line(f"T.copy({source}[{', '.join([f'bx * {shape[0]}'] + ['0'] * (len(shape) - 1))}], {tile})")
        self.line(f"T.clear({carried})")
        names = [self.fresh("i") for _ in shape]
        with self.within(*[f"for {k} in T.serial({self.pick(['2', '3', self.number() + ' % 3'])}):"] * self.chance(0.5)):
            for tile in tiles:
                self.line(f"T.cumsum({tile}, dim={self.random.randrange(len(shape))}{self.pick(['', ', reverse=True'])})")
            own = ", ".join(names)
            with self.parallel(names, shape):
                self.line(f"{carried}[{own}] = {' + '.join([carried + f'[{own}]'] + [tile + f'[{own}]' for tile in tiles])}")
            if is_float(dtype):
                with self.parallel(names, shape):
                    self.line(f"{tiles[0]}[{own}] = T.min(T.max({tiles[0]}[{own}], -3.0), 3.0)")
                for tile in tiles[1:]:
                    self.line(f"T.copy({tiles[0]}, {tile})")
        self.send(carried, dtype, shape)

    def reduced(self):
        """Sums and extremes of rows or columns, of which a thread has parts of several."""
        dtype = self.pick(["float32", "float32", "float16", "bfloat16", "int32", "float64"])
        shape = self.pick([8, 16, 32, 64, 64, 96, 128]), self.pick([8, 16, 32, 64, 64, 100, 128, 256])
        dim = self.pick([0, 1, 1])
        source, x = self.input(dtype, (self.blocks * shape[0], shape[1]), 1), self.tile(dtype, shape, "fragment")
        self.line(f"T.copy({source}[bx * {shape[0]}, 0], {x})")
        for _ in range(self.pick([1, 2])):
            kind, out = self.pick(["sum", "max", "min", "absmax"] if dtype != "bfloat16" else ["max", "min", "absmax"]), self.tile(dtype, (shape[1 - dim],))
            clear = self.chance(0.7)
            if not clear:
                self.line(f"T.fill({out}, 1)")
            self.line(f"T.reduce_{kind}({x}, {out}, dim={dim}{'' if clear else ', clear=False'})")
            names = [self.fresh("i"), self.fresh("j")]
            with self.parallel(names, shape):
                own = f"{x}[{', '.join(names)}]"
                self.line(f"{own} = T.max(T.min({own} - {out}[{names[1 - dim]}], 1), -1)")
            self.send(out, dtype, (shape[1 - dim],))
        self.send(x, dtype, shape)

    def reducers(self):
        dtype, op = self.pick(["int32", "float32"]), self.pick(["sum", "max", "min"])
        r, c = self.pick([1, 4, 16, 64]), self.pick([16, 64, 100])
        source = self.input(dtype, (self.blocks * r, c * 4), 9)
        acc, i, j, k = self.fresh("r"), self.fresh("i"), self.fresh("j"), self.fresh("k")
        self.insert(0, f"{acc} = T.alloc_reducer(({r},), T.{dtype}, op='{op}'{self.pick(['', ', replication=' + repr('all')])})")
        start = {"sum": "0", "max": "-100", "min": "100"}[op]
        self.line(f"T.fill({acc}, {start})")
        x = self.tile(dtype, (r, c), self.pick(["fragment", "shared"]))
        with self.within(f"for {k} in T.serial({self.pick(['4', '2', self.number() + ' % 5'])}):"):
            self.line(f"T.copy({source}[bx * {r}, {k} * {c}], {x})")
            with self.parallel([i, j], (r, c)):
                value = f"{x}[{i}, {j}]"
                self.line(f"{acc}[{i}] += {value}" if op == "sum" else f"{acc}[{i}] = T.{op}({acc}[{i}], {value})")
        self.line(f"T.finalize_reducer({acc})")
        self.send(acc, dtype, (r,))

    # ---- text ----

    def text(self):
        yield HEAD + "@tilelang.jit"
        shapes = ", ".join(f"{name}: T.Tensor[[{', '.join(self.extent(name, d, e) for d, e in enumerate(shape))}], T.{dtype}]"
                           for name, dtype, shape, _, _ in self.tensors)
        yield f"def loops{self.seed}({shapes}, {', '.join(f'{n}: T.int32' for n in self.numbers)}):"
        yield f"    with T.Kernel({self.blocks}, threads={self.threads}) as bx:"
        yield from self.body
        yield "\n"
        for name, dtype, shape, modulus, shift in self.tensors:
            count = 1
            for extent in shape:
                count *= extent
            yield f"{name} = zeros({shape}, T.{dtype})"
            if modulus:
                places = f"[{', '.join(':' * len(shape))}]"
                yield (f"{name}{places} = ((arange({count}, T.int32) * {self.random.randrange(1, 90)} + {self.random.randrange(50)}) % {modulus} - {shift})"
                       f".reshape({shape})")
        yield f"loops{self.seed}({', '.join([t[0] for t in self.tensors] + [str(v) for v in self.numbers.values()])})"

    def extent(self, name, dim, extent):
        """As a type wants it: known, a key, or of run time."""
        return {0: str(extent), 1: "int", 2: "T.dyn"}[(len(name) + dim + extent + self.seed) % 3]


def program(seed):
    return "\n".join(Program(seed).text()) + "\n"
