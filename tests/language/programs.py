"""What whole programs do around their kernels."""
import logging
import sys
import time
import types
import warnings
import typing
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, field, fields, replace
from typing import ClassVar, Literal, get_args

logger = logging.getLogger(__name__)
warnings.filterwarnings("ignore", category=DeprecationWarning)


# ---- how objects are made ----

class Counted:
    made = []

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        cls.made.append((cls.__name__, args, kwargs))
        return self

    def __init__(self):
        super().__init__()
        self.a = 1

    def __setattr__(self, name, value):
        super().__setattr__(name, value + 1 if isinstance(value, int) else value)

    def __init_subclass__(cls, tag=None, **options):
        super().__init_subclass__(**options)
        cls.tag = tag


class Mixin:
    def __init__(self, b, *args, **options):
        self.b = b
        super().__init__(*args, **options)


class Both(Mixin, Counted, tag="x"):
    pass


class Single:
    only = None

    def __new__(cls):
        if cls.only is None:
            cls.only = object.__new__(cls)
            cls.only.calls = 0
        cls.only.calls += 1
        return cls.only


class Other:
    def __new__(cls, value):
        return f"made of {value}"

    def __init__(self, value):
        print("never called")


@dataclass(frozen=True)
class Frozen:
    n: int

    def __post_init__(self):
        object.__setattr__(self, "twice", 2 * self.n)


@dataclass
class Check:
    seen: ClassVar[list] = []
    limit: typing.ClassVar[int] = 3
    named: "ClassVar[int]" = 4
    name: str
    scale: InitVar[int] = 3
    _: KW_ONLY
    tags: list = field(default_factory=list)
    last: int = 0

    def __post_init__(self, scale):
        self.scaled = len(self.name) * scale


@dataclass(kw_only=True)
class Named:
    a: int = 1
    b: int = field(default=2)


check = Check("abc", 2, last=7)
Check.seen.append(check.name)
print(check, check.scaled, Check.seen, Check.limit, Check.named, [one.name for one in fields(Check)], asdict(check), Named(b=5))
print(replace(Check("x"), last=9, scale=1), Check.__match_args__, Named.__match_args__)


@dataclass(order=True)
class Level:
    n: int


try:
    print(Level(1) < Level(2), Level(1) < Named())
except TypeError:
    print("of another class")


class Tile(typing.NamedTuple):
    m: int
    n: int = 4


print([isinstance(Tile(3), kind) for kind in (tuple, (list, tuple), Tile, list)], isinstance((3, 4), Tile), issubclass(Tile, tuple), Tile(3) == (3, 4))
both = Both(5)
print(both.a, both.b, Both.tag, Counted.made, Frozen(3).twice)
print(Single() is Single(), Single().calls, Other(3))
space = types.SimpleNamespace(x=1, y="z")
space.w = [2]
print(space, space.x, vars(space), space == types.SimpleNamespace(x=1, y="z", w=[2]))
Mode = Literal["a", "b"]
print(Mode.__args__, get_args(Mode), [m for m in Mode.__args__ if m != "a"])


# ---- the module, the machine, the end ----

print(__doc__, __file__.endswith("programs.py"))
print(sys.version_info >= (3, 8), sys.maxsize, sys.byteorder, sys.platform == "win32", sys.argv[1:])
start = time.perf_counter()
time.sleep(0)
print(time.perf_counter() >= start, logger.isEnabledFor(logging.DEBUG), logger.name == __name__)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    warnings.warn("nobody hears this", stacklevel=2)


def ends(status):
    try:
        sys.exit(status)
    except ValueError:
        print("never")
    except SystemExit as end:
        return end.code, isinstance(end, Exception), isinstance(end, BaseException)


print(ends(None), ends(3), ends("gone"))


def main():
    try:
        print("last but one")
        return 0
    finally:
        print("last")


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    finally:
        print("behind it")
