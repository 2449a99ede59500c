# What classes may define for themselves, and what the language says around them.
import dataclasses
import enum
from functools import cache, lru_cache, wraps


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y) if isinstance(other, Vector) else NotImplemented

    def __radd__(self, other):
        return Vector(self.x + other, self.y + other)

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y) if isinstance(other, Vector) else NotImplemented

    def __abs__(self):
        return abs(self.x) + abs(self.y)

    def __float__(self):
        return float(self.x)

    def __index__(self):
        return self.x

    def __str__(self):
        return "a vector"

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"

    def __format__(self, spec):
        return f"<{spec}>"


class Reverse:
    def __radd__(self, other):
        return ("reverse", other)


v, w = Vector(1, 2), Vector(-3, 4)
print(v + w, 5 + v, v == Vector(1, 2), v != w, v == 1, v != 1, abs(w), float(w), [10, 20, 30][v], "abc"[v])
print(str(v), f"{v}", f"{v:abc}", f"{v!s:>10}|", f"{v!r}", "%s %r" % (v, v), "{} {!s} {!r:>14} {:x}".format(v, v, v, v), format(v, "q"))
print(v + Reverse())
for wrong in (lambda: v + "a", lambda: v + 1):
    try:
        print(wrong())
    except TypeError:
        print("no such operator")


class Doubled:
    """A descriptor: what is set is stored twice as large."""

    def __set_name__(self, owner, name):
        self.name = name
        self.owner = owner.__name__

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, "_" + self.name, "unset")

    def __set__(self, instance, value):
        setattr(instance, "_" + self.name, value * 2)


class Holder:
    width = Doubled()
    height = Doubled()


h = Holder()
print(h.width)
h.width, h.height = 4, "ab"
print(h.width, h.height, Holder.width.name, Holder.height.owner)


class Dynamic:
    known = 1

    def __getattr__(self, name):
        if name.startswith("dyn"):
            return name.upper()
        raise AttributeError(name)


d = Dynamic()
print(d.dyn_x, d.known, hasattr(d, "other"), getattr(d, "other", 5), getattr(d, "dynamo", 5))
try:
    getattr(d, "other")
except AttributeError as e:
    print("none:", e)


class Context:
    def __init__(self, catches):
        self.catches = catches

    def __enter__(self):
        print("enter")
        return self

    def __exit__(self, kind, exception, trace):
        print("exit", None if kind is None else kind.__name__, exception)
        return self.catches


with Context(True) as c, Context(False):
    print("inside", c.catches)
    raise ValueError("caught")
try:
    with Context(False):
        raise KeyError("missing")
except KeyError as e:
    print("passed on", e)


def leaves(way):
    for i in range(3):
        with Context(True):
            if way == "return":
                return i
            if way == "break":
                break
            if way == "continue":
                continue
            1 / 0
    return "end"


print([leaves(way) for way in ("return", "break", "continue", "raise")])


class Failure(Exception):
    def __init__(self, number):
        super().__init__(f"failure {number}")
        self.number = number


try:
    try:
        raise Failure(3)
    except Failure as e:
        raise RuntimeError("wrapped") from e
except RuntimeError as e:
    print(e, "from", e.__cause__, e.__cause__.number, ValueError("x").__cause__)


def takes(a, *, b=0, **rest):
    return a, b, rest


for call in (lambda: takes(1, b=2, **{"b": 3}), lambda: takes(1, **{"c": 1}, **{"c": 2}), lambda: takes(**{"a": 1}, b=2, **{"c": 3})):
    try:
        print(call())
    except TypeError:
        print("given twice")


def inner():
    yield 1
    yield 2
    return "returned"


def outer():
    result = yield from inner()
    yield result
    yield from [3, 4]
    print("then", (yield from ()))


print(list(outer()))


def walrus(numbers):
    squares = [last := n * n for n in numbers]
    return squares, last, any((found := n) > 2 for n in numbers), found


print(walrus([1, 2, 3, 4]))

made = []


@lru_cache(maxsize=None)
def fibonacci(n):
    made.append(n)
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@cache
def pair(x, y=0):
    made.append((x, y))
    return x, y


print(fibonacci(50), len(made), fibonacci.__name__)
print(pair(1), pair(1), pair(1, 2), pair(1, y=2), pair(1.0), len(made))


def traced(function):
    @wraps(function)
    def call(*args, **named):
        return function(*args, **named)

    return call


@traced
def documented():
    """What it does."""


print(documented.__name__, f"{65:c}{8364:c}")
print(len(range(0, 10**12, 3)), len(range(-2, -2147483646, -48)), len(range(5, 5)), len(range(3, 9, -1)), 7 in range(10**15), 8 in range(1, 10**15, 3))
print(-5 in range(10, -10, -5), -10 in range(10, -10, -5), 11 in range(10, -10, -5), len(range(-2**62, 2**62, 2**61)))
print(range(0, 4, 2) == range(0, 3, 2), range(0) == range(2, 1), range(1, 2, 5) == range(1, 2, 7), range(3) == range(4), range(3) == [0, 1, 2])
print({range(0, 4, 2): 1}.get(range(0, 3, 2)), bool(range(10**15)), bool(range(3, 3)), range(1, 4) in [range(3), range(1, 4, 1)])
things, others = [], []
print(things.append == others.append, things.append == things.append)
print([issubclass(a, b) for a in (bool, int, str, list) for b in (int, object, (str, bool), list)])


# What is equal is so wherever it lies: in lists, tuples, dicts and sets, as a key, and through __hash__.
class Version:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Version) and self.number == other.number

    def __hash__(self):
        return hash(("version", self.number))

    def __repr__(self):
        return f"v{self.number}"


one = [Version(1), Version(2), Version(2)]
print(Version(2) in one, one.index(Version(2)), one.count(Version(2)), one == [Version(1), Version(2), Version(2)])
print((Version(1), 2) == (Version(1), 2), {"a": Version(1)} == {"a": Version(1)}, [[Version(1)]] != [[Version(1)]])
print(len({Version(1), Version(1), Version(2)}), {Version(k % 40): k for k in range(100)}[Version(3)], {Version(1): 0} == {Version(1): 0})
table = {Version(1): "a"}
table[Version(1)] = "b"
print(table, table.get(Version(1)), table.pop(Version(1)), table, {Version(1), Version(2)} & {Version(2)}, {Version(1)} <= {Version(1)})
one.remove(Version(2))
print(one)


@dataclasses.dataclass(frozen=True)
class Tiling:
    rows: int
    columns: int = 4


@dataclasses.dataclass
class Group:
    items: list


made = {}
for tiling in (Tiling(1), Tiling(2), Tiling(1, 4), Tiling(1)):
    if tiling not in made:
        made[tiling] = len(made)
print(made, hash(Tiling(1)) == hash(Tiling(1, 4)), {(Tiling(1), 2): 3}.get((Tiling(1), 2)))
print(Group([Group([Tiling(1)])]) == Group([Group([Tiling(1)])]), Group([]) in (Group([]),), Group([1]) == Group([2]))
print(hash(3) == hash(3.0), hash("a") == hash("a"), hash((1, "b")) == hash((1, "b")))
try:
    hash([1])
except TypeError:
    print("no hash")


class Order(str, enum.Enum):
    ROW = "row"
    COLUMN = "column"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = enum.auto()


class Name(enum.StrEnum):
    FIRST = enum.auto()
    SECOND = "other"


print(Order.ROW == "row", "row" == Order.ROW, Order.ROW != "row", Order.ROW in ("row", "x"), {"row": 1}.get(Order.ROW), {Order.ROW: 2}["row"])
print(Order.ROW.upper(), Order.ROW + "s", "a " + Order.ROW, len(Order.ROW), isinstance(Order.ROW, str), issubclass(Order, str), Order("row") is Order.ROW)
print(Order.ROW, f"{Order.ROW}", repr(Order.ROW), "%s" % Order.ROW, Order.ROW == Order.COLUMN, Order.ROW < "s")
print(Level.HIGH, f"{Level.HIGH:>3}", Level.HIGH == 2, {2: "x"}[Level.HIGH], Level.HIGH in (2, 3), [0, 1, 2][Level.HIGH], isinstance(Level.HIGH, int))
print(-Level.HIGH, Level.HIGH // 2, 7 % Level.HIGH, 2 ** Level.HIGH, Level.HIGH << 2, Level.HIGH | Level.LOW, 5 - Level.HIGH, Level.HIGH / 4, bool(Level.LOW), Level.LOW < Level.HIGH)
print(Name.FIRST, f"{Name.SECOND:>6}", Name.FIRST == "first", Name("other"), repr(Name.FIRST))


class Broken:
    def __eq__(self, other):
        raise ValueError("not to be compared")

    def __hash__(self):
        return 1


def attempted(function):
    try:
        return function()
    except ValueError as error:
        return f"refused: {error}"


print(attempted(lambda: Broken() in [1, Broken()]), attempted(lambda: [Broken()] == [Broken()]), attempted(lambda: [Broken()].index(Broken())))
print(attempted(lambda: {Broken(): 1}[Broken()]), attempted(lambda: {Broken(): 1}.get(Broken())), attempted(lambda: Broken() in (1, 2)), attempted(lambda: 3 in [1, 2, 3]))


class Planet(enum.Enum):
    EARTH = (6.0, 2.0)
    MARS = (1.0, 4.0)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    def gravity(self):
        return self.mass / self.radius


print(Planet.EARTH.value, Planet.MARS.mass, Planet.EARTH.gravity(), Planet((1.0, 4.0)), Planet.EARTH in {Planet.EARTH: 1})


# ---- types that are joined ----

Pair = list | tuple | int
Numbers = list[float] | tuple[float, float]
print([isinstance(x, Pair) for x in ([1.0], (1.0, 2.0), 3, "a", None)], isinstance({}, dict | set))
