"""Random kernels without undefined behaviour, and what they compute. An Expression is its text in
the language and a function that evaluates it; a Statement its lines and a function that runs it."""
import math
import operator
import random
from itertools import product

import element_types as types


class Expression:
    def __init__(self, dtype, shape, text, value):
        self.dtype, self.shape, self.text, self.value = dtype, shape, text, value


class Statement:
    def __init__(self, lines, run, bodies=()):
        self.lines, self.run, self.bodies = lines, run, list(bodies)


class Jump(Exception):
    """What `break` and `continue` do; `ends` is whether the loop ends."""

    def __init__(self, ends):
        super().__init__()
        self.ends = ends


class Buffer:
    """A pointer parameter. `region`: elements that a block has for itself, 0 in one that is only read."""

    def __init__(self, name, dtype):
        self.name, self.dtype, self.region, self.size, self.small = name, dtype, 0, 1, False


class View:
    def __init__(self, name, buffer, extents, strides, base, leading):
        self.name, self.buffer, self.extents, self.strides = name, buffer, extents, strides
        self.base, self.leading = base, leading  # elements before element 0, given the block's number


def count_of(shape):
    return math.prod(shape)


def index_maps(shape, target):
    """For each element of `target` the index of the element of `shape` that is stretched to it."""
    padded = (1,) * (len(target) - len(shape)) + tuple(shape)
    strides, step = [], 1
    for extent in reversed(padded):
        strides.append(0 if extent == 1 else step)
        step *= extent
    strides.reverse()
    return [sum(i * s for i, s in zip(at, strides)) for at in product(*map(range, target))]


def stretched(expression, shape):
    if expression.shape is None:
        count = count_of(shape)
        return lambda env: [expression.value(env)] * count
    if tuple(expression.shape) == tuple(shape):
        return expression.value
    indices = index_maps(expression.shape, shape)

    def value(env):
        items = expression.value(env)
        return [items[i] for i in indices]
    return value


def mapped(function, parts, shape):
    values = [stretched(part, shape) for part in parts]
    if len(values) == 1:
        return lambda env: [function(x) for x in values[0](env)]
    if len(values) == 2:
        return lambda env: [function(x, y) for x, y in zip(values[0](env), values[1](env))]
    return lambda env: [function(*x) for x in zip(*(v(env) for v in values))]


EXTENTS = [1, 1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 32, 33, 48, 64, 96, 100, 128, 200]
COMPARES = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
            ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b}


class Kernel:
    def __init__(self, name, seed, shared_only=False):
        """`shared_only`: whatever must be ordered is in shared memory: each block of global memory is
        read or written once."""
        self.name, self.random, self.shared_only = name, random.Random(seed), shared_only
        self.params, self.buffers, self.views, self.head = [], [], [], []
        self.scopes = [{"tiles": [], "scalars": [], "shared": []}]
        self.loops, self.counter, self.depth, self.budget = [], 0, 0, 0
        self.build()

    # ---- small choices ----

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, items):
        return self.random.choice(items)

    def fresh(self, letter):
        self.counter += 1
        return letter + str(self.counter)

    def visible(self, kind):
        return [item for scope in self.scopes for item in scope[kind]]

    def shape(self, limit):
        rank = self.random.choices([1, 2, 3, 4], [4, 5, 2, 1])[0]
        while True:
            shape = tuple(self.pick(EXTENTS) for _ in range(rank))
            if count_of(shape) <= limit:
                return shape

    def dtype(self):
        return self.pick([t for t in types.KIND if t != "boolean"]) if self.chance(0.5) else self.main

    def param(self, value, kinds=("int32",)):
        """The text of an integer: itself, or a run-time parameter that will be it."""
        for name, _, given in self.params:
            if given == value and self.chance(0.7):
                return name
        name = self.fresh("n")
        self.params.append((name, self.pick(list(kinds)), value))
        return name

    def number(self, value):
        return self.param(value, ("int32", "int32", "int64", "int")) if self.chance(0.5) else str(value)

    # ---- scalars ----

    def literal(self, dtype):
        if types.is_float(dtype):
            number = self.pick([0.5, -1.25, 3.0, 0.1, -7.0, 2.0, 1.0, 0.0])
            return Expression(dtype, None, repr(number), lambda env: types.round_exact(dtype, number))
        number = self.pick([0, 1, 2, 3, 7, 13, 100] + ([-1, -5, -128] if types.KIND[dtype] == "int" else [255]))
        return Expression(dtype, None, str(number), lambda env: number)

    def scalar_atom(self):
        choices = [Expression("int32", None, "self.blockIdx." + "xyz"[d], lambda env, d=d: env["block"][d])
                   for d in range(len(self.grid))]
        choices += self.visible("scalars") * 2 + self.loops * 3
        return self.pick(choices)

    def integer(self):
        """A small run-time integer, of either sign."""
        atom = self.scalar_atom()
        kind, c, text, value = self.random.randrange(8), self.random.randrange(1, 40), atom.text, atom.value
        if kind < 2:
            return atom
        if kind == 2:
            return Expression("int32", None, f"({text} * {c} - {c // 2})", lambda env: value(env) * c - c // 2)
        if kind == 3:
            return Expression("int32", None, f"({text} % {c})", lambda env: value(env) % c)
        if kind == 4:
            return Expression("int32", None, f"({text} // {c})", lambda env: value(env) // c)
        if kind == 5:
            return Expression("int32", None, f"({c} - {text})", lambda env: c - value(env))
        if kind == 6:
            return Expression("int32", None, f"min({text}, {c})", lambda env: min(value(env), c))
        other = self.scalar_atom()
        return Expression("int32", None, f"({text} + {other.text})", lambda env: value(env) + other.value(env))

    def condition(self):
        a, b, op = self.integer(), self.pick([0, 1, 2, 3, 5]), self.pick(list(COMPARES))
        text, value = f"{a.text} {op} {b}", lambda env: COMPARES[op](a.value(env), b)
        if self.chance(0.2):
            other, word = self.condition(), self.pick(["and", "or"])
            both = {"and": lambda env: value(env) and other.value(env), "or": lambda env: value(env) or other.value(env)}
            return Expression("boolean", None, f"({text}) {word} ({other.text})", both[word])
        return Expression("boolean", None, text, value)

    def offset(self, extent, tile):
        kind = self.random.randrange(8)
        if kind == 0:
            c = self.random.randrange(-tile - 1, extent + 2)
            return Expression("int32", None, str(c), lambda env: c)
        if kind == 1:
            c = self.random.randrange(-tile, extent + 1)
            text = self.param(c)
            return Expression("int32", None, text, lambda env: c)
        atom = self.scalar_atom()
        c = self.pick([0, 0, 0, -1, 1, -3, 4, 8, -8])
        if kind < 5:
            return Expression("int32", None, f"{atom.text} * {tile} + {c}" if c else f"{atom.text} * {tile}",
                              lambda env: atom.value(env) * tile + c)
        if kind == 5:
            step = self.pick([1, 2, 4, 8, 16])
            return Expression("int32", None, f"{atom.text} * {step}", lambda env: atom.value(env) * step)
        return self.integer() if kind == 6 else Expression("int32", None, "0", lambda env: 0)

    # ---- views ----

    def extents(self, shape):
        return [max(1, self.pick([e, e, e + 1, e * 2, e - 1, e + 8, e // 2 + 1])) for e in shape]

    def strides_of(self, extents, overlapping):
        """Element strides, and whether they are row-major (then none need be written)."""
        order = list(range(len(extents)))
        if self.chance(0.4):
            self.random.shuffle(order)
        strides, step = [0] * len(extents), 1
        if self.chance(0.15):
            step = self.pick([2, 3])
        for dim in reversed(order):
            strides[dim] = step
            step *= extents[dim] + (self.pick([0, 0, 1, 3, 8]) if self.chance(0.3) else 0)
        if overlapping and self.chance(0.1):
            strides[self.random.randrange(len(strides))] = self.pick([0, 1])
        return strides

    def write_view(self, buffer, extents, strides, pointer, base, leading):
        plain, step = [], 1
        for extent in reversed(extents):
            plain.insert(0, step)
            step *= extent
        name = self.fresh("v")
        given = "" if strides == plain and self.chance(0.7) else \
            ", strides=[%s]" % ", ".join(self.number(s) for s in strides)
        self.head.append(f"{name} = self.global_view({pointer}, dtype={buffer.dtype}, "
                         f"shape=[{', '.join(self.number(e) for e in extents)}]{given})")
        view = View(name, buffer, extents, strides, base, leading)
        self.views.append(view)
        return view

    def input_view(self, dtype, shape, small=False):
        """A view that is only read, of at least that rank."""
        same = [b for b in self.buffers if b.dtype == dtype and not b.region and b.small == small]
        if same and self.chance(0.6):
            buffer = self.pick(same)
        else:
            buffer = Buffer(self.fresh("a"), dtype)
            buffer.small = small
            self.buffers.append(buffer)
        extents = self.extents(shape)
        for _ in range(self.pick([0, 0, 0, 1]) if len(extents) < 4 else 0):
            extents.insert(self.random.randrange(len(extents) + 1), self.pick([1, 2, 3, 5]))
        strides = self.strides_of(extents, True)
        shift = self.pick([0, 0, 0, 1, 4])
        last = shift + sum((e - 1) * s for e, s in zip(extents, strides))
        buffer.size = max(buffer.size, last + 1)
        pointer = f"{buffer.name} + {shift}" if shift else buffer.name
        return self.write_view(buffer, extents, strides, pointer, lambda env: shift, False)

    def output_view(self, dtype, shape):
        """A view of what this block alone reads and writes."""
        same = [b for b in self.buffers if b.dtype == dtype and b.region]
        if same and self.chance(0.5) and not self.shared_only:
            buffer = self.pick(same)
        else:
            buffer = Buffer(self.fresh("b"), dtype)
            buffer.region = self.pick([64, 100, 512, 1000, 2100])
            self.buffers.append(buffer)
        while True:
            extents = self.extents(shape)
            strides = self.strides_of(extents, False)
            if sum((e - 1) * s for e, s in zip(extents, strides)) < buffer.region:
                break
            shape = [max(1, e // 2) for e in shape]
        region, blocks = buffer.region, count_of(self.grid)
        buffer.size = region * blocks
        if self.chance(0.5) and len(extents) < 4:
            return self.write_view(buffer, [blocks] + extents, [region] + strides, buffer.name, lambda env: 0, True)
        return self.write_view(buffer, extents, strides, f"{buffer.name} + {self.block_text} * {region}",
                               lambda env: env["number"] * region, False)

    def access(self, view, shape):
        """The arguments that place a tile of that shape in the view: text, and indices by environment
        (None outside)."""
        rank, free = len(view.extents), 1 if view.leading else 0
        dims = sorted(self.random.sample(range(free, rank), len(shape)))
        along = dict(zip(dims, shape))
        offsets = []
        for d in range(rank):
            if view.leading and d == 0:
                offsets.append(Expression("int32", None, self.block_text, lambda env: env["number"]))
            elif d in along:
                offsets.append(self.offset(view.extents[d], along[d]))
            else:
                c = self.random.randrange(-1, view.extents[d] + 1) if self.chance(0.2) else \
                    self.random.randrange(view.extents[d])
                offsets.append(Expression("int32", None, str(c), lambda env, c=c: c))
        text = "offsets=[%s]" % ", ".join(o.text for o in offsets)
        if dims != list(range(rank - len(shape), rank)) or self.chance(0.2):
            text += f", dims={dims}"

        def indices(env):
            start, base = [o.value(env) for o in offsets], view.base(env)
            along_each = []
            for d in range(rank):
                reach = range(start[d], start[d] + along.get(d, 1))
                along_each.append([i * view.strides[d] if 0 <= i < view.extents[d] else None for i in reach])
            result = [base]
            for steps in along_each:
                result = [None if i is None or s is None else i + s for i in result for s in steps]
            return result
        return text, indices

    def may_use(self, view, writable):
        return not view.buffer.region if self.shared_only else bool(view.buffer.region) >= writable

    def view_for(self, dtype, shape, writable, small=False):
        if self.shared_only and writable:
            return self.output_view(dtype, shape)
        fit = [v for v in self.views if v.buffer.dtype == dtype and self.may_use(v, writable) and
               len(v.extents) - v.leading >= len(shape) and v.buffer.small >= small]
        if fit and self.chance(0.75):
            return self.pick(fit)
        if writable or (not small and not self.shared_only and self.chance(0.3)):
            return self.output_view(dtype, shape)
        return self.input_view(dtype, shape, small)

    def load(self, dtype, shape, small=False):
        view = self.view_for(dtype, shape, False, small)
        text, indices = self.access(view, shape)
        zero, name = types.FIT[dtype](0), view.buffer.name

        def value(env):
            memory = env["memory"][name]
            return [zero if i is None else memory[i] for i in indices(env)]
        return Expression(dtype, shape, f"self.load_global({view.name}, {text}, shape={list(shape)})", value)

    # ---- tiles ----

    def computed(self, dtype, shape):
        letters = "ijkl"[:len(shape)]
        factors = [self.random.randrange(-5, 6) for _ in shape]
        modulus, shift = self.pick([5, 7, 16, 64]), self.random.randrange(0, 4)
        if types.KIND[dtype] == "uint" and not self.chance(0.3):
            shift = 0
        inner = " + ".join(f"{letter} * {f}" for letter, f in zip(letters, factors))
        atom = self.scalar_atom()
        fit = types.cast("int32", dtype)
        return Expression(
            dtype, shape, f"self.register_tensor(dtype={dtype}, shape={list(shape)}, "
            f"init=lambda {', '.join(letters)}: ({inner} + {atom.text}) % {modulus} - {shift})",
            lambda env: [fit((sum(map(int.__mul__, at, factors)) + atom.value(env)) % modulus - shift)
                         for at in product(*map(range, shape))])

    def constant(self, dtype, shape):
        number = self.literal(dtype)
        return Expression(dtype, shape, f"self.register_tensor(dtype={dtype}, shape={list(shape)}, init={number.text})",
                          lambda env: [number.value(env)] * count_of(shape))

    def leaf(self, dtype, shape):
        known = [t for t in self.visible("tiles") if t.dtype == dtype and t.shape == shape]
        shared = [t for t in self.visible("shared") if t.dtype == dtype and t.shape == shape]
        if known and self.chance(0.6):
            return self.pick(known)
        if shared and self.chance(0.5):
            return self.pick(shared)
        if dtype == "boolean":
            return self.compare(shape, 0)
        kind = self.random.randrange(10)
        if kind == 0:
            return self.constant(dtype, shape)
        return self.computed(dtype, shape) if kind == 1 else self.load(dtype, shape)

    def narrower(self, shape):
        if self.chance(0.6):
            return shape
        if len(shape) > 1 and self.chance(0.3):
            return shape[self.random.randrange(1, len(shape)):]
        return tuple(1 if self.chance(0.5) else e for e in shape)

    def compare(self, shape, depth):
        dtype, op = self.dtype(), self.pick(list(COMPARES))
        a = self.tile(dtype, shape, depth)
        b = self.literal(dtype) if self.chance(0.4) else self.tile(dtype, self.narrower(shape), depth)
        return Expression("boolean", shape, f"({a.text} {op} {b.text})", mapped(COMPARES[op], [a, b], shape))

    def binary(self, dtype, shape, depth):
        a = self.tile(dtype, shape, depth)
        fit = types.FIT[dtype]
        b = self.literal(dtype) if self.chance(0.25) else self.tile(dtype, self.narrower(shape), depth - 1)
        if b.shape is not None and self.chance(0.3) and self.scalar_fits(dtype):
            b = self.cast_scalar(dtype)
        table = {"{} + {}": lambda x, y: fit(x + y), "{} - {}": lambda x, y: fit(x - y), "{} * {}": lambda x, y: fit(x * y)}
        if not types.is_float(dtype):
            table.update({"{} & {}": lambda x, y: x & y, "{} | {}": lambda x, y: x | y, "{} ^ {}": lambda x, y: x ^ y})
        tiles = {"self.maximum({}, {})": types.larger, "self.minimum({}, {})": types.smaller}
        if b.shape is not None:
            table.update(tiles)
        if self.chance(0.2):
            return self.division(dtype, shape, a, depth)
        form = self.pick(list(table))
        if form in tiles or self.chance(0.7):
            first, second, function = a, b, table[form]
            text = form.format(a.text, b.text)
        else:
            first, second, function = b, a, table[form]
            text = form.format(b.text, a.text)
        return Expression(dtype, shape, f"({text})" if form not in tiles else text, mapped(function, [first, second], shape))

    def division(self, dtype, shape, a, depth):
        """By what cannot be zero; shifts by a literal."""
        fit = types.FIT[dtype]
        if types.is_float(dtype):
            b = self.tile(dtype, self.narrower(shape), depth - 1)
            return Expression(dtype, shape, f"({a.text} / (self.abs({b.text}) + 1.0))",
                              mapped(lambda x, y: fit(x / fit(abs(y) + 1.0)), [a, b], shape))
        kind, c = self.random.randrange(5), self.pick([1, 2, 3, 7, 8, 64])
        bits = types.BITS[dtype]
        rows = [("/", lambda x: types.divide_toward_zero(x, c)), ("//", lambda x: x // c), ("%", lambda x: x % c),
                (">>", lambda x: x >> c), ("<<", lambda x: fit(x << c) if c < bits else 0)]
        op, function = rows[kind]
        return Expression(dtype, shape, f"({a.text} {op} {c})", mapped(function, [a], shape))

    def scalar_fits(self, dtype):
        return dtype != "boolean" and bool(self.visible("scalars") or self.loops)

    def cast_scalar(self, dtype):
        """A run-time integer beside a tile takes the tile's type."""
        atom = self.pick(self.visible("scalars") + self.loops)
        fit = types.cast("int32", dtype)
        return Expression(dtype, None, atom.text, lambda env: fit(atom.value(env)))

    def unary(self, dtype, shape, depth):
        a, fit = self.tile(dtype, shape, depth), types.FIT[dtype]
        table = {"(-{})": lambda x: fit(-x), "self.abs({})": lambda x: fit(abs(x)), "self.square({})": lambda x: fit(x * x)}
        if types.is_float(dtype):
            table["self.sqrt(self.abs({}))"] = lambda x: fit(math.sqrt(abs(x)))
        else:
            table["(~{})"] = lambda x: fit(~x)
        form = self.pick(list(table))
        return Expression(dtype, shape, form.format(a.text), mapped(table[form], [a], shape))

    def converted(self, dtype, shape, depth):
        source = self.pick([t for t in types.KIND if t != dtype])
        a = self.tile(source, shape, depth)
        fit, text, value = types.cast(source, dtype), a.text, a.value
        if types.is_float(source) and not types.is_float(dtype):
            low = -100.0 if types.KIND[dtype] == "int" else 0.0
            text = f"self.clip({text}, {low}, 100.0)"
            return Expression(dtype, shape, f"self.cast({text}, dtype={dtype})",
                              mapped(lambda x: fit(types.smaller(types.larger(x, low), 100.0)), [a], shape))
        return Expression(dtype, shape, f"self.cast({text}, dtype={dtype})", lambda env: [fit(x) for x in value(env)])

    def transposed(self, dtype, shape, depth):
        a = self.tile(dtype, shape[::-1], depth)
        count = len(shape)
        strides, step = [], 1
        for extent in shape:  # of a's dimensions from the last
            strides.append(step)
            step *= extent
        indices = [sum(i * s for i, s in zip(at, strides)) for at in product(*map(range, shape))]

        def value(env):
            items = a.value(env)
            return [items[i] for i in indices]
        return Expression(dtype, shape, f"self.transpose({a.text})", value) if count > 1 else a

    def reshaped(self, dtype, shape, depth):
        total = count_of(shape)
        splits = [(total,), (1, total), (total, 1)]
        splits += [(d, total // d) for d in (2, 3, 4, 5, 7, 8, 16, 32) if total % d == 0]
        splits += [(d, 2, total // d // 2) for d in (2, 4, 8) if total % (2 * d) == 0]
        a = self.tile(dtype, self.pick(splits), depth)
        return Expression(dtype, shape, f"self.reshape({a.text}, {list(shape)})", a.value)

    # ---- parts ----

    def sides(self, whole, along):
        """Where a part is in a tile of shape `whole`: the text between brackets, and the part's indices by environment. It
        has along[d] elements along dimension d, or, where that is None, one index."""
        texts, sides = [], []
        for d, extent in enumerate(whole):
            if along[d] is None and self.chance(0.3):
                atom = self.scalar_atom()
                texts.append(f"{atom.text} % {extent}")
                sides.append(lambda env, atom=atom, extent=extent: [atom.value(env) % extent])
                continue
            count = along[d] or 1
            first = self.random.randrange(extent - count + 1)
            texts.append(f"{first}:{first + count}" if along[d] else str(first))
            sides.append(lambda env, reach=range(first, first + count): reach)
        strides = [count_of(whole[d + 1:]) for d in range(len(whole))]

        def indices(env):
            return [sum(i * s for i, s in zip(at, strides)) for at in product(*(side(env) for side in sides))]
        return ", ".join(texts), indices

    def sliced(self, dtype, shape, depth):
        along, whole = list(shape), [e + self.pick([0, 0, 1, 2, 3, 5, 8]) for e in shape]
        if len(whole) < 3 and self.chance(0.4):
            place = self.random.randrange(len(whole) + 1)
            whole.insert(place, self.pick([2, 3, 5, 6, 12]))
            along.insert(place, None)
        if count_of(whole) > 2100:
            return self.leaf(dtype, shape)
        tile = self.tile(dtype, whole, depth)
        text, indices = self.sides(whole, along)

        def value(env):
            items = tile.value(env)
            return [items[i] for i in indices(env)]
        return Expression(dtype, shape, f"({tile.text})[{text}]", value)

    def store_part(self):
        """To a row, a column or a block of a tile that stays."""
        known = [t for t in self.visible("tiles") if not t.small and t.dtype != "boolean"]
        if not known:
            return self.new_tile()
        tile = self.pick(known)
        along = [None if self.chance(0.4) else self.random.randrange(1, e + 1) for e in tile.shape]
        if not any(along):
            along[0] = tile.shape[0]
        text, indices = self.sides(tile.shape, along)
        part = self.root(tile.dtype, tuple(count for count in along if count))

        def run(env):
            items = list(tile.value(env))
            for i, x in zip(indices(env), part.value(env)):
                items[i] = x
            env[tile.name] = items
        return Statement([f"{tile.name}[{text}] = {part.text}"], run)

    def chosen(self, dtype, shape, depth):
        condition = self.tile("boolean", self.narrower(shape), depth - 1)
        a = self.tile(dtype, shape, depth)
        b = self.literal(dtype) if self.chance(0.3) else self.tile(dtype, self.narrower(shape), depth - 1)
        return Expression(dtype, shape, f"self.where({condition.text}, {a.text}, {b.text})",
                          mapped(lambda c, x, y: x if c else y, [condition, a, b], shape))

    def boolean(self, shape, depth):
        kind = self.random.randrange(6)
        if kind < 4:
            return self.compare(shape, depth)
        a = self.tile("boolean", shape, depth)
        if kind == 4:
            return Expression("boolean", shape, f"(~{a.text})", mapped(lambda x: not x, [a], shape))
        b, op = self.tile("boolean", self.narrower(shape), depth), self.pick("&|^")
        table = {"&": lambda x, y: x and y, "|": lambda x, y: x or y, "^": lambda x, y: x != y}
        return Expression("boolean", shape, f"({a.text} {op} {b.text})", mapped(table[op], [a, b], shape))

    def small(self, dtype, shape):
        """A tile of small integers, whatever the type: sums of products of them are exact."""
        kind = self.random.randrange(6)
        if kind == 0 and len(shape) == 2:
            a = self.small(dtype, shape[::-1])
            rows, columns = shape
            return Expression(dtype, shape, f"self.transpose({a.text})", lambda env: (
                lambda items: [items[j * rows + i] for i in range(rows) for j in range(columns)])(a.value(env)))
        if kind == 1:
            a, b, c = self.compare(shape, 0), self.small(dtype, shape), self.small(dtype, shape)
            return Expression(dtype, shape, f"self.where({a.text}, {b.text}, {c.text})",
                              mapped(lambda c, x, y: x if c else y, [a, b, c], shape))
        if kind == 2 and len(shape) == 2 and self.chance(0.5):
            before = self.dot("float32", shape)
            fit = types.FIT[dtype]
            low = 0 if types.KIND[dtype] == "uint" else -3
            return Expression(dtype, shape, f"self.cast(self.clip({before.text}, {float(low)}, 3.0), dtype={dtype})",
                              lambda env: [fit(int(min(max(x, low), 3))) for x in before.value(env)])
        return self.load(dtype, shape, True)

    def dot(self, accumulator, shape):
        """a @ b + c; the pairs of types that have matrix instructions, and others."""
        sources = {"float32": ["float16", "bfloat16", "float32", "float16", "bfloat16"], "float16": ["float16"], "float64": ["float64"],
                   "int32": ["int8", "uint8", "int8", "int32"]}[accumulator]
        source = self.pick(sources)
        depth = self.pick([1, 3, 4, 8, 16, 16, 16, 32, 32, 48, 33])
        m, n = shape
        a, b = self.small(source, (m, depth)), self.small(source, (depth, n))
        c = self.accumulator(accumulator, shape)
        fit = types.FIT[accumulator]

        def value(env):
            left, right, rest = a.value(env), b.value(env), c.value(env)
            columns = [right[j::n] for j in range(n)]
            rows = [left[i * depth:(i + 1) * depth] for i in range(m)]
            return [fit(rest[i * n + j] + sum(map(operator.mul, rows[i], columns[j])))
                    for i in range(m) for j in range(n)]
        return Expression(accumulator, shape, f"self.dot({a.text}, {b.text}, {c.text})", value)

    def accumulator(self, dtype, shape):
        known = [t for t in self.visible("tiles") if t.dtype == dtype and t.shape == shape and getattr(t, "small", False)]
        if known and self.chance(0.8):
            return self.pick(known)
        return Expression(dtype, shape, f"self.register_tensor(dtype={dtype}, shape={list(shape)}, init=0)",
                          lambda env: [types.FIT[dtype](0)] * count_of(shape))

    def tile(self, dtype, shape, depth):
        shape = tuple(shape)
        self.budget -= 1
        if depth <= 0 or self.budget < 0:
            return self.leaf(dtype, shape)
        if dtype == "boolean":
            return self.boolean(shape, depth - 1)
        if dtype == "int32" and len(shape) == 2 and self.chance(0.1):
            return self.dot(dtype, shape)
        maker = self.random.choices([self.binary, self.unary, self.converted, self.transposed, self.reshaped, self.chosen, self.sliced],
                                    [8, 2, 3, 2, 3, 2, 2])[0]
        return maker(dtype, shape, depth - 1)

    # ---- statements ----

    def root(self, dtype, shape):
        self.budget = 12
        return self.tile(dtype, shape, self.pick([1, 2, 2, 3]))

    def new_tile(self):
        if self.depth and self.chance(0.4) and not self.shared_only:
            return self.store()
        dots = self.use_dot and self.chance(0.5)
        dtype = self.pick(["float32", "float32", "float16", "int32", "float64"]) if dots else self.dtype()
        shape = self.pick(self.shapes)
        if dots:
            shape = self.pick(self.dot_shapes)
            value = self.dot(dtype, shape)
        else:
            value = self.root(dtype, shape)
        name = self.fresh("t")
        made = Expression(dtype, shape, name, lambda env: env[name])
        made.small = dots
        made.name = name
        self.scopes[-1]["tiles"].append(made)
        return self.assign(name, value)

    def assign(self, name, value):
        def run(env):
            env[name] = value.value(env)
        return Statement([f"{name} = {value.text}"], run)

    def change_tile(self):
        known = self.visible("tiles")
        if not known:
            return self.new_tile()
        tile = self.pick(known)
        if tile.small and tile.dtype in ("float16", "float32", "float64", "int32") and len(tile.shape) == 2:
            return self.assign(tile.name, self.dot(tile.dtype, tile.shape))
        if tile.dtype not in ("boolean",) and self.chance(0.5):
            other, fit = self.root(tile.dtype, self.narrower(tile.shape)), types.FIT[tile.dtype]
            value = mapped(lambda x, y: fit(x + y), [tile, other], tile.shape)
            if self.chance(0.5):
                return Statement([f"{tile.name} += {other.text}"], lambda env: env.__setitem__(tile.name, value(env)))
            return self.assign(tile.name, Expression(tile.dtype, tile.shape, f"{tile.name} + {other.text}", value))
        return self.assign(tile.name, self.root(tile.dtype, tile.shape))

    def exchange(self):
        """Two names change places, or one becomes a copy of the other that lives on by itself."""
        kind = self.pick(["tiles", "scalars"])
        known = [e for e in self.visible(kind) if getattr(e, "name", None)]
        pairs = [(a, b) for a in known for b in known if a is not b and a.dtype == b.dtype and a.shape == b.shape and
                 getattr(a, "small", 0) == getattr(b, "small", 0)]
        if not pairs:
            return self.change_tile()
        a, b = (e.name for e in self.pick(pairs))

        def swap(env):
            env[a], env[b] = env[b], env[a]
        if self.chance(0.5):
            return Statement([f"{a}, {b} = {b}, {a}"], swap)
        return Statement([f"{a} = {b}"], lambda env: env.__setitem__(a, env[b]))

    def into(self):
        """The methods that write to a tile given as `out`."""
        known = [t for t in self.visible("tiles") if not t.small and t.dtype != "boolean"]
        if not known:
            return self.new_tile()
        tile = self.pick(known)
        kind, a, fit = self.random.randrange(4), self.root(tile.dtype, tile.shape), types.FIT[tile.dtype]
        if kind == 0:
            return Statement([f"self.assign({tile.name}, {a.text})"], lambda env: env.__setitem__(tile.name, a.value(env)))
        if kind == 1:
            value = mapped(lambda x, y: fit(x + y), [a, tile], tile.shape)
            return Statement([f"self.add({a.text}, {tile.name}, out={tile.name})"],
                             lambda env: env.__setitem__(tile.name, value(env)))
        if kind == 2:
            load = self.load(tile.dtype, tile.shape)
            return Statement([f"{load.text[:-1]}, out={tile.name})"], lambda env: env.__setitem__(tile.name, load.value(env)))
        condition, b = self.condition(), self.root(tile.dtype, tile.shape)
        return self.assign(tile.name, Expression(tile.dtype, tile.shape, f"{a.text} if {condition.text} else {b.text}",
                                                 lambda env: (a if condition.value(env) else b).value(env)))

    def store(self):
        known = self.visible("tiles")
        tile = self.pick(known) if known and self.chance(0.6) else self.root(self.dtype(), self.pick(self.shapes))
        if len(tile.shape) > 3 and self.chance(0.5):
            return self.store()
        view = self.view_for(tile.dtype, tile.shape, True)
        text, indices = self.access(view, tile.shape)
        name = view.buffer.name

        def run(env):
            memory = env["memory"][name]
            for i, x in zip(indices(env), tile.value(env)):
                if i is not None:
                    memory[i] = x
        held = tile.text if tile.text.isalnum() else self.fresh("x")
        lines = [] if held == tile.text else [f"{held} = {tile.text}"]
        if self.shared_only:
            return Statement(lines + [f"self.store_global({view.name}, {held}, {text})"], run)
        # what is read is ordered with what is written; the author orders two stores of different threads
        lines += ["self.sync()", f"self.store_global({view.name}, {held}, {text})"]
        return Statement(lines + ["self.sync()"] if self.chance(0.3) else lines, run)

    def scalar(self):
        known = [s for s in self.visible("scalars") if getattr(s, "name", None)]
        value = self.integer()
        modulus = self.pick([17, 5, 64])
        text = f"({value.text}) % {modulus}"
        if known and self.chance(0.6):
            name = self.pick(known).name
            return Statement([f"{name} = {text}"], lambda env: env.__setitem__(name, value.value(env) % modulus))
        name = self.fresh("s")
        made = Expression("int32", None, name, lambda env: env[name])
        made.name = name
        self.scopes[-1]["scalars"].append(made)
        return Statement([f"{name}: int32 = {text}"], lambda env: env.__setitem__(name, value.value(env) % modulus))

    def shared(self):
        known = [s for s in self.visible("shared")]
        if known and self.chance(0.5):
            tile = self.pick(known)
            lines = []
        else:
            shape, dtype, name = self.pick(self.shapes), self.dtype(), self.fresh("m")
            tile = Expression(dtype, shape, f"self.load_shared({name})", lambda env: env[name])
            tile.name = name
            lines = [f"{name} = self.shared_tensor(dtype={dtype}, shape={list(shape)})"]
        value, name = self.root(tile.dtype, tile.shape), tile.name
        lines.append(f"self.store_shared({name}, {value.text})")
        if not known or tile not in known:
            self.scopes[-1]["shared"].append(tile)
        if self.chance(0.6):
            lines.append("self.sync()")
        return Statement(lines, lambda env: env.__setitem__(name, value.value(env)))

    def block(self, count):
        self.scopes.append({"tiles": [], "scalars": [], "shared": []})
        self.depth += 1
        body = [self.statement() for _ in range(count)]
        self.depth -= 1
        self.scopes.pop()
        return body

    def loop(self):
        trips = self.pick([0, 1, 3, 3, 4, 5]) if self.depth < 1 else self.pick([0, 1, 2, 3])
        name, start, step = self.fresh("i"), self.pick([0, 0, 0, 1, -2]), self.pick([1, 1, 1, 2, 16])
        end = start + trips * step - (self.random.randrange(step) if trips else 0)
        static = self.chance(0.25)
        texts = [str(x) if static else self.param(x) if self.chance(0.6) else str(x) for x in (start, end)]
        if not static and self.chance(0.8):
            texts[1] = self.param(end)
        if not static and self.chance(0.1):
            texts[1] = self.fresh("n")
            self.params.append((texts[1], "int64", end))
        counter = Expression("int32", None, name, lambda env: env[name])
        self.loops.append(counter)
        body = self.block(self.pick([1, 2, 3, 4]))
        self.loops.pop()
        unroll = f", unroll={self.pick([2, 3, 4])}" if self.chance(0.15) else ", unroll='all'" if static and self.chance(0.5) else ""
        head = f"for {name} in self.range({texts[0]}, {texts[1]}, {step}{unroll}):"
        if not unroll:
            head = f"for {name} in range({texts[0]}, {texts[1]}, {step}):"

        def run(env):
            for i in range(start, end, step):
                env[name] = i
                try:
                    run_all(statement.bodies[0], env)
                except Jump as jump:
                    if jump.ends:
                        break
        statement = Statement([head], run, [body])
        return statement

    def while_loop(self):
        name, trips, step = self.fresh("w"), self.pick([0, 1, 2, 3, 4]), self.pick([1, 2])
        limit = self.number(trips * step)
        counter = Expression("int32", None, name, lambda env: env[name])
        self.loops.append(counter)
        body = self.block(self.pick([1, 2]))
        self.loops.pop()

        def run(env):
            env[name] = 0
            while env[name] < trips * step:
                run_all(statement.bodies[0], env)
                env[name] += step
        statement = Statement([f"{name}: int32 = 0", f"while {name} < {limit}:"], run, [body])
        statement.tail = f"{name} += {step}"
        return statement

    def branch(self):
        condition = self.condition()
        bodies = [self.block(self.pick([1, 2])), self.block(1) if self.chance(0.7) else []]

        def run(env):
            run_all(statement.bodies[0 if condition.value(env) else 1], env)
        statement = Statement([f"if {condition.text}:"], run, bodies)
        return statement

    def statement(self):
        kinds = [self.new_tile, self.change_tile, self.store, self.scalar, self.shared, self.exchange, self.into, self.store_part]
        weights = [4, 4, 0, 1, 6, 1, 1, 1] if self.shared_only else [4, 4, 4, 1, 2 if self.use_shared else 0, 1, 1, 1]
        if self.depth < 3:
            kinds += [self.loop, self.while_loop, self.branch]
            weights += [3, 1, 2] if self.depth < 2 else [0.5, 0.2, 1]
        return self.random.choices(kinds, weights)[0]()

    # ---- the whole ----

    def build(self):
        self.main = self.pick(["float32", "float16"] + [t for t in types.KIND if t != "boolean"])
        self.warps = self.pick([1, 2, 4, 4, 8])
        self.use_dot, self.use_shared = self.chance(0.3), self.chance(0.5)
        self.grid = self.pick([(1,), (2,), (3,), (2, 2), (1, 3), (1, 2, 2)])
        self.block_text = ["self.blockIdx.x", f"(self.blockIdx.x * {self.grid[-1]} + self.blockIdx.y)",
                           f"((self.blockIdx.x * {self.grid[1:2] and self.grid[1]} + self.blockIdx.y) * "
                           f"{self.grid[-1]} + self.blockIdx.z)"][len(self.grid) - 1]
        limit = self.pick([64, 256, 600, 600, 2100])
        self.shapes = [self.shape(limit) for _ in range(self.pick([1, 1, 2, 3]))]
        self.dot_shapes = [(self.pick([1, 8, 16, 16, 32, 33, 48, 64]), self.pick([1, 8, 8, 16, 32, 40, 64])) for _ in range(2)]
        for _ in range(self.pick([1, 2])):
            value = self.random.randrange(0, 6)
            name = self.param(value)
            self.scopes[0]["scalars"].append(Expression("int32", None, name, lambda env, v=value: v))
        self.blocks = [self.number(extent) for extent in self.grid]
        self.body = [self.statement() for _ in range(self.pick([2, 3, 4, 6, 8]))]
        self.body += [self.store() for _ in range(2)]

    def lines(self):
        arguments = [f"{name}: {kind}" for name, kind, _ in self.params]
        arguments += [f"{b.name}: ~{'uint16' if b.dtype == 'bfloat16' else b.dtype}" for b in self.buffers]
        yield f"class {self.name}(tilus.Script):"
        yield f"    def __call__(self, {', '.join(arguments)}):"
        yield f"        self.attrs.blocks = [{', '.join(self.blocks)}]"
        yield f"        self.attrs.warps = {self.warps}"
        for line in self.head:
            yield "        " + line
        yield from text_of(self.body, 2)
        yield ""

    def memory(self):
        """What the buffers hold before the call."""
        source = random.Random(self.name)
        return {b.name: [self.element(source, b) for _ in range(b.size)] for b in self.buffers}

    @staticmethod
    def element(source, buffer):
        kind = types.KIND[buffer.dtype]
        if kind == "bool":
            return source.random() < 0.5
        if buffer.small:
            return types.FIT[buffer.dtype](source.randrange(0 if kind == "uint" else -3, 4))
        if kind == "float":
            return types.FIT[buffer.dtype](source.uniform(-8, 8))
        bits = types.BITS[buffer.dtype] if source.random() < 0.5 else 5
        return types.FIT[buffer.dtype](source.getrandbits(bits) - (source.random() < 0.5) * 16)

    def expected(self):
        """What they hold after it."""
        memory = self.memory()
        for number, block in enumerate(product(*map(range, self.grid))):
            run_all(self.body, {"memory": memory, "block": block, "number": number})
        return memory


def run_all(statements, env):
    for statement in statements:
        statement.run(env)


def text_of(statements, depth):
    for statement in statements:
        for line in statement.lines:
            yield "    " * depth + line
        for i, body in enumerate(statement.bodies):
            if i == 1 and not body:
                continue
            if i == 1:
                yield "    " * depth + "else:"
            yield from text_of(body, depth + 1)
            if hasattr(statement, "tail"):
                yield "    " * (depth + 1) + statement.tail
            elif not body:
                yield "    " * (depth + 1) + "pass"
