# What programs use of functools, collections, contextlib and inspect, and what dicts, texts and objects say for themselves.
import contextlib
import functools
import inspect
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from functools import cached_property


def attempt(function):
    try:
        print(function())
    except Exception as e:
        print(type(e).__name__, e)


class Cached:
    def __init__(self):
        self.computed = 0

    @cached_property
    def parts(self):
        self.computed += 1
        return [self.computed]


c = Cached()
print(c.parts, c.parts, c.parts is c.parts, c.computed)
c.parts.append(4)
print(c.parts, Cached().parts, isinstance(Cached.parts, cached_property))
c.parts = 7
print(c.parts)
del c.parts
print(c.parts, c.computed)


class Plain:
    pass


o = Plain()
o.a = 1
kept = o.__dict__
o.__dict__["b"] = 2
print(o.b, o.__dict__, vars(o) is kept)
o.__dict__.update({"c": 3}, d=4)
o.e = 5
print(o.c, o.d, kept, kept["e"], o.__dict__.setdefault("a", 9), o.__dict__.setdefault("f", 6), o.f)
del o.__dict__["b"]
del o.c
print(hasattr(o, "b"), kept, o.__dict__.pop("d"), hasattr(o, "d"), {**vars(o)}, dict(o.__dict__, a=0), o.a)
o.__dict__.clear()
print(vars(o), hasattr(o, "a"))

d = {"a": 1}
for wrong in (lambda: d["q"], lambda: d[3], lambda: d[(1, "2")], lambda: d.pop("q"), lambda: {}.popitem(), lambda: {1}.remove(2), lambda: "{x}".format(y=1)):
    attempt(wrong)


def replace(step, items):
    numbers = [1, 2, 3, 4]
    numbers[::step] = items
    return numbers


def remove(piece):
    numbers = list(range(10))
    del numbers[piece]
    return numbers


for items in ([1, 2, 3], [1], [0, 0]):
    attempt(lambda: replace(2, items))
print([remove(piece) for piece in (slice(None, None, 2), slice(None, None, -3), slice(7, 1, -2), slice(3, 6), slice(5, 2), slice(1, None, 20))])

d.update(b=2)
d.update([("c", 3), "de"], f=4)
d.update({"a": 0}, g=5)
d.update()
print(d, dict.fromkeys("abc"), dict.fromkeys([1, 2], 0), dict([("x", 1)], y=2), dict({"x": 1}, x=3), list(map(str.upper, "ab")))
print("aaaa".replace("a", "b", 2), "aaaa".replace("a", "b", -1), "aaaa".replace("a", "b", 0), "abé".replace("", "-", 2), "abé".replace("", "-"), "".replace("", "x"))
print("aBc1".swapcase(), "ABc".casefold(), "a\tbc\td".expandtabs(), "a\tbc\td".expandtabs(4), "a\n\tb".expandtabs(4), "a\tb".expandtabs(0))

lists = defaultdict(list)
lists["a"].append(1)
lists["a"].append(2)
print(lists["b"], lists == {"a": [1, 2], "b": []}, dict(lists), "z" in lists, len(lists), lists.get("q"), list(lists))
counts = defaultdict(int, {"a": 5}, b=2)
counts["x"] += 3
print(sorted(counts.items()), [key for key in counts])
attempt(lambda: defaultdict(None)["a"])
letters = Counter("abracadabra")
print(letters, letters["a"], letters["z"], "z" in letters, letters.most_common(2), letters.total(), sorted(letters.elements()))
letters.update("aaa")
letters.subtract({"a": 2})
print(letters["a"], Counter(a=1, b=2) + Counter(a=3), Counter(a=3, b=1) - Counter(a=1, b=4), Counter(a=1) & Counter(a=5), Counter(a=1) | Counter(a=5), Counter())
q = deque([1, 2, 3])
q.append(4)
q.appendleft(0)
print(q, q.pop(), q.popleft(), q, len(q), q[0], q[-1], list(q))
q.rotate(1)
print(q)
q.rotate(-2)
q.extend([7, 8])
q.extendleft([9, 10])
print(q, 2 in q, q.count(2), q == deque([1]))
q = deque(maxlen=2)
q.extend([1, 2, 3])
print(q, q.maxlen, bool(deque()), [each for each in q])
attempt(lambda: deque().popleft())
o = OrderedDict(a=1, b=2)
o["c"] = 3
o.move_to_end("a")
print(list(o.items()), o.popitem(), o.popitem(last=False), o == {"c": 3}, len(o))
Point = namedtuple("Point", "x y", defaults=[7])
p = Point(1)
x, y = p
print(p, x, y, p[1], p._replace(x=5), p._asdict(), Point._fields, Point._field_defaults, p == (1, 7))


@contextlib.contextmanager
def around(x):
    print("in", x)
    try:
        yield x * 2
    finally:
        print("out", x)


with around(3) as v:
    print(v)


def fails():
    with around(4), around(5):
        raise ValueError("inside")


attempt(fails)


def leaves():
    for i in range(3):
        with around(i):
            if i == 1:
                return i


print(leaves())


@around(9)
def decorated():
    print("body")


decorated()
with contextlib.nullcontext(5) as n, contextlib.nullcontext():
    print(n)


class Closed:
    def close(self):
        print("closed")


with contextlib.closing(Closed()):
    print("open")
print(issubclass(KeyError, (ValueError, LookupError)), issubclass(KeyError, (ValueError, (IndexError,))), issubclass(KeyError, ()))


class Noisy:
    def __init__(self, name, swallow=False, fault=None):
        self.name, self.swallow, self.fault = name, swallow, fault

    def __enter__(self):
        print("enter", self.name)
        return self.name

    def __exit__(self, kind, exception, trace):
        print("exit", self.name, kind.__name__ if kind else None, exception)
        if self.fault:
            raise self.fault
        return self.swallow


def suppressed(kinds, fault):
    with contextlib.suppress(*kinds):
        fault()
        print("not reached")
    return "after"


def raising(exception):
    raise exception


for kinds, fault in (((KeyError,), lambda: d["q"]), ((LookupError,), lambda: [][1]), ((ValueError, TypeError), lambda: int("x")),
                     ((ValueError,), lambda: raising(KeyError("k"))), ((KeyError,), lambda: OrderedDict().popitem()), ((AttributeError,), lambda: o.nothing)):
    attempt(lambda: suppressed(kinds, fault))


def stacked(fault, *contexts):
    with contextlib.ExitStack() as stack:
        stack.callback(print, "called", 1, end=".\n")
        for context in contexts:
            print(stack.enter_context(context))
        stack.push(Noisy("pushed"))
        stack.push(lambda kind, exception, trace: print("function", exception))
        if fault:
            raise fault
        return "done"
    return "swallowed"


attempt(lambda: stacked(None, Noisy("a"), Noisy("b", True)))
attempt(lambda: stacked(ValueError("v"), Noisy("a"), Noisy("b", True), Noisy("c")))
attempt(lambda: stacked(ValueError("v"), Noisy("a"), Noisy("b")))
attempt(lambda: stacked(None, Noisy("a"), Noisy("b", fault=KeyError("late"))))
attempt(lambda: stacked(ValueError("v"), Noisy("a", True), Noisy("b", fault=TypeError("late"))))
stack = contextlib.ExitStack()
stack.enter_context(Noisy("moved"))
moved = stack.pop_all()
stack.close()
print("still open")
moved.close()

numbers = {1, 2, 3}
taken = sorted(numbers.pop() for _ in range(3))
print(taken, numbers)
attempt(lambda: set().pop())
numbers = {1, 2, 3, 4}
numbers.intersection_update([1, 2, 3], {3, 2})
print(sorted(numbers))
numbers.difference_update([2])
numbers.symmetric_difference_update({3, 5})
print(sorted(numbers))


# ---- names for annotations ----

from collections.abc import Callable, Mapping, Sequence


def first_of(x: Sequence[int], change: Callable[[int], int], names: Mapping[str, int] | None = None) -> int:
    return change(x[0])


print(first_of([2], lambda x: x + 1))


# ---- inspect: the names of what a function takes ----


def takes(first, second=2, third=None):
    return first


print(list(inspect.signature(takes).parameters), next(iter(inspect.signature(takes).parameters)) == "first")
print([each.name for each in inspect.signature(takes).parameters.values()])

# What annotations and decorators use of typing and inspect.
from typing import Any, Concatenate, Generic, Mapping, ParamSpec, Protocol, Self, SupportsIndex, TypeVar, overload, runtime_checkable

Item, Given = TypeVar("Item"), ParamSpec("Given")


@runtime_checkable
class Shaped(Protocol):
    def size(self) -> int: ...


class Box(Shaped, Generic[Item]):
    @overload
    def size(self, scale: SupportsIndex) -> int: ...

    def size(self, scale: SupportsIndex = 1) -> int:
        return 5 * scale

    def same(self, other: Mapping[str, Any] | None = None) -> Self:
        return self


print(Box().size(), Box().same().size(2), isinstance(Box(), Shaped))


def takes(a, b=2, /, c=3, *more, d, e=[5], **named):
    pass


for parameter in inspect.signature(takes).parameters.values():
    is_free = parameter.default is inspect.Parameter.empty
    print(parameter.name, str(parameter.kind), is_free, None if is_free else parameter.default, parameter.kind == inspect.Parameter.KEYWORD_ONLY,
          parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD), parameter.kind == inspect.Parameter.VAR_POSITIONAL)


# A cached function gives what it gave, whatever that is, and runs once.
made = []


@functools.lru_cache(maxsize=None)
def maker(n, kind):
    made.append(n)
    return lambda x: kind(x + n)


class Times:
    def __init__(self, by):
        self.by = by

    @functools.cache
    def listed(self, n):
        made.append(("listed", n))
        return [self.by * n]


print(maker(1, int) is maker(1, int), maker(1, int) is maker(1, float), maker(1, kind=int)(2), made)
two, three = Times(2), Times(3)
print(two.listed(3) is two.listed(3), two.listed(3), three.listed(3), made)
maker.cache_clear()
print(maker(1, int)(5), len(made))
