"""Programs about parts of register and shared tiles, of any extents, in the words of each dialect: rows, columns, slices, shifted
reads, gathers, stencils, transposed parts, reductions of parts, and stores into parts. A program says in numpy's words as well what
each of its statements does: `expected` is what its arrays hold at the end.

Numbers are whole and at most 120, and what is computed of them goes out: every type has them exactly, or wraps as numpy does."""
import math
import random

from choices import Choices

EXTENTS = [1, 2, 3, 5, 6, 7, 9, 10, 12, 13, 15, 20, 23, 24, 28, 33, 40, 48, 65, 69, 96, 100, 2, 4, 8, 16, 32, 64]
TYPES = ["float32", "float32", "float16", "bfloat16", "float64", "int32", "int32", "int8", "uint8", "int16", "int64"]
MOST = {1: 900, 2: 2400, 3: 2400}  # elements of a tile, by rank
MODULUS, BUMPS = 100, 20
LETTERS = "ijk"


class Tile:
    def __init__(self, name, dtype, shape, kind):
        self.name, self.dtype, self.shape, self.kind = name, dtype, tuple(shape), kind


class Place:
    """Along one dimension of a tile: elements first, first + step, ..., or one of them (count is None)."""

    def __init__(self, text, first, count=None, step=1):
        self.text, self.first, self.count, self.step = text, first, count, step

    def of(self, env):
        first = self.first(env)
        if self.count is None:
            return first
        last = first + self.count * self.step
        return slice(first, last if last >= 0 else None, self.step)

    def element(self, variable):
        """The place of one of them, as text."""
        if self.count is None:
            return self.text
        return f"{self.text} {'-' if self.step < 0 else '+'} {variable}" + (f" * {abs(self.step)}" if abs(self.step) > 1 else "")

    def is_known(self):
        return self.text.isdigit()

    def slice(self):
        if self.count is None:
            return self.text
        if not self.is_known():
            return f"{self.text}:{self.text} + {self.count}"
        first = int(self.text)
        return f"{first}:{first + (self.count - 1) * self.step + 1}" + (f":{self.step}" if self.step > 1 else "")


class Part:
    def __init__(self, tile, places):
        self.tile, self.places = tile, places
        self.shape = tuple(p.count for p in places if p.count is not None)

    def of(self, env):
        return env[self.tile.name][tuple(p.of(env) for p in self.places)]

    def put(self, env, value):
        env[self.tile.name][tuple(p.of(env) for p in self.places)] = value

    def slices(self):
        return f"{self.tile.name}[{', '.join(p.slice() for p in self.places)}]"

    def element(self, variables):
        """By the part's own dimensions."""
        left = iter(variables)
        return f"{self.tile.name}[{', '.join(p.element(next(left) if p.count is not None else '') for p in self.places)}]"


def count_of(shape):
    return math.prod(shape)


def fitted(array, dtype):
    """What numpy has instead of the type: of bfloat16 all numbers here are float32's, too."""
    import numpy
    return numpy.asarray(array).astype("float32" if dtype == "bfloat16" else dtype)


def given(tile, blocks, number):
    """What a tile's input holds, block by block along the first dimension."""
    import numpy
    shape = (blocks * tile.shape[0],) + tile.shape[1:]
    return fitted((numpy.arange(count_of(shape)) * number + number // 3) % MODULUS, tile.dtype).reshape(shape)


class Program(Choices):
    def __init__(self, seed):
        self.random, self.seed, self.counter = random.Random(seed), seed, 0
        self.body, self.depth, self.head = [], self.first_depth, []
        self.blocks = self.pick([1, 1, 2, 3])
        self.warps = self.pick([1, 1, 2, 3, 4, 4, 8])
        self.threads = 32 * self.warps
        self.numbers = {self.fresh("n"): self.random.randrange(4) for _ in range(2)}
        self.loop = None  # (name, trips)
        self.tiles, self.inputs, self.outputs, self.bumps = [], {}, [], 0
        self.lists = [[]]  # of what numpy does
        for _ in range(self.pick([2, 2, 3])):
            self.new_tile()
        for _ in range(self.pick([3, 4, 6, 8])):
            self.statement()
        for tile in self.tiles:
            self.send(Part(tile, [Place("0", lambda env: 0, e) for e in tile.shape]))

    def fresh(self, letter):
        self.counter += 1
        return letter + str(self.counter)

    def do(self, run):
        self.lists[-1].append(run)

    def new_tile(self):
        rank = self.random.choices([1, 2, 3], [2, 6, 1])[0]
        while True:
            shape = [self.pick(EXTENTS + [self.random.randrange(1, 100)]) for _ in range(rank)]
            if count_of(shape) <= MOST[rank]:
                break
        if self.tiles and self.chance(0.5):  # of the same shape and type as another
            shape = self.tiles[0].shape
        dtype = self.tiles[0].dtype if self.tiles and self.chance(0.8) else self.pick(TYPES)
        tile = Tile(self.fresh("x"), dtype, shape, self.pick(["register", "register", "shared"]))
        source = Tile(self.fresh("A"), tile.dtype, tile.shape, "input")
        self.inputs[source.name] = (source, self.random.randrange(1, 90))
        self.load(tile, source)

        def run(env):
            rows = tile.shape[0]
            env[tile.name] = env["memory"][source.name][env["block"] * rows:][:rows].copy()
        self.do(run)
        self.tiles.append(tile)

    def new_output(self, dtype, shape):
        out = Tile(self.fresh("O"), dtype, shape or (1,), "output")
        self.outputs.append(out)
        return out

    def leaves(self, out, value):
        """What a block leaves in its rows of an output."""
        def run(env):
            rows = out.shape[0]
            env["memory"][out.name][env["block"] * rows:(env["block"] + 1) * rows] = fitted(value(env), out.dtype).reshape(out.shape)
        self.do(run)

    # ---- places ----

    def start(self, room, known):
        """A first element that leaves room - 1 others behind it: text and value."""
        if known or self.chance(0.5):
            c = self.random.randrange(room)
            return str(c), lambda env: c
        names = [(name, value, value) for name, value in self.numbers.items()] + [(self.block, self.blocks - 1, None)]
        if self.loop:
            names += [(self.loop[0], self.loop[1] - 1, None)] * 2
        name, most, value = self.pick(names)
        if most >= room:
            return self.start(room, True)
        c = self.random.randrange(room - most)
        if value is not None:
            return f"{name} + {c}", lambda env: value + c
        key = "block" if name == self.block else name
        return f"{name} + {c}", lambda env: env[key] + c

    def place(self, extent, count, known, steps=(1,)):
        if count is None:
            text, first = self.start(extent, known and not self.index_of_run_time)
            return Place(text, first)
        step = self.pick([s for s in steps if (count - 1) * abs(s) < extent])
        text, first = self.start(extent - (count - 1) * abs(step), known)
        if step > 0:
            return Place(text, first, count, step)
        reach = (count - 1) * -step
        return Place(f"{text} + {reach}", lambda env: first(env) + reach, count, step)

    def extents_of_part(self, tile):
        """As a row, a column or a slice."""
        while True:
            counts = [self.pick([None, e, e, self.random.randrange(1, e + 1), self.random.randrange(1, e + 1)]) for e in tile.shape]
            if any(c is not None for c in counts):
                return counts

    def part(self, tile=None, known=None, steps=(1,), counts=None):
        tile = tile or self.pick(self.tiles)
        known = self.is_known(tile) if known is None else known
        counts = counts or self.extents_of_part(tile)
        return Part(tile, [self.place(e, c, known, steps) for e, c in zip(tile.shape, counts)])

    def alike(self, part, tile, known=None, steps=(1,)):
        """A part of the tile of the same shape; None: it has none."""
        free = len(tile.shape) - len(part.shape)
        if free < 0:
            return None
        counts, alone = list(part.shape), self.random.sample(range(len(tile.shape)), free)
        counts = [None if d in alone else counts.pop(0) for d in range(len(tile.shape))]
        if any(c is not None and c > e for c, e in zip(counts, tile.shape)):
            return None
        return self.part(tile, known, steps, counts)

    def pair(self, **how):
        """Two parts of one shape and type, of different tiles or, where only read, of one."""
        part = self.part(**how)
        others = [t for t in self.tiles if t.dtype == part.tile.dtype]
        other = self.alike(part, self.pick(others), how.get("known"), how.get("steps", (1,)))
        return part, other or self.part(part.tile, counts=[p.count for p in part.places], **how)

    # ---- statements that all dialects have ----

    def statement(self):
        kinds = list(self.kinds()) + [self.read, self.move, self.move, self.set]
        if not self.loop:
            kinds += [self.rounds]
        self.pick(kinds)()

    def rounds(self):
        name, trips = self.fresh("k"), self.pick([1, 2, 3])
        self.lists.append([])
        with self.within(self.loop_head(name, trips)):
            self.loop = (name, trips)
            for _ in range(self.pick([1, 2])):
                self.pick([self.move, self.set])()
            self.loop = None
        body = self.lists.pop()

        def run(env):
            for env[name] in range(trips):
                for one in body:
                    one(env)
        self.do(run)

    def read(self):
        self.send(self.part())

    def move(self):
        """Into a part of another tile."""
        source, target = self.pair()
        if source.tile is target.tile:
            return self.set()
        self.assign(target, source)
        self.do(lambda env: target.put(env, source.of(env)))

    def set(self):
        target, number = self.part(), self.random.randrange(100)
        trips = self.loop[1] if self.loop else 1
        if self.chance(0.4) and self.bumps + trips <= BUMPS and self.bump(target):
            self.bumps += trips
            return self.do(lambda env: target.put(env, target.of(env) + fitted(1, target.tile.dtype)))
        self.fill(target, number)
        self.do(lambda env: target.put(env, number))

    # ---- results ----

    def memory(self):
        import numpy
        memory = {name: given(tile, self.blocks, number) for name, (tile, number) in self.inputs.items()}
        for out in self.outputs:
            memory[out.name] = fitted(numpy.zeros((self.blocks * out.shape[0],) + out.shape[1:]), out.dtype)
        return memory

    def expected(self):
        memory = self.memory()
        for block in range(self.blocks):
            env = {"memory": memory, "block": block}
            for run in self.lists[0]:
                run(env)
        return {out.name: (out.dtype, memory[out.name]) for out in self.outputs}

    def arrays(self, module):
        for name, (tile, number) in self.inputs.items():
            shape = (self.blocks * tile.shape[0],) + tile.shape[1:]
            yield f"{name} = zeros({shape}, {module}{tile.dtype})"
            yield f"{name}{'[' + ', '.join(':' * len(shape)) + ']'} = ((arange({count_of(shape)}, {module}int32) * {number} + {number // 3}) % {MODULUS}).reshape({shape})"
        for out in self.outputs:
            yield f"{out.name} = zeros({(self.blocks * out.shape[0],) + out.shape[1:]}, {module}{out.dtype})"

    def arguments(self):
        return list(self.inputs) + [out.name for out in self.outputs]

    def text(self):
        return "\n".join(self.lines()) + "\n"


REDUCTIONS = {"max": "max", "min": "min"}


class TileLang(Program):
    first_depth, block, index_of_run_time = 2, "bx", False

    def kinds(self):
        return [self.elements, self.elements, self.stencil, self.stencil, self.gather, self.scatter, self.reduce]

    def is_known(self, tile):
        return tile.kind == "register"

    def allocate(self, name, dtype, shape, kind):
        kind = "fragment" if kind == "register" else kind
        self.insert(0, f"{name} = T.alloc_{kind}(({', '.join(map(str, shape))},), T.{dtype})")

    def load(self, tile, source):
        self.allocate(tile.name, tile.dtype, tile.shape, tile.kind)
        self.line(f"T.copy({source.name}[{', '.join(['bx * %d' % tile.shape[0]] + ['0'] * (len(tile.shape) - 1))}], {tile.name})")

    def loop_head(self, name, trips):
        return f"for {name} in T.serial({trips}):"

    def own_rows(self, out):
        return ", ".join([f"bx * {out.shape[0]}"] + ["0"] * (len(out.shape) - 1))

    def send(self, part):
        out = self.new_output(part.tile.dtype, part.shape)
        whole = part.shape == part.tile.shape and self.chance(0.5)
        self.line(f"T.copy({part.tile.name if whole else part.slices()}, {out.name}[{self.own_rows(out)}])")
        self.leaves(out, part.of)

    def assign(self, target, source):
        self.line(f"T.copy({source.slices()}, {target.slices()})")

    def over(self, shape, text):
        self.line(f"for {', '.join(LETTERS[:len(shape)])} in T.Parallel({', '.join(map(str, shape))}):")
        self.line("    " + text)

    def fill(self, target, number):
        if self.chance(0.5):
            return self.line(f"T.fill({target.slices()}, {number})")
        self.over(target.shape, f"{target.element(LETTERS)} = {number}")

    def bump(self, target):
        self.over(target.shape, f"{target.element(LETTERS)} += 1")
        return True

    def put(self, out, text, variables=LETTERS):
        self.over(out.shape, f"{out.name}[{', '.join([f'bx * {out.shape[0]} + {variables[0]}'] + list(variables[1:len(out.shape)]))}] = {text}")

    def elements(self):
        """Element by element, any way round, perhaps turned."""
        part = self.part(known=False, steps=(1, 1, 2, 3, -1))
        order = list(range(len(part.shape)))
        if self.chance(0.4):
            self.random.shuffle(order)
        out = self.new_output(part.tile.dtype, [part.shape[d] for d in order])
        self.put(out, part.element([LETTERS[order.index(d)] for d in range(len(order))]))
        self.leaves(out, lambda env: part.of(env).transpose(order))

    def stencil(self):
        a, b = self.pair(known=False, steps=(1, 1, 1, 2, -1))
        kind = self.pick(["max", "-", "+"])
        x, y = a.element(LETTERS), b.element(LETTERS)
        out = self.new_output(a.tile.dtype, a.shape)
        self.put(out, f"T.max({x}, {y})" if kind == "max" else f"{x} {kind} {y}")
        self.leaves(out, lambda env: combine(kind, a.of(env), b.of(env)))

    def gather(self):
        tile, index, extent = self.pick(self.tiles), self.fresh("x"), self.pick([3, 5, 12, 33, 70])
        factor, shift = self.random.randrange(1, 40), self.random.randrange(60)
        self.allocate(index, "int32", (extent,), self.pick(["register", "shared"]))
        self.over((extent,), f"{index}[i] = i * {factor} + {shift}")
        first = self.random.randrange(len(tile.shape))
        counts = [None if d == first or self.chance(0.3) else self.random.randrange(1, e + 1) for d, e in enumerate(tile.shape)]
        places = [self.place(e, c, False) for e, c in zip(tile.shape, counts)]
        names = iter("jk")
        texts = [f"{index}[i] % {e}" if d == first else p.element(next(names) if p.count else "")
                 for d, (p, e) in enumerate(zip(places, tile.shape))]
        out = self.new_output(tile.dtype, [extent] + [c for c in counts if c])
        self.put(out, f"{tile.name}[{', '.join(texts)}]")

        def value(env):
            import numpy
            rows = (numpy.arange(extent) * factor + shift) % tile.shape[first]
            found = env[tile.name].take(rows, first)
            picked = [slice(None) if d == first else p.of(env) for d, p in enumerate(places)]
            return numpy.moveaxis(found[tuple(picked)], sum(c is not None for c in counts[:first]), 0)
        self.leaves(out, value)

    def scatter(self):
        """Each place of the row or tile once, in another order."""
        tile = self.pick(self.tiles)
        extent = tile.shape[0]
        factor = self.pick([f for f in (1, 2, 3, 5, 7, 11) if math.gcd(f, extent) == 1])
        shift = self.random.randrange(extent)
        rest = list(LETTERS[1:len(tile.shape)])
        number = self.random.randrange(1, 7)
        self.over(tile.shape, f"{tile.name}[{', '.join([f'(i * {factor} + {shift}) % {extent}'] + rest)}] = (i * {number} + {' + '.join(rest or ['0'])}) % 50")

        def run(env):
            import numpy
            places = numpy.indices(tile.shape)
            value = (places[0] * number + sum(places[1:])) % 50
            env[tile.name][(numpy.arange(extent) * factor + shift) % extent] = fitted(value, tile.dtype)
        self.do(run)

    def reduce(self):
        part = self.part()
        if len(part.shape) < 2 or part.tile.kind == "shared":
            return self.read()
        dim, kind = self.random.randrange(len(part.shape)), self.pick(list(REDUCTIONS))
        left = tuple(e for d, e in enumerate(part.shape) if d != dim)
        held = Tile(self.fresh("x"), part.tile.dtype, left, "register")
        self.allocate(held.name, held.dtype, left, "register")
        self.line(f"T.reduce_{kind}({part.slices()}, {held.name}, dim={dim})")
        self.do(lambda env: env.__setitem__(held.name, getattr(part.of(env), kind)(dim)))
        self.send(Part(held, [Place("0", lambda env: 0, e) for e in left]))

    def lines(self):
        yield "import tilelang\nimport tilelang.language as T\nfrom tile.host import arange, save, zeros\n\n\n@tilelang.jit"
        tensors = [(name, tile) for name, (tile, _) in self.inputs.items()] + [(out.name, out) for out in self.outputs]
        shapes = [f"{name}: T.Tensor[{[self.blocks * t.shape[0]] + list(t.shape[1:])}, T.{t.dtype}]" for name, t in tensors]
        yield f"def parts{self.seed}({', '.join(shapes + [f'{n}: T.int32' for n in self.numbers])}):"
        yield f"    with T.Kernel({self.blocks}, threads={self.threads}) as bx:"
        yield from self.body
        yield ""
        yield ""
        yield from self.arrays("T.")
        yield f"parts{self.seed}({', '.join(self.arguments() + [str(v) for v in self.numbers.values()])})"


def combine(kind, a, b):
    import numpy
    return numpy.maximum(a, b) if kind == "max" else a - b if kind == "-" else a + b


class Tilus(Program):
    first_depth, block, index_of_run_time = 2, "self.blockIdx.x", True

    def kinds(self):
        return [self.read, self.stencil, self.stencil, self.turned, self.reduce, self.gather]

    def is_known(self, tile):
        return tile.kind == "register"

    def view(self, tile):
        self.head.append(f"g{tile.name} = self.global_view({tile.name}, dtype={tile.dtype}, shape={[self.blocks * tile.shape[0]] + list(tile.shape[1:])})")
        return f"g{tile.name}", f"[{', '.join([f'self.blockIdx.x * {tile.shape[0]}'] + ['0'] * (len(tile.shape) - 1))}]"

    def load(self, tile, source):
        view, offsets = self.view(source)
        text = f"self.load_global({view}, offsets={offsets}, shape={list(tile.shape)})"
        if tile.kind == "register":
            return self.line(f"{tile.name} = {text}")
        self.line(f"{tile.name} = self.shared_tensor(dtype={tile.dtype}, shape={list(tile.shape)})")
        self.line(f"self.store_shared({tile.name}, {text})")
        self.line("self.sync()")

    def loop_head(self, name, trips):
        return f"for {name} in range({self.pick([str(trips), f'{trips} + {next(iter(self.numbers))} * 0'])}):"

    def parts_by_offset(self, part):
        """The words of load_shared and store_shared: offsets, and of which dimensions."""
        dims = [d for d, p in enumerate(part.places) if p.count is not None]
        text = f"offsets=[{', '.join(p.text for p in part.places)}]"
        if len(dims) < len(part.places):
            text += f", dims={dims}"
        return text

    def value(self, part):
        """Text of a register tile."""
        if part.tile.kind == "register":
            return part.slices()
        if any(p.count is not None and not p.is_known() for p in part.places) or self.chance(0.5):
            return f"self.load_shared({part.tile.name}, {self.parts_by_offset(part)}, shape={list(part.shape)})"
        return f"self.load_shared({part.slices()})"

    def send_text(self, text, dtype, shape, value):
        out = self.new_output(dtype, shape)
        view, offsets = self.view(out)
        self.line(f"self.store_global({view}, {text}, offsets={offsets})")
        self.leaves(out, value)

    def send(self, part):
        self.send_text(self.value(part), part.tile.dtype, part.shape, part.of)

    def write(self, target, text):
        if target.tile.kind == "register":
            return self.line(self.pick([f"{target.slices()} = {text}", f"self.assign({target.slices()}, {text})"]))
        held = self.fresh("v")
        self.line(f"{held} = {text}")
        self.line("self.sync()")
        if any(p.count is not None and not p.is_known() for p in target.places) or self.chance(0.5):
            self.line(f"self.store_shared({target.tile.name}, {held}, {self.parts_by_offset(target)})")
        else:
            self.line(f"self.store_shared({target.slices()}, {held})")
        self.line("self.sync()")

    def assign(self, target, source):
        self.write(target, self.value(source))

    def fill(self, target, number):
        self.write(target, f"self.register_tensor(dtype={target.tile.dtype}, shape={list(target.shape)}, init={number})")

    def bump(self, target):
        if target.tile.kind == "register" and self.chance(0.5):
            self.line(f"{target.slices()} += 1")
        else:
            self.write(target, f"{self.value(target)} + 1")
        return True

    def stencil(self):
        a, b = self.pair()
        kind = self.pick(["max", "-", "+"])
        x, y = self.value(a), self.value(b)
        self.send_text(f"self.maximum({x}, {y})" if kind == "max" else f"{x} {kind} {y}", a.tile.dtype, a.shape,
                       lambda env: combine(kind, a.of(env), b.of(env)))

    def turned(self):
        part = self.part()
        self.send_text(f"self.transpose({self.value(part)})" if len(part.shape) > 1 else self.value(part), part.tile.dtype, part.shape[::-1],
                       lambda env: part.of(env).transpose())

    def reduce(self):
        part = self.part()
        if len(part.shape) < 2:
            return self.read()
        dim, kind = self.random.randrange(len(part.shape)), self.pick(list(REDUCTIONS))
        left = tuple(e for d, e in enumerate(part.shape) if d != dim)
        self.send_text(f"self.{kind}({self.value(part)}, dim={dim})", part.tile.dtype, left, lambda env: getattr(part.of(env), kind)(dim))

    def gather(self):
        """A tile whose every element says where it is read."""
        tile = self.pick(self.tiles)
        if tile.kind == "shared":
            return self.stencil()
        shape = [self.pick([1, 3, 5, 12, 33]) for _ in tile.shape]
        while count_of(shape) > MOST[len(shape)]:
            shape[self.random.randrange(len(shape))] = 1
        factors = [(self.random.randrange(1, 9), self.random.randrange(9)) for _ in shape]
        texts = [f"({v} * {f} + {s}) % {e}" for v, (f, s), e in zip(LETTERS, factors, tile.shape)]
        names = ", ".join(LETTERS[:len(shape)])

        def value(env):
            import numpy
            places = numpy.indices(shape)
            return env[tile.name][tuple((p * f + s) % e for p, (f, s), e in zip(places, factors, tile.shape))]
        self.send_text(f"self.register_tensor(dtype={tile.dtype}, shape={shape}, init=lambda {names}: {tile.name}[{', '.join(texts)}])",
                       tile.dtype, shape, value)

    def lines(self):
        yield ("import tilus\nfrom tilus import bfloat16, float16, float32, float64, int16, int32, int64, int8, uint16, uint8\n"
               "from tile.host import arange, save, zeros\n\n")
        yield f"class Parts{self.seed}(tilus.Script):"
        tensors = [(name, tile.dtype) for name, (tile, _) in self.inputs.items()] + [(out.name, out.dtype) for out in self.outputs]
        arguments = [f"{n}: int32" for n in self.numbers] + [f"{name}: ~{dtype}" for name, dtype in tensors]
        yield f"    def __call__(self, {', '.join(arguments)}):"
        yield f"        self.attrs.blocks = {self.blocks}\n        self.attrs.warps = {self.warps}"
        yield from ("        " + line for line in self.head)
        yield from self.body
        yield "\n"
        yield from self.arrays("")
        yield f"Parts{self.seed}()({', '.join([str(v) for v in self.numbers.values()] + self.arguments())})"


class Warp(Program):
    first_depth, block, index_of_run_time = 1, "b", True

    def kinds(self):
        return [self.read, self.elements, self.elements, self.stencil, self.turned, self.element_store]

    def is_known(self, tile):
        return True

    def load(self, tile, source):
        storage = ', storage="shared"' if tile.kind == "shared" else ""
        self.line(f"{tile.name} = wp.tile_load({source.name}, shape=({', '.join(map(str, tile.shape))},), "
                  f"offset=({', '.join([f'b * {tile.shape[0]}'] + ['0'] * (len(tile.shape) - 1))},){storage})")

    def loop_head(self, name, trips):
        return f"for {name} in range({trips}):"

    def value(self, part):
        if all(p.count is not None and p.step == 1 for p in part.places) and self.chance(0.4):
            return (f"wp.tile_view({part.tile.name}, offset=({', '.join(p.text for p in part.places)},), "
                    f"shape=({', '.join(str(e) for e in part.shape)},))")
        return part.slices()

    def send_text(self, text, dtype, shape, value):
        out = self.new_output(dtype, shape)
        self.line(f"wp.tile_store({out.name}, {text}, offset=({', '.join([f'b * {out.shape[0]}'] + ['0'] * (len(out.shape) - 1))},))")
        self.leaves(out, value)

    def send(self, part):
        self.send_text(self.value(part), part.tile.dtype, part.shape, part.of)

    def write(self, target, text):
        if all(p.count is not None for p in target.places) and self.chance(0.5):
            return self.line(f"wp.tile_assign({target.tile.name}, {text}, offset=({', '.join(p.text for p in target.places)},))")
        self.line(f"{target.slices()} = {text}")

    def assign(self, target, source):
        self.write(target, self.value(source))

    def fill(self, target, number):
        self.write(target, f"wp.tile_full(shape=({', '.join(map(str, target.shape))},), value={number}, dtype=wp.{target.tile.dtype})")

    def bump(self, target):
        return False

    def stencil(self):
        a, b = self.pair(steps=(1, 1, 2))
        kind = self.pick(["max", "-", "+"])
        x, y = self.value(a), self.value(b)
        self.send_text(f"wp.tile_map(wp.max, {x}, {y})" if kind == "max" else f"{x} {kind} {y}", a.tile.dtype, a.shape,
                       lambda env: combine(kind, a.of(env), b.of(env)))

    def turned(self):
        part = self.part()
        if len(part.shape) != 2:
            return self.read()
        self.send_text(f"wp.tile_transpose({self.value(part)})", part.tile.dtype, part.shape[::-1], lambda env: part.of(env).transpose())

    def elements(self):
        """Each thread reads elements of others."""
        part = self.part(known=False, steps=(1, 1, 2, -1))
        out = self.new_output(part.tile.dtype, (count_of(part.shape),))
        name, places = self.fresh("e"), []
        for d in range(len(part.shape)):
            below = count_of(part.shape[d + 1:])
            places.append(f"({name} // {below} % {part.shape[d]})")
        with self.within(f"for {name} in range(lane, {out.shape[0]}, {self.threads}):"):
            self.line(f"{out.name}[b * {out.shape[0]} + {name}] = {part.element(places)}")
        self.leaves(out, part.of)

    def element_store(self):
        tile, number = self.pick(self.tiles), self.random.randrange(100)
        target = self.part(tile, False, counts=[None] * len(tile.shape))
        self.line(f"{target.slices()} = wp.{tile.dtype}({number})")
        self.do(lambda env: target.put(env, number))

    def lines(self):
        yield "import warp as wp\nfrom tile.host import arange, save, zeros\n\n\n@wp.kernel"
        tensors = [(name, tile) for name, (tile, _) in self.inputs.items()] + [(out.name, out) for out in self.outputs]
        arguments = [f"{n}: int" for n in self.numbers] + [f"{name}: wp.array(dtype=wp.{t.dtype}, ndim={len(t.shape)})" for name, t in tensors]
        yield f"def parts{self.seed}({', '.join(arguments)}):"
        yield "    b, lane = wp.tid()"
        yield from self.body
        yield "\n"
        yield from self.arrays("wp.")
        given = ", ".join([str(v) for v in self.numbers.values()] + self.arguments())
        yield f"wp.launch_tiled(parts{self.seed}, dim=({self.blocks},), inputs=[{given}], block_dim={self.threads})"


def made(seed):
    return (TileLang, Tilus, Warp)[seed % 3](seed)


def program(seed):
    return made(seed).text()


def expected(seed):
    """By the name of each array that the program leaves: its type and what numpy says it holds."""
    return made(seed).expected()
