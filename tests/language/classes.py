# Classes, inheritance, properties, decorators, dataclasses, enums, named tuples.
from dataclasses import dataclass, field, replace, asdict, astuple, FrozenInstanceError
from enum import Enum, IntEnum, auto
from typing import NamedTuple
from collections import namedtuple
import functools


class Base:
    kind = "base"
    count = 0

    def __init__(self, x=1):
        self.x = x
        Base.count += 1

    def hello(self):
        return f"base {self.x}"

    @classmethod
    def make(cls, x):
        return cls(x)

    @staticmethod
    def twice(x):
        return x * 2

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, value):
        self.x = value // 2


class Left(Base):
    def hello(self):
        return "left " + super().hello()


class Right(Base):
    kind = "right"

    def hello(self):
        return "right " + super().hello()


class Both(Left, Right):
    def __init__(self, x, *, y=2, **more):
        super().__init__(x)
        self.y = y
        self.more = more

    def hello(self):
        return "both " + super().hello()

    def __repr__(self):
        return f"Both({self.x}, {self.y})"

    def __eq__(self, other):
        return isinstance(other, Both) and self.x == other.x

    def __add__(self, other):
        return Both(self.x + other.x)

    def __len__(self):
        return self.y

    def __getitem__(self, index):
        return self.x + index

    def __contains__(self, item):
        return item == self.x

    def __call__(self, z):
        return self.x * z

    def __iter__(self):
        yield self.x
        yield self.y


b = Both(3, z=5)
print(b.hello(), b, b.more, b.kind, [c.__name__ for c in Both.__mro__], Base.count)
print(b == Both(3), b != Both(4), b + b, len(b), b[10], 3 in b, 4 in b, b(5), list(b), bool(b))
b.double = 20
print(b.double, b.x, Both.make(7), Base.twice(4), b.twice(3), isinstance(b, Right), issubclass(Both, Left), type(b).__name__)
print(hasattr(b, "x"), hasattr(b, "nope"), getattr(b, "y"), getattr(b, "nope", 9))
setattr(b, "new", 1); print(b.new); del b.new; print(hasattr(b, "new"))


def trace(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return ("traced", function(*args, **kwargs))
    return wrapper


def times(n):
    def decorate(function):
        return lambda *args: function(*args) * n
    return decorate


class Memo:
    def __init__(self, function):
        self.function = function
        self.seen = {}

    def __call__(self, x):
        if x not in self.seen:
            self.seen[x] = self.function(x)
        return self.seen[x]


@trace
def f(a, b=2, *args, c, d=4, **kwargs):
    return a, b, args, c, d, kwargs


@times(3)
def g(x):
    return x + 1


@Memo
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(f(1, c=3), f(1, 2, 5, 6, c=3, e=7), f(*[1, 2], **{"c": 1}), f.__name__, g(4), fib(30))


@dataclass
class Point:
    x: int
    y: int = 2
    tags: list = field(default_factory=list)


@dataclass(frozen=True, order=True)
class Key:
    a: int
    b: str = "z"

    def label(self):
        return f"{self.a}{self.b}"


@dataclass
class Point3(Point):
    z: int = 9

    def __post_init__(self):
        self.total = self.x + self.y + self.z


p, q = Point(1), Point(1, 2)
p.tags.append("t")
print(p, q, p == q, Point(1) == q, Point(y=5, x=4), Point3(1, z=3), Point3(1).total, asdict(p), astuple(q), replace(q, x=8))
k = Key(1)
print(k, k < Key(2), k == Key(1, "z"), k.label(), sorted([Key(2), Key(1, "a")]))
try:
    k.a = 5
except FrozenInstanceError as error:
    print("frozen", error)


class Color(Enum):
    RED = 1
    GREEN = 2
    ALIAS = 1


class Level(IntEnum):
    LOW = auto()
    HIGH = auto()


print(Color.RED, Color.RED.name, Color.GREEN.value, Color(2), Color["RED"], [c.name for c in Color], Color.ALIAS is Color.RED, len(Color), Color.RED == Color.GREEN, repr(Color.RED))
print(Level.HIGH > Level.LOW, Level.HIGH + 1, int(Level.LOW), [level.value for level in Level])


class Pair(NamedTuple):
    left: int
    right: int = 5


Size = namedtuple("Size", "w h")
pair = Pair(1)
x, y = pair
print(pair, x, y, pair[0], pair.right, len(pair), pair == (1, 5), Size(2, 3), Size(w=1, h=2).h, pair._replace(left=9))


def with_defaults(a, b=2, c="c"):
    return a


print(with_defaults.__defaults__, (lambda x: x).__defaults__, (lambda x=1: x).__defaults__)
