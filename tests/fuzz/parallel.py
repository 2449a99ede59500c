#!/usr/bin/env python3
"""parallel.py [--seed N] [--count N] [--show] TILEC: random parallel loops, run on the checked emulator
and by Python itself, iteration by iteration: the text of the loops is the same for both.

In a loop some memories are written, each at a place of the iteration's own, and the others read
anywhere. All numbers are small integers, so that results are exact."""
import argparse
import itertools
import os
import random
import subprocess
import sys

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 32, 33, 40, 64]
MODULUS = 251
TILES = ["x", "h"]  # which have no outside, as views have


class Memory:
    """What is outside reads zero and is not written: of views."""

    def __init__(self, shape, values=None):
        self.shape = shape
        self.items = list(values) if values else [0] * self.count()

    def count(self):
        total = 1
        for extent in self.shape:
            total *= extent
        return total

    def place(self, index):
        index = index if isinstance(index, tuple) else (index,)
        at = 0
        for i, extent in zip(index, self.shape):
            if not 0 <= i < extent:
                return None
            at = at * extent + i
        return at

    def __getitem__(self, index):
        at = self.place(index)
        return 0 if at is None else self.items[at]

    def __setitem__(self, index, value):
        at = self.place(index)
        if at is not None:
            self.items[at] = value


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = f"Loops{seed}"
        self.warps = self.pick([1, 2, 3, 4])
        self.shapes = {name: self.shape() for name in ("a", "b", "x", "h", "o", "q")}
        self.shapes["w"] = [self.pick([16, 33, 64])]
        self.values = {
            "a": [self.random.randrange(MODULUS) for _ in range(Memory(self.shapes["a"]).count())],
            "b": [self.random.randrange(MODULUS) for _ in range(Memory(self.shapes["b"]).count())],
            "w": [self.random.randrange(-2, 20) for _ in range(self.shapes["w"][0])],
        }
        self.scalars = {"s": self.random.randrange(-3, 9), "t": self.random.randrange(0, 70)}
        self.lines = []
        for _ in range(self.pick([1, 2, 3])):
            self.loop()

    def pick(self, items):
        return self.random.choice(items)

    def shape(self):
        while True:
            shape = [self.pick(EXTENTS) for _ in range(self.pick([1, 2, 2, 3]))]
            if Memory(shape).count() <= 1500:
                return shape

    # ---- expressions ----

    def index(self, depth, extent):
        kind = self.random.randrange(8)
        variable = self.pick(self.variables)
        if kind < 3:
            return variable
        if kind == 3:
            return f"{variable} + {self.random.randrange(-2, 5)}"
        if kind == 4:
            return f"s + {variable}"
        if kind == 5:
            return str(self.random.randrange(extent))
        if kind == 6:
            return self.pick(["s", "t"])
        return f"w[{variable}]" if depth > 1 else f"w[{self.expression(depth + 1)} + {variable}]"

    def read(self, depth):
        name = self.pick(self.readable)
        indices = [self.index(depth, extent) for extent in self.shapes[name]]
        if not any(variable in index for index in indices for variable in "ijl"):  # an element outside is a fault
            indices[0] = self.pick(self.variables[:len(self.extents)])
        if name in TILES:
            indices = [index if self.is_inside(index, extent) else f"({index}) % {extent}" for index, extent in zip(indices, self.shapes[name])]
        return f"{name}[{', '.join(indices)}]"

    def is_inside(self, index, extent):
        return index.isdigit() or index in "ijl" and self.extents["ijl".index(index)] <= extent

    def expression(self, depth=0):
        kind = self.random.randrange(11) if depth < 3 else self.random.randrange(4)
        if kind == 0:
            return str(self.random.randrange(-5, 30))
        if kind == 1:
            return self.pick(self.variables + ["s", "t"])
        if kind == 2:
            return self.pick(self.names or self.variables)
        if kind in (3, 4):
            return self.read(depth)
        a, b = self.expression(depth + 1), self.expression(depth + 1)
        if kind < 8:
            return f"({a} {self.pick(['+', '-', '&', '|', '^'])} {b})"
        if kind == 8:
            return f"({a}) * {self.random.randrange(-3, 4)} % {MODULUS}"
        if kind == 9:
            return f"({a} if {self.condition(depth + 1)} else {b})"
        return f"chosen({a}, {b})"

    def condition(self, depth=0):
        kind = self.random.randrange(8)
        if kind == 0 and depth < 3:
            return f"({self.condition(depth + 1)} {self.pick(['and', 'or'])} {self.condition(depth + 1)})"
        if kind == 1 and depth < 3:
            return f"not ({self.condition(depth + 1)})"
        if kind < 4:
            return f"{self.pick(self.variables)} {self.pick(['<', '<=', '>', '>='])} {self.pick(['t', 's + 3', '5'])}"
        return f"{self.expression(depth + 1)} {self.pick(['<', '>=', '==', '!='])} {self.expression(depth + 1)}"

    # ---- statements ----

    def add(self, depth, line):
        self.lines.append("    " * (depth + 1) + line)

    def statement(self, depth, jumps):
        kind = self.random.randrange(10)
        if kind < 4 or depth > 4:
            name = self.pick(["v", "u"])
            operator = self.pick(["=", "=", "+="])
            self.add(depth, f"{name} {operator} ({self.expression()}) % {MODULUS}")
        elif kind < 7:
            self.store(depth)
        elif kind == 7 and jumps:
            self.add(depth, f"if {self.condition()}:")
            self.add(depth + 1, "continue")
        elif kind == 8 and depth < 4:
            self.add(depth, f"for k in range({self.pick(['3', 's', 't // 16'])}):")
            self.variables.append("k")
            self.block(depth + 1, jumps)
            self.add(depth + 1, f"u = (u + {self.expression()}) % {MODULUS}")
            self.variables.pop()
        else:
            self.add(depth, f"if {self.condition()}:")
            self.block(depth + 1, jumps)
            if self.random.randrange(2):
                self.add(depth, f"elif {self.pick(['s > 4', 't != 9', self.condition()])}:")
                self.block(depth + 1, jumps)
            if self.random.randrange(2):
                self.add(depth, "else:")
                self.block(depth + 1, jumps)

    def block(self, depth, jumps):
        for _ in range(self.pick([1, 1, 2])):
            self.statement(depth, jumps)

    def store(self, depth):
        if not self.places:
            return self.add(depth, "v += 1")
        name = self.pick(sorted(self.places))
        pairs = zip(self.places[name].split(", "), self.shapes[name])
        guards = [f"0 <= {index} < {extent}" for index, extent in pairs if name in TILES and not self.is_inside(index, extent)]
        if guards:
            self.add(depth, f"if {' and '.join(guards)}:")
            depth += 1
        self.add(depth, f"{name}[{self.places[name]}] = ({self.pick([self.expression(), f'{name}[{self.places[name]}] + u'])}) % {MODULUS}")

    def own_place(self, name):
        """Indices of the memory that no two iterations have in common; None: there are none."""
        rank = len(self.shapes[name])
        needed = [i for i, extent in enumerate(self.extents) if extent > 1]
        if len(needed) > rank:
            return None
        order = needed + [None] * (rank - len(needed))
        self.random.shuffle(order)
        indices = []
        for dim, i in enumerate(order):
            if i is None:
                indices.append(str(self.random.randrange(self.shapes[name][dim])))
            else:
                indices.append(f"{'ijl'[i]}{self.pick(['', '', '', '', ' + 1', ' - 1', ' + s'])}")
        return ", ".join(indices)

    def loop(self):
        like = self.pick(["o", "x", "h", "q"])
        self.extents = list(self.shapes[like]) if self.random.randrange(6) else self.shape()
        if self.random.randrange(3) == 0:
            self.random.shuffle(self.extents)
        self.variables = list("ijl")[:len(self.extents)]
        self.names, self.places = [], {}
        written = sorted({like} | set(self.random.sample(["o", "q", "x", "h"], self.pick([1, 2]))))
        for name in written:
            place = self.own_place(name)
            if place:
                self.places[name] = place
        self.readable = ["a", "b"] + [name for name in ("o", "q", "x", "h") if name not in written]
        self.add(0, f"for {', '.join(self.variables)} in parallel({', '.join(map(str, self.extents))}):")
        self.add(1, f"v = {self.expression()}")
        self.add(1, f"u = {self.pick(['0', '1', self.expression()])}")
        self.names = ["u", "v"]
        for _ in range(self.pick([2, 3, 4])):
            self.statement(1, True)
        self.store(1)

    # ---- the two ways to run it ----

    def body(self):
        return [f"def body_{self.name}(a, b, w, x, h, o, q, s, t):"] + self.lines

    def text(self):
        views = [f"        {n} = self.global_view({n}_ptr, dtype=int32, shape={self.shapes[n]})" for n in ("a", "b", "w", "o", "q")]
        return "\n".join(self.body() + [
            "", "", f"class {self.name}(tilus.Script):",
            "    def __call__(self, s: int32, t: int32, a_ptr: ~int32, b_ptr: ~int32, w_ptr: ~int32, o_ptr: ~int32, q_ptr: ~int32):",
            "        self.attrs.blocks = 1", f"        self.attrs.warps = {self.warps}", *views,
            f"        x = self.register_tensor(dtype=int32, shape={self.shapes['x']}, init=0)",
            f"        h = self.shared_tensor(dtype=int32, shape={self.shapes['h']})",
            f"        self.store_shared(h, self.register_tensor(dtype=int32, shape={self.shapes['h']}, init=0))",
            f"        body_{self.name}(a, b, w, x, h, o, q, s, t)", "", ""])

    def expected(self):
        memories = {name: Memory(shape, self.values.get(name)) for name, shape in self.shapes.items()}
        scope = {"parallel": lambda *extents: itertools.product(*map(range, extents)) if len(extents) > 1 else range(*extents)}
        exec(CHOSEN + "\n".join(self.body()), scope)
        scope[f"body_{self.name}"](**memories, **self.scalars)
        return memories["o"].items, memories["q"].items

    def statements(self):
        calls = [f"{n} = filled(zeros({tuple(self.shapes[n])}, int32), {self.values.get(n, [])})" for n in ("a", "b", "w", "o", "q")]
        return calls + [f"{self.name}()({self.scalars['s']}, {self.scalars['t']}, a, b, w, o, q)",
                        f"print('{self.name} o', *items(o))", f"print('{self.name} q', *items(q))"]


CHOSEN = """
def chosen(p, q):
    if p < 3:
        return q + 1
    elif p == q:
        return 7
    if q > 100:
        p = p - q
    return p


"""
HEAD = """import tilus
from tilus import int32
from tile import parallel
from tile.host import zeros


def filled(array, values):
    flat = array.reshape(array.size)
    for i in range(len(values)):
        flat[i] = values[i]
    return array


def items(array):
    flat = array.reshape(array.size)
    return [flat[i] for i in range(array.size)]

"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("tilec")
    options = parser.parse_args()
    programs = [Program(seed) for seed in range(options.seed, options.seed + options.count)]
    source = HEAD + CHOSEN + "\n".join(program.text() for program in programs)
    calls = "\n".join(line for program in programs for line in program.statements())
    if options.show:
        print(source + calls)
        return 0
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"parallel.{os.getpid()}.tile")
    with open(path, "w") as file:
        file.write(source + calls + "\n")
    environment = dict(os.environ, TILE_DEVICE="emulator", TILE_EMULATOR="checked")
    done = subprocess.run([options.tilec, "run", "--verify-each", path], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    os.remove(path)
    given = {tuple(line.split()[:2]): [int(v) for v in line.split()[2:]] for line in done.stdout.splitlines()
             if line.startswith("Loops") and len(line.split()) > 2}
    failed = done.returncode != 0
    if failed:
        print(done.stdout[-4000:])
    for program in programs:
        for name, wanted in zip("oq", program.expected()):
            if given.get((program.name, name)) != wanted:
                found = given.get((program.name, name))
                wrong = [i for i, value in enumerate(wanted) if found is None or found[i] != value]
                print(f"{program.name}: {name} differs in {len(wrong)} of {len(wanted)} elements"
                      + (f", [{wrong[0]}] is {found[wrong[0]]}, should be {wanted[wrong[0]]}" if found else ": no result"))
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
