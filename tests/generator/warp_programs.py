"""Programs of the Warp dialect, tile code and thread code mixed.

No program has undefined behaviour: arrays that are read are not written by the same launch; what is
written has one writer, a block's region by one tile store or a thread's element, or is written by
atomics of one kind whose sums are exact; threads part only where nothing is done together; floats
that are summed are small integers."""
import random

from choices import Choices

HEAD = """import warp as wp
from tile.host import arange, zeros

"""
BLOCK_DIMS = [32, 32, 64, 64, 96, 128, 128, 256]
INTS = ["int32", "int32", "int32", "int64", "uint32", "int8", "uint8", "int16", "uint64"]
FLOATS = ["float32", "float32", "float32", "float16", "float64", "bfloat16"]
INDEX = "int32"
SCAN_TYPES = ["float32", "int32", "uint32"]
EXACT = {"float32": 2 ** 24, "float64": 2 ** 53, "float16": 2 ** 11, "bfloat16": 2 ** 8}


def is_float(dtype):
    return dtype in EXACT


def count_of(shape):
    total = 1
    for extent in shape:
        total *= extent
    return total


class Scalar:
    def __init__(self, text, dtype, uniform, name=None):
        self.text, self.dtype, self.uniform, self.name = text, dtype, uniform, name


class Tile:
    """`bound`: elements are whole numbers of at most that size; None: anything."""

    def __init__(self, text, dtype, shape, bound=None):
        self.text, self.dtype, self.shape, self.bound = text, dtype, tuple(shape), bound


class Array:
    def __init__(self, name, dtype, shape, small):
        self.name, self.dtype, self.shape, self.small = name, dtype, shape, small


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.arrays, self.functions, self.counter = [], [], [], 0
        self.launches = []
        for _ in range(self.pick([1, 1, 1, 2])):
            kind = self.pick(["tiled"] * 4 + ["threads", "partial"])
            self.launches.append(Kernel(self, kind))

    def pick(self, items):
        return self.random.choice(items)

    def fresh(self, letter):
        self.counter += 1
        return letter + str(self.counter)

    def array(self, dtype, shape, small):
        array = Array(self.fresh("a"), dtype, tuple(shape), small)
        self.arrays.append(array)
        return array

    def values(self, array):
        count = count_of(array.shape)
        unsigned = array.dtype.startswith("u")
        modulus, shift = (7, 0 if unsigned else 3) if array.small else (self.pick([13, 61, 127]), 0 if unsigned else self.pick([0, 6, 40]))
        text = f"(arange({count}, wp.int32) * {self.random.randrange(1, 90)} + {self.random.randrange(50)}) % {modulus} - {shift}"
        if is_float(array.dtype) and not array.small:
            text = f"({text}) / {self.pick([1, 2, 8])}.0"
        return f"({text}).reshape({', '.join(map(str, array.shape))})" if len(array.shape) > 1 else text

    def text(self):
        yield HEAD
        for kernel in self.launches:
            yield from kernel.text()
        for array in self.arrays:
            if array.name in [a.name for kernel in self.launches for a in kernel.parameters]:
                yield f"{array.name} = zeros(({', '.join(map(str, array.shape))},), wp.{array.dtype})\n"
                if array.small is not None:
                    yield f"{array.name}[:] = {self.values(array)}\n"
        for kernel in self.launches:
            yield kernel.call()


class Kernel(Choices):
    def __init__(self, program, kind):
        self.program, self.random, self.kind = program, program.random, kind
        self.name = program.fresh("kernel")
        self.block_dim = self.pick(BLOCK_DIMS)
        self.parameters, self.numbers, self.body, self.depth = [], [], [], 1
        self.helpers = []
        self.scopes = [{"scalars": [], "tiles": []}]
        self.divergent = 0  # branches that threads took apart
        self.loops = 0
        self.jumps = False
        self.budget = 0
        if kind == "tiled":
            self.grid = self.pick([(1,), (2,), (3,), (2, 2), (1, 3)])
            self.indices = ["i", "j"][:len(self.grid)]
            self.line(f"{', '.join(self.indices + ['lane'])} = wp.tid()")
            self.blocks = "i" if len(self.grid) == 1 else f"(i * {self.grid[1]} + j)"
            self.block_count = count_of(self.grid)
            self.lanes = self.block_dim
            for name in self.indices:
                self.declare(Scalar(name, "int32", True))
            self.declare(Scalar("lane", "int32", False))
        elif kind == "partial":
            self.begin_partial()
        else:
            self.grid = self.pick([(70,), (33,), (128,), (9, 11), (4, 40)])
            self.indices = ["i", "j"][:len(self.grid)]
            self.line(f"{', '.join(self.indices)} = wp.tid()")
            for name in self.indices:
                self.declare(Scalar(name, "int32", False))
        for _ in range(self.pick([1, 2])):
            name = program.fresh("n")
            self.numbers.append((name, self.random.randrange(-1, 7)))
            self.declare(Scalar(name, "int32", True))
        shapes = [(5,), (16,), (32,), (33,), (64,), (100,), (self.block_dim,), (4, 8), (3, 5), (8, 16), (16, 16), (7, 33), (32, 8), (1, 17),
                  (2, 3, 4), (4, 4, 8)]
        self.shapes = [self.pick(shapes) for _ in range(2)]
        for _ in range(self.pick([3, 4, 5, 7, 9])):
            self.statement()
        for _ in range(2):
            self.output()

    def begin_partial(self):
        """A thread for each element, and tiles: the last block has threads that are not in the launch."""
        self.grid = self.pick([(70,), (33,), (130,), (100,), (9, 11), (4, 40), (257,), (1,)])
        self.block_dim = self.pick(BLOCK_DIMS + [40, 7])
        self.indices = ["i", "j"][:len(self.grid)]
        self.line(f"{', '.join(self.indices)} = wp.tid()")
        self.line(f"place = {'i' if len(self.grid) == 1 else f'i * {self.grid[1]} + j'}")
        self.line("first = wp.tile_min(wp.tile(place))[0]")
        self.line(f"block = first / {self.block_dim}")
        self.line("lane = place - first")
        self.blocks = "block"
        self.block_count = -(-count_of(self.grid) // self.block_dim)
        self.lanes = self.block_dim
        for name in self.indices + ["place", "lane"]:
            self.declare(Scalar(name, "int32", False))
        for name in ["first", "block"]:
            self.declare(Scalar(name, "int32", True))

    # ---- small things ----

    def declare(self, thing):
        self.scopes[-1]["tiles" if isinstance(thing, Tile) else "scalars"].append(thing)
        return thing

    def scalars(self, dtype=None, uniform=False):
        return [s for scope in self.scopes for s in scope["scalars"] if (dtype is None or s.dtype == dtype) and (s.uniform or not uniform)]

    def tiles(self, **wanted):
        return [t for scope in self.scopes for t in scope["tiles"] if all(getattr(t, k) == v for k, v in wanted.items())]

    def parameter(self, array):
        if array not in self.parameters:
            self.parameters.append(array)
        return array

    def input(self, dtype, rank, small=False):
        """An array that this launch only reads: perhaps what an earlier one wrote."""
        old = [a for a in self.program.arrays if a.dtype == dtype and len(a.shape) == rank and (a.small if small else True)
               and not (a.small is None and a in self.parameters)]
        if old and self.chance(0.6):
            array = self.pick(old)
            if array.small is not None or array not in self.outputs():
                return self.parameter(array)
        extents = {1: [(40,), (128,), (300,), (77,)], 2: [(9, 40), (33, 17), (20, 64), (16, 128)], 3: [(3, 7, 20), (5, 4, 16)]}[rank]
        return self.parameter(self.program.array(dtype, self.pick(extents), small or self.chance(0.3)))

    def outputs(self):
        return [a for a in self.parameters if a.small is None]

    def fresh_output(self, dtype, shape):
        return self.parameter(self.program.array(dtype, shape, None))

    # ---- scalars ----

    def literal(self, dtype):
        if is_float(dtype):
            text = self.pick(["0.5", "-1.25", "3.0", "2.0", "1.0", "-7.0"])
        else:
            text = str(self.pick([0, 1, 2, 3, 5, 13, 100] + ([] if dtype.startswith("u") else [-1, -7])))
        return text if dtype in ("float32", "int32") else f"wp.{dtype}({text})"

    def atom(self, dtype, uniform):
        known = self.scalars(dtype, uniform)
        if known and self.chance(0.75):
            return self.pick(known).text
        if dtype != "int32" and self.chance(0.6):
            return self.converted(dtype, self.scalar("int32", uniform, 0))
        return self.literal(dtype)

    def converted(self, dtype, text):
        return f"{'float' if dtype == 'float32' else 'int' if dtype == 'int32' else 'wp.' + dtype}({text})"

    def scalar(self, dtype, uniform, depth=2):
        """Text of an expression."""
        if depth <= 0:
            return self.atom(dtype, uniform)
        kind = self.random.randrange(12)
        if kind == 0:
            return self.element(dtype, uniform, depth)
        if kind == 1:
            other = self.pick(INTS if is_float(dtype) else INTS + ["float32"])
            if is_float(other):
                return self.converted(dtype, f"wp.clamp({self.scalar(other, uniform, depth - 1)}, {'0.0' if dtype[0] == 'u' else '-100.0'}, 100.0)")
            return self.converted(dtype, self.scalar(other, uniform, depth - 1))
        if kind == 2:
            return f"wp.where({self.condition(uniform, depth - 1)}, {self.scalar(dtype, uniform, depth - 1)}, {self.scalar(dtype, uniform, depth - 1)})"
        if kind == 3 and dtype in ("float32", "int32"):
            return f"{self.helper(dtype)}({self.scalar(dtype, uniform, depth - 1)}, {self.scalar(dtype, uniform, depth - 1)})"
        if kind == 5 and dtype == "float32" and self.vectors() and not uniform:
            vector = self.pick(self.vectors())
            return self.pick([f"{vector}[wp.abs({self.scalar('int32', False, 0)}) % 3]", f"{vector}[{self.pick([0, 1, 2])}]", f"wp.dot({vector}, {vector})"])
        if kind == 4 and not uniform:
            tile = self.readable(dtype)
            if tile:
                return tile
        a, b = self.scalar(dtype, uniform, depth - 1), self.scalar(dtype, uniform, depth - 1)
        if is_float(dtype):
            form = self.pick(["({} + {})", "({} - {})", "({} * {})", "wp.max({}, {})", "wp.min({}, {})", "({} / (wp.abs({}) + {one}))",
                              "wp.sqrt(wp.abs({}))", "wp.floor({})", "wp.abs({})", "(-{})"])
            return form.format(a, b, one=self.literal_one(dtype))
        form = self.pick(["({} + {})", "({} - {})", "({} * {})", "wp.max({}, {})", "wp.min({}, {})", "({} & {})", "({} | {})", "({} ^ {})",
                          "({} / {c})", "({} % {c})", "({} // {c})", "({} >> {s})", "({} << {s})", "({} / ({} | {one}))", "({} % ({} | {one}))"])
        return form.format(a, b, one=self.literal_one(dtype), c=self.typed(dtype, self.pick([1, 2, 3, 7, 16, 64])),
                           s=self.typed(dtype, self.pick([1, 2, 3, 5])))

    def vectors(self):
        return [v for scope in self.scopes for v in scope.get("vectors", [])]

    def new_vector(self):
        """Numbers of each thread's own."""
        known = self.vectors()
        if known and self.chance(0.5):
            vector = self.pick(known)
            if self.chance(0.5):
                return self.line(f"{vector}[wp.abs({self.scalar('int32', False, 1)}) % 3] = {self.scalar('float32', False)}")
            scaled = f"{vector} * {self.converted('float32', self.scalar('float32', False, 1))}"
            return self.line(f"{vector} = {self.pick([f'{vector} + {self.pick(known)}', scaled])}")
        name = self.program.fresh("v")
        self.line(f"{name} = wp.vec3({', '.join(self.converted('float32', self.scalar('float32', False, 1)) for _ in range(3))})")
        self.scopes[-1].setdefault("vectors", []).append(name)

    def draw(self):
        state, name = self.program.fresh("s"), self.program.fresh("x")
        self.line(f"{state} = wp.rand_init({self.random.randrange(100)}, {self.scalar('int32', False, 0)})")
        kind = self.pick([("int32", "wp.randi({})"), ("int32", "wp.randi({}, -10, 20)"), ("float32", "wp.randf({})")])
        self.line(f"{name} = {kind[1].format(state)}")
        self.declare(Scalar(name, kind[0], False, name))

    def typed(self, dtype, number):
        return str(number) if dtype == "int32" else f"wp.{dtype}({number})"

    def literal_one(self, dtype):
        return "1.0" if dtype == "float32" else "1" if dtype == "int32" else f"wp.{dtype}({'1.0' if is_float(dtype) else '1'})"

    def index(self, extent, uniform):
        """A place in a dimension: inside mostly; what is outside reads zero."""
        text = self.scalar("int32", uniform, 1)
        number = self.numbers[0][0]  # known at run time only: what is known to be outside is refused
        return f"wp.abs({text}) % {extent}" if self.chance(0.8) else f"{text} + {number}"

    def element(self, dtype, uniform, depth):
        array = self.input(dtype, self.pick([1, 2]))
        return f"{array.name}[{', '.join(self.index(e, uniform) for e in array.shape)}]"

    def condition(self, uniform, depth=1):
        dtype = self.pick(["int32", "int32", "int32", "float32"])
        text = f"{self.scalar(dtype, uniform, depth)} {self.pick(['<', '<=', '>', '>=', '==', '!='])} {self.scalar(dtype, uniform, max(0, depth - 1))}"
        if depth > 0 and self.chance(0.2):
            return f"({text}) {self.pick(['and', 'or'])} ({self.condition(uniform, 0)})"
        return f"({text})"

    def helper(self, dtype, of_tiles=False):
        kind = "float" if dtype == "float32" else "int"
        name = self.program.fresh("f")
        forms = [["    return x * 2 + y" if kind == "int" else "    return x * 2.0 + y"],
                 ["    if x < y:", "        return y - x", "    return x - y"],
                 ["    total = x", "    for k in range(3):", "        if total > y:", "            break", "        total = total + x", "    return total"],
                 ["    a, b = y, x", "    return a - b * a"]]
        if of_tiles:  # whose elements leave loops one by one
            one, step = ("1", "x & 7") if kind == "int" else ("1.0", "int(wp.clamp(y, -4.0, 4.0))")
            forms += [[f"    for k in range({self.pick([3, 9, 40])}):", "        if x > y:", "            return x - y",
                       f"        x = x + {one}", "    return y"],
                      ["    total = y", f"    for k in range({step}):", f"        if total == {one}:", "            continue",
                       f"        total = total - {one}", "        if total < x:", "            break", "    return total + x"],
                      ["    n = int(0)", "    while n < 6:", "        n += 1", "        for j in range(n):", "            if x < y:",
                       f"                x = x + {one} + {one}", "                break", "            if x == y:", "                return y",
                       "        if n == 4 and x > y:", "            break", f"    return x + {self.converted(dtype, 'n')}"],
                      ["    n = int(0)", "    while True:", "        n += 1", "        if x >= y or n > 20:", "            return x",
                       f"        x = x + {one}", "        if x == y:", "            break", f"        y = y - {one}", f"    return x * ({one} + {one})"],
                      ["    if x > y:", "        return x", f"    for k in range({self.pick([2, 5, 20])}):", f"        x = x + {one}",
                       "        if x > y:", "            if k > 2:", "                break", "            return y", "    return -x"]]
        self.helpers += ["@wp.func", f"def {name}(x: {kind}, y: {kind}):"] + self.pick(forms) + [""]
        return name

    # ---- tiles ----

    def readable(self, dtype):
        """An element of a tile, at each thread's own place."""
        known = self.tiles(dtype=dtype)
        if not known:
            return None
        tile = self.pick(known)
        return f"{tile.text}[{', '.join(f'wp.abs({self.atom(INDEX, False)}) % {e}' for e in tile.shape)}]"

    def load(self, dtype, shape, small=False):
        rank = max(len(shape), self.pick([1, 2])) if len(shape) < 3 else 3
        array = self.input(dtype, rank, small)
        offsets = [f"{self.pick(self.scalars('int32', True)).text} * {e} + {self.pick([0, 0, 0, 1, -1, 4])}" if self.chance(0.7) else
                   str(self.pick([0, 0, 1, e])) for e in shape]
        source = array.name
        if rank > len(shape):
            source = f"{array.name}[{self.pick(range(array.shape[0]))}]"
        given = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        places = ", ".join(offsets) + ("," if len(shape) == 1 else "")
        storage = self.pick(["", "", ', storage="shared"'])
        return Tile(f"wp.tile_load({source}, shape=({given}), offset=({places}){storage})", dtype, shape, 3 if array.small else None)

    def leaf(self, dtype, shape, small=False):
        known = [t for t in self.tiles(dtype=dtype, shape=tuple(shape)) if t.bound is not None or not small]
        if known and self.chance(0.6):
            return self.pick(known)
        kind = self.random.randrange(8)
        given = f"shape=({', '.join(map(str, shape))},)"
        if kind == 0:
            number = self.random.randrange(0, 4)
            return Tile(f"wp.tile_full({given}, value={self.typed_number(dtype, number)}, dtype=wp.{dtype})", dtype, shape, 3)
        if kind == 1:
            return Tile(f"wp.{self.pick(['tile_zeros', 'tile_ones'])}({given}, dtype=wp.{dtype})", dtype, shape, 1)
        if kind == 2 and len(shape) == 1 and not small and dtype in ("int32", "float32", "int64", "float64"):
            return Tile(f"wp.tile_arange({shape[0]}, dtype=wp.{dtype})", dtype, shape, shape[0])
        if kind == 3 and tuple(shape) == (self.block_dim,) and not small:
            return Tile(f"wp.tile({self.scalar(dtype, False, 1)})", dtype, shape)
        return self.load(dtype, shape, small)

    def typed_number(self, dtype, number):
        return self.converted(dtype, f"{number}.0" if is_float(dtype) else str(number))

    def tile(self, dtype, shape, depth, small=False):
        self.budget -= 1
        if depth <= 0 or self.budget < 0:
            return self.leaf(dtype, shape, small)
        makers = [self.binary] * 4 + [self.mapped] * 2 + [self.cast] + [self.turned] + [self.reshaped] + [self.stretched] + [self.scan]
        if dtype in ("float32", "float64", "float16"):
            makers.append(self.product)
        return self.pick(makers)(dtype, shape, depth - 1, small)

    def exact(self, dtype, bound):
        if bound is None or (is_float(dtype) and bound >= EXACT[dtype]):
            return None
        return bound

    def binary(self, dtype, shape, depth, small):
        a, b = self.tile(dtype, shape, depth, small), self.tile(dtype, shape, depth - 1, small)
        ops = ["+", "-"] + ([] if small else ["*", "*"]) + ([] if is_float(dtype) or small else ["&", "|", "^"])
        op = self.pick(ops)
        bound = None if a.bound is None or b.bound is None else a.bound + b.bound
        if op == "*" or dtype.startswith("u"):
            bound = None
        if small and self.exact(dtype, bound) is None:
            return a
        if not small and self.chance(0.3):
            return Tile(f"({a.text} {op} {self.uniform_number(dtype)})" if op in "+-*" else f"({a.text} {op} {b.text})", dtype, shape)
        return Tile(f"({a.text} {op} {b.text})", dtype, shape, self.exact(dtype, bound))

    def uniform_number(self, dtype):
        return self.pick([self.literal(dtype), self.atom(dtype, True)])

    def mapped(self, dtype, shape, depth, small):
        a = self.tile(dtype, shape, depth, small)
        if self.chance(0.5):
            b = self.tile(dtype, shape, depth - 1, small)
            bound = None if a.bound is None or b.bound is None else max(a.bound, b.bound)
            return Tile(f"wp.tile_map({self.pick(['wp.max', 'wp.min'])}, {a.text}, {b.text})", dtype, shape, bound)
        if dtype in ("float32", "int32") and not small and self.chance(0.5):
            return Tile(f"wp.tile_map({self.helper(dtype, True)}, {a.text}, {self.tile(dtype, shape, 0).text})", dtype, shape)
        if dtype.startswith("u"):
            return a
        return Tile(f"wp.tile_map(wp.abs, {a.text})", dtype, shape, a.bound)

    def cast(self, dtype, shape, depth, small):
        source = self.pick(["int32", "int16", "uint8"] if not small else ["int32", "float32", "int8"])
        a = self.tile(source, shape, depth, small)
        if small and (a.bound is None or a.bound > 100 or dtype.startswith("u")):
            return self.leaf(dtype, shape, True)
        return Tile(f"wp.tile_astype({a.text}, wp.{dtype})", dtype, shape, a.bound if a.bound is not None and a.bound < 100 else None)

    def turned(self, dtype, shape, depth, small):
        if len(shape) != 2:
            return self.tile(dtype, shape, depth, small)
        a = self.tile(dtype, shape[::-1], depth, small)
        return Tile(f"wp.tile_transpose({a.text})", dtype, shape, a.bound)

    def reshaped(self, dtype, shape, depth, small):
        total = count_of(shape)
        splits = [(total,)] + [(d, total // d) for d in (2, 4, 8, 3, 5) if total % d == 0 and total > d]
        other = self.pick(splits)
        if tuple(other) == tuple(shape):
            return self.tile(dtype, shape, depth, small)
        a = self.tile(dtype, other, depth, small)
        return Tile(f"wp.tile_reshape({a.text}, ({', '.join(map(str, shape))},))", dtype, shape, a.bound)

    def stretched(self, dtype, shape, depth, small):
        if len(shape) == 1:
            return self.tile(dtype, shape, depth, small)
        narrow = (1,) + tuple(shape[1:]) if self.chance(0.5) else tuple(shape[:-1]) + (1,)
        a = self.tile(dtype, narrow, depth, small)
        return Tile(f"(wp.tile_broadcast({a.text}, shape=({', '.join(map(str, shape))},)) + {self.literal_zero(dtype)})", dtype, shape, a.bound)

    def literal_zero(self, dtype):
        return self.typed(dtype, "0.0" if is_float(dtype) else "0") if dtype != "float32" else "0.0"

    def scan(self, dtype, shape, depth, small):
        if dtype not in SCAN_TYPES or small:
            return self.tile(dtype, shape, depth, small)
        a = self.tile(dtype, shape, depth, is_float(dtype))
        name = self.pick(["tile_scan_inclusive", "tile_scan_exclusive", "tile_scan_max_inclusive", "tile_scan_min_inclusive"])
        return Tile(f"wp.{name}({a.text})", dtype, shape)

    def product(self, dtype, shape, depth, small):
        if len(shape) != 2 or small:
            return self.tile(dtype, shape, depth, small)
        k = self.pick([1, 4, 8, 16, 16, 32, 33])
        source = {"float32": self.pick(["float16", "bfloat16", "float32"]), "float64": "float64", "float16": "float16"}[dtype]
        a, b = self.tile(source, (shape[0], k), min(depth, 1), True), self.tile(source, (k, shape[1]), min(depth, 1), True)
        if source == dtype or dtype != "float32":
            return Tile(f"wp.tile_matmul({a.text}, {b.text})", dtype, shape)
        name = self.program.fresh("c")
        self.line(f"{name} = wp.tile_zeros(shape=({shape[0]}, {shape[1]}), dtype=wp.{dtype})")
        self.line(f"wp.tile_matmul({a.text}, {b.text}, {name})")
        return Tile(name, dtype, shape)

    def root(self, dtype, shape, small=False):
        self.budget = 7
        return self.tile(dtype, shape, self.pick([1, 2, 2, 3]), small)

    # ---- statements ----

    def dtype(self):
        return self.pick(["float32", "int32", "float32", "int32"] + INTS + FLOATS)

    def statement(self):
        together = self.kind != "threads" and not self.divergent
        kinds = [self.new_scalar] * 2 + [self.change_scalar] * 3 + [self.own_output] * 2 + [self.add_atomic, self.new_vector, self.new_vector, self.draw]
        if together:
            kinds += [self.new_tile] * 5 + [self.change_tile] * 3 + [self.output] * 2 + [self.add_tile, self.reduce_tile, self.reduce_tile, self.unpack,
                                                                                         self.assign_part, self.set_element, self.accumulate, self.accumulate, self.add_tile, self.assign_part, self.pick_rows, self.sort]
        if self.depth < 4:
            kinds += [self.branch] * 2 + [self.loop] * 2 + [self.while_loop]
        if self.loops and self.jumps:
            kinds += [self.jump]
        self.pick(kinds)()

    def new_scalar(self):
        dtype = self.pick(["int32", "int32", "float32", "float32"] + INTS + FLOATS)
        uniform = not self.divergent and self.chance(0.3)
        value = self.scalar(dtype, uniform)
        name = self.program.fresh("x")
        self.line(f"{name} = {self.converted(dtype, value)}")
        self.declare(Scalar(name, dtype, uniform, name))

    def change_scalar(self):
        known = [s for s in self.scalars() if s.name and (not s.uniform or not self.divergent)]
        if not known:
            return self.new_scalar()
        scalar = self.pick(known)
        value = self.scalar(scalar.dtype, scalar.uniform)
        if self.chance(0.5):
            self.line(f"{scalar.name} {self.pick(['+=', '-='])} {value}")
        else:
            self.line(f"{scalar.name} = {self.converted(scalar.dtype, value)}")

    def own_place(self):
        if self.kind != "threads":
            return (self.block_count, self.lanes), f"{self.blocks}, lane"
        return self.grid, ", ".join(self.indices)

    def own_output(self):
        """Each thread has an element of its own, which it may read, too."""
        dtype = self.pick(["int32", "float32", self.dtype()])
        shape, place = self.own_place()
        array = self.fresh_output(dtype, shape)
        value = self.scalar(dtype, False)
        self.line(f"{array.name}[{place}] = {value}")
        if self.chance(0.3):
            self.line(f"{array.name}[{place}] = {array.name}[{place}] + {self.scalar(dtype, False, 1)}")

    def add_atomic(self):
        dtype = self.pick(["int32", "int32", "float32", "int64", "uint32", "float64"])
        array = self.fresh_output(dtype, (self.pick([3, 16, 40]),))
        place = f"wp.abs({self.scalar('int32', False, 1)}) % {array.shape[0]}"
        if is_float(dtype):
            value = self.converted(dtype, f"{self.scalar('int32', False, 1)} & 7")
            return self.line(f"wp.atomic_add({array.name}, {place}, {value})")
        modes = ["add", "min", "max", "or", "and", "xor"] if dtype != "int64" else ["add", "min", "max"]
        mode = self.pick(modes)
        if mode == "add" and self.chance(0.3):
            return self.line(f"{array.name}[{place}] += {self.scalar(dtype, False, 1)}")
        self.line(f"wp.atomic_{mode}({array.name}, {place}, {self.scalar(dtype, False, 1)})")

    def bind(self, tile, letter="t"):
        name = self.program.fresh(letter)
        if tile.text.startswith(("wp.tile_reshape", "wp.tile_transpose")):  # a view, whose name a loop cannot give to another tile
            tile = Tile(f"{tile.text} + {self.literal_zero(tile.dtype)}", tile.dtype, tile.shape, tile.bound)
        self.line(f"{name} = {tile.text}")
        return self.declare(Tile(name, tile.dtype, tile.shape, tile.bound))

    def new_tile(self):
        small = self.chance(0.3)
        self.bind(self.root(self.dtype(), self.pick(self.shapes), small))

    def change_tile(self):
        known = [t for t in self.tiles() if t.bound is None]
        if not known:
            return self.new_tile()
        tile = self.pick(known)
        value = self.root(tile.dtype, tile.shape)
        if self.chance(0.4):
            self.line(f"{tile.text} {self.pick(['+=', '-='])} {value.text}")
        elif self.chance(0.3):
            self.line(f"wp.tile_assign({tile.text}, {value.text}, offset=({', '.join('0' for _ in tile.shape)},))")
        else:
            self.line(f"{tile.text} = {tile.text} + {value.text}")

    def accumulate(self):
        """The loop of a product, perhaps by two buffers."""
        m, n, k = self.pick([8, 16, 16, 32, 5]), self.pick([8, 8, 16, 24]), self.pick([8, 16, 32])
        source, sum_type = self.pick([("float16", "float32"), ("bfloat16", "float32"), ("float32", "float32"), ("float64", "float64"), ("float16", "float16")])
        trips = self.pick([1, 2, 3]) if sum_type == "float16" else self.pick([0, 1, 3, 5])
        rows, columns = self.input(source, 2, True), self.input(source, 2, True)
        total, step = self.program.fresh("c"), self.program.fresh("k")
        limit = self.pick([str(trips), self.uniform_trips()])
        self.line(f"{total} = wp.tile_zeros(shape=({m}, {n}), dtype=wp.{sum_type})")
        self.line(f"for {step} in range({limit}):")
        self.line(f"    wp.tile_matmul(wp.tile_load({rows.name}, shape=({m}, {k}), offset=({self.blocks} * {m}, {step} * {k})), "
                  f"wp.tile_load({columns.name}, shape=({k}, {n}), offset=({step} * {k}, 0)), {total})")
        self.declare(Tile(total, sum_type, (m, n)))

    def pick_rows(self):
        dtype = self.pick(["float32", "int32", "float16"])
        rows, width = self.pick([3, 5, 8]), self.pick([4, 16, 33])
        source, index = self.input(dtype, 2), self.input("int32", 1)
        name = self.program.fresh("q")
        self.line(f"{name} = wp.tile_load({index.name}, shape={rows}, offset={self.pick([0, 1, 7])})")
        self.bind(Tile(f"wp.tile_load_indexed({source.name}, {name}, shape=({rows}, {width}), offset=(0, {self.pick([0, 1])}))", dtype, (rows, width)))

    def sort(self):
        dtype, count = self.pick(["int32", "float32"]), self.pick([5, 16, 32, 40])
        keys, values = self.bind(self.load(dtype, (count,))), self.bind(self.load("int32", (count,)))
        self.line(f"wp.tile_sort({keys.text}, {values.text})")

    def uniform_trips(self):
        return self.pick([name for name, _ in self.numbers])

    def reduce_tile(self):
        dtype = self.pick(["int32", "float32", "int64", "float64", "uint32", "float16"])
        shape = self.pick(self.shapes)
        tile = self.root(dtype, shape, True)
        if tile.bound is not None and is_float(dtype) and tile.bound * count_of(shape) >= EXACT[dtype]:
            return self.new_tile()
        if len(shape) > 1 and self.chance(0.4):
            axis = self.random.randrange(len(shape))
            rest = tuple(e for d, e in enumerate(shape) if d != axis)
            value = Tile(f"wp.tile_sum({tile.text}, axis={axis})", dtype, rest)
        else:
            form = self.pick(["wp.tile_sum({})", "wp.tile_min({})", "wp.tile_max({})", "wp.tile_reduce(wp.add, {})", "wp.tile_reduce(wp.max, {})"])
            value = Tile(form.format(tile.text), dtype, (1,))
        made = self.bind(value, "r")
        if made.shape == (1,) and dtype in ("int32", "float32") and self.chance(0.7):
            name = self.program.fresh("x")
            self.line(f"{name} = {made.text}[0]")
            self.declare(Scalar(name, dtype, True))

    def unpack(self):
        """Each thread's value to a tile, something done with all of them, and back."""
        dtype = self.pick(["int32", "float32", "int32", "float64"])
        name, value = self.program.fresh("t"), self.scalar(dtype, False)
        if is_float(dtype):
            value = self.converted(dtype, f"{self.scalar('int32', False)} & 15")
        self.line(f"{name} = wp.tile({value})")
        tile = self.declare(Tile(name, dtype, (self.block_dim,), 15 if is_float(dtype) else None))
        back = self.program.fresh("x")
        form = self.pick(["wp.untile({})", "wp.untile({} + {})", "wp.tile_sum({})[0]", "{}[(lane * 7 + 3) % {size}]", "wp.tile_max({})[0]"])
        self.line(f"{back} = {form.format(tile.text, tile.text, size=self.block_dim)}")
        self.declare(Scalar(back, dtype, False))

    def assign_part(self):
        known = [t for t in self.tiles() if len(t.shape) in (1, 2) and t.bound is None and count_of(t.shape) > 8]
        if not known:
            return self.new_tile()
        tile = self.pick(known)
        part = tuple(max(1, e // self.pick([1, 2, 3])) for e in tile.shape)
        offset = [self.random.randrange(e - p + 1) for e, p in zip(tile.shape, part)]
        places = ", ".join(map(str, offset)) + ","
        if self.chance(0.5):
            value = self.tile(tile.dtype, part, 1)
            self.line(f"wp.tile_assign({tile.text}, {value.text}, offset=({places}))")
        else:
            self.bind(Tile(f"wp.tile_view({tile.text}, offset=({places}), shape=({', '.join(map(str, part))},)) + "
                           f"{self.tile(tile.dtype, part, 0).text}", tile.dtype, part))

    def set_element(self):
        known = [t for t in self.tiles() if t.bound is None and t.dtype in ("int32", "float32", "int64", "float64", "float16")]
        if not known:
            return self.new_tile()
        tile = self.pick(known)
        if tile.shape == (self.block_dim,) and self.chance(0.6):
            return self.line(f"{tile.text}[lane] = {self.scalar(tile.dtype, False)}")
        if tile.dtype == "int32" and self.chance(0.5):
            place = ", ".join(f"wp.abs({self.atom('int32', False)}) % {e}" for e in tile.shape)
            return self.line(f"{tile.text}[{place}] += {self.scalar('int32', False, 1)}")
        place = ", ".join(str(self.random.randrange(e)) for e in tile.shape)
        self.line(f"{tile.text}[{place}] = {self.scalar(tile.dtype, True)}")

    def output(self):
        if self.kind == "threads" or self.divergent:
            return self.own_output()
        known = self.tiles()
        tile = self.pick(known) if known and self.chance(0.7) else self.root(self.dtype(), self.pick(self.shapes))
        if len(tile.shape) > 3:
            return None
        # a block's own rows; in a loop later rounds write the same place again: a round has its own
        rounds = self.loop_scale()
        shape = (tile.shape[0] * self.block_count * rounds[1],) + tile.shape[1:]
        cut = self.pick([0, 0, 1]) if shape[0] > 1 else 0
        array = self.fresh_output(tile.dtype, (shape[0] - cut,) + tuple(max(1, e - self.pick([0, 0, 0, 1])) for e in shape[1:]))
        place = f"({self.blocks} * {rounds[1]} + {rounds[0]}) * {tile.shape[0]}" + "".join(", 0" for _ in tile.shape[1:])
        self.line(f"wp.tile_store({array.name}, {tile.text}, offset=({place},))")

    def loop_scale(self):
        return (self.round_text, self.round_count) if self.loops else ("0", 1)

    def add_tile(self):
        dtype = self.pick(["int32", "float32", "float64"])
        shape = self.pick([s for s in self.shapes if len(s) < 3] or [(16,)])
        tile = self.root(dtype, shape, is_float(dtype))
        if is_float(dtype) and (tile.bound is None or tile.bound > 1000):
            return self.new_tile()
        array = self.fresh_output(dtype, tuple(e + 2 for e in shape))
        places = ", ".join(self.pick(["0", "1", self.blocks]) for _ in shape)
        self.line(f"wp.tile_atomic_add({array.name}, {tile.text}, offset=({places},))")

    # ---- control ----

    def block(self, count):
        self.scopes.append({"scalars": [], "tiles": []})
        self.depth += 1
        before = len(self.body)
        for _ in range(count):
            self.statement()
        if len(self.body) == before:
            self.line("pass")
        self.depth -= 1
        self.scopes.pop()

    def branch(self):
        uniform = not self.divergent and self.chance(0.4)
        self.line(f"if {self.condition(uniform)}:")
        self.divergent += not uniform
        self.block(self.pick([1, 2]))
        if self.chance(0.5):
            self.line("else:")
            self.block(self.pick([1, 2]))
        self.divergent -= not uniform

    def loop(self):
        uniform = not self.divergent and self.chance(0.6)
        name = self.program.fresh("k")
        trips = self.random.randrange(0, 5)
        kept = (self.loops, self.jumps, getattr(self, "round_text", "0"), getattr(self, "round_count", 1))
        if uniform:
            limit = self.pick([str(trips), self.uniform_trips()])
            count = 8
        else:
            limit, count = f"wp.abs({self.scalar('int32', False, 1)}) % 6", 6
        step = self.pick(["", "", ", 2"]) if self.chance(0.3) else ""
        head = f"for {name} in range({'0, ' if step else ''}{limit}{step}):"
        if self.chance(0.15) and uniform:
            head = f"for {name} in range({trips}, -1, -1):"
        self.line(head)
        if kept[0] and kept[3] * count <= 64:
            self.round_text, self.round_count = f"({kept[2]} * {count} + {name})", kept[3] * count
        elif not kept[0]:
            self.round_text, self.round_count = name, count
        self.loops += 1
        nested = kept[0] and kept[3] * count > 64
        self.divergent += not uniform or nested
        self.jumps = not uniform or nested
        self.scopes.append({"scalars": [Scalar(name, "int32", uniform and not nested)], "tiles": []})
        self.block(self.pick([1, 2, 3]))
        self.scopes.pop()
        self.divergent -= not uniform or nested
        self.loops, self.jumps, self.round_text, self.round_count = kept

    def while_loop(self):
        """By a counter of its own; threads that part in it do nothing together."""
        name = self.program.fresh("w")
        kept = (self.loops, self.jumps)
        self.line(f"{name} = int({self.scalar('int32', False, 1)} & 7)")
        self.line(f"while {name} > 0{' and ' + self.condition(False, 0) if self.chance(0.3) else ''}:")
        self.line(f"    {name} = {name} - {self.pick([1, 2])}")
        self.divergent += 1
        self.loops, self.jumps = self.loops + 1, True
        self.scopes.append({"scalars": [Scalar(name, "int32", False)], "tiles": []})
        self.block(self.pick([1, 2]))
        self.scopes.pop()
        self.divergent -= 1
        self.loops, self.jumps = kept

    def jump(self):
        if not self.divergent:
            return self.new_scalar()
        self.line(f"if {self.condition(False, 1)}:")
        self.line(f"    {self.pick(['break', 'continue'])}")

    # ---- text ----

    def text(self):
        for line in self.helpers:
            yield line + "\n"
        yield "\n@wp.kernel\n"
        arguments = [f"{name}: int" for name, _ in self.numbers]
        arguments += [f"{a.name}: wp.array(dtype=wp.{a.dtype}, ndim={len(a.shape)})" for a in self.parameters]
        yield f"def {self.name}({', '.join(arguments)}):\n"
        for line in self.body:
            yield line + "\n"
        yield "\n\n"

    def call(self):
        given = ", ".join([str(value) for _, value in self.numbers] + [a.name for a in self.parameters])
        launch = "launch_tiled" if self.kind == "tiled" else "launch"
        return f"wp.{launch}({self.name}, dim=({', '.join(map(str, self.grid))},), inputs=[{given}], block_dim={self.block_dim})\n"


def program(seed):
    return "".join(Program(seed).text())
