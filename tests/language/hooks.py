# Special methods that change what is being looked at, fail, or answer with what they may not; calls of methods through their class; what is nested too deeply.


def kind(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


# ---- methods through their class ----

print(str.upper("ab"), list.index([3, 4], 4), dict.get({1: 2}, 1), dict.get({}, 1, 5), int.bit_length(True))
print(kind(lambda: str.upper([1])), kind(lambda: dict.get([1, 2], 3)), kind(lambda: list.append((1,), 2)))
print(kind(lambda: str.format()), kind(lambda: str.isdigit(5)), kind(lambda: set.add({}, 1)), kind(lambda: list.pop("ab")))


# ---- __index__ ----

items = [1, 2, 3]


class Clears:
    def __index__(self):
        items.clear()
        return 1


class One:
    def __index__(self):
        return 1


def get():
    return items[Clears()]


def put():
    items[Clears()] = 5


def take():
    return items.pop(Clears())


for function in [get, put, take]:
    items[:] = [1, 2, 3]
    print(kind(function), items)
items = [1, 2, 3]
print(items.pop(One()), items, items.pop(-1), items, kind(lambda: [].pop()), kind(lambda: [1].pop(1)), kind(lambda: [1].pop("a")))


# ---- __eq__, __lt__, __hash__ ----


class Empties:
    def __init__(self, *lists):
        self.lists = lists

    def __eq__(self, other):
        for each in self.lists:
            each.clear()
        return False

    def __lt__(self, other):
        return True


left, right = [], []
left.append(Empties(left, right))
right.append(5)
print(left < right, left, right)


def matched(value):
    match value:
        case [1, 2, x]:
            return x
        case _:
            return "no"


class ClearsOne:
    def __init__(self, target):
        self.target = target

    def __eq__(self, other):
        self.target.clear()
        return True


target = [1]
target.append(ClearsOne(target))
target.append(7)
print(matched(target), target)

table = {}
left_to_add = [0]


class Adds:
    def __hash__(self):
        while left_to_add[0] > 0:
            left_to_add[0] -= 1
            table[100 + left_to_add[0]] = 1
        return 1

    def __eq__(self, other):
        return self is other


kept = [Adds() for _ in range(30)]
for i in range(30):
    table[kept[i]] = i
left_to_add[0] = 40
one = Adds()
table[one] = "one"
print(len(table), table[one], table[kept[7]], table[100], table[139], 140 in table)


# ---- __bool__, __len__ ----


class Is:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


class Long:
    def __init__(self, value):
        self.value = value

    def __len__(self):
        return self.value


print(bool(Is(True)), bool(Is(False)), kind(lambda: bool(Is(1))), kind(lambda: not Is(Is(True))), kind(lambda: bool(Is(None))))
print(bool(Long(0)), bool(Long(3)), kind(lambda: bool(Long(1.0))), kind(lambda: bool(Long(Long(1)))))


# ---- __next__ ----


class Stop(StopIteration):
    pass


class Counts:
    def __init__(self, last, error):
        self.at, self.last, self.error = 0, last, error

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        print("next", self.at)
        if self.at > self.last:
            raise self.error("over")
        return self.at


def total(counts):
    return sum(x for x in counts)


print(total(Counts(2, StopIteration)), total(Counts(2, Stop)))
failing = Counts(1, ValueError)
print(kind(lambda: [x for x in failing]), failing.at)
print(next(Counts(0, Stop), "none"), next(Counts(1, Stop), "none"), kind(lambda: next(Counts(0, Stop))), kind(lambda: next(Counts(0, KeyError), 1)))


# ---- __set_name__ ----


class Names:
    def __set_name__(self, owner, name):
        print("set", name)
        setattr(owner, name + "x", Names())


class Named:
    a = Names()


print(hasattr(Named, "ax"), hasattr(Named, "axx"))

# ---- ranges to the ends of what they hold ----

wide = range(-9223372036854775807 - 1, 9223372036854775807, 4611686018427387904)
print(len(wide), [x for x in wide], list(wide), wide[0], wide[3], wide[-1], wide[1:3], kind(lambda: wide[4]))
down = range(9223372036854775807, -9223372036854775807 - 1, -9223372036854775807)
print(len(down), list(down), [x for x in down], down[2], down[-3])

# ---- chains ----

print(1 and 2 and 3, 1 and 0 and 2, 0 or None or 4, 1 < 2 < 3, 1 < 3 < 2 < 4, 1 < 2 > 0 != 5)


def deep(count):
    value = int
    for _ in range(count):
        value = (value,)
    return value


print(isinstance(1, deep(20)), issubclass(int, (str, (float, (int,)))), isinstance("a", (int, (float, list))))


def f(*given):
    return given


class Holder:
    pass


method = f
for i in range(5):
    Holder.x = classmethod(method)
    method = Holder.x
print(len(method(1, 2)), method(1, 2)[-2:], method()[0] is Holder)
bases = tuple(type("Base", (), {"n": i}) for i in range(50))
whole = type("Whole", bases, {})
print(len(whole.__mro__), whole.__mro__[1] is bases[0], whole.n, kind(lambda: type("A", (bases[0], whole), {})))


class Backwards:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return self.n > other.n

    def __repr__(self):
        return f"B{self.n}"


print([Backwards(1)] < [Backwards(2)], (1, Backwards(3)) < (1, Backwards(2)), sorted([(0, Backwards(n)) for n in [2, 1, 3]]))
print([1, 2] <= [1, 2], [1, [2, 3]] < [1, [2, 4]], (1, "a") > (1, "B"), [1] < [1, 0], kind(lambda: [1, "a"] < [1, 2]), kind(lambda: [1] < (2,)))
itself, other = [], []
itself.append(other)
other.append(itself)
print(kind(lambda: itself < other))


# ---- a list is iterated over as it is by then ----

work = [3, 1]
for n in work:
    if n > 0:
        work.append(n - 1)
print(work)
print(list(map(lambda _: work.pop(), work)), work)
numbers = [1, 2, 3, 4, 5, 6]
for n in numbers:
    if n % 2 == 0:
        numbers.remove(n)
    numbers[-1] = 7
print(numbers, [(numbers.pop(), i) for i, n in enumerate(numbers)], numbers)
steps = iter(numbers)
numbers.append(8)
print(list(steps), next(steps, None), numbers.append(9), next(steps, None))
