# Exceptions, loops with else, match, closures, global and nonlocal, recursion.
def attempt(function):
    try:
        return function()
    except ZeroDivisionError:
        return "zero"
    except (KeyError, IndexError) as error:
        return type(error).__name__
    except ValueError as error:
        return f"value {error}"
    except Exception as error:
        return "other " + type(error).__name__
    finally:
        log.append("f")


class Mine(ValueError):
    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code


def fail(error):
    raise error


log = []
print(attempt(lambda: 1 // 0), attempt(lambda: {}["a"]), attempt(lambda: [][3]), attempt(lambda: fail(ValueError("bad"))), attempt(lambda: fail(Mine(7))), attempt(lambda: fail(RuntimeError)), attempt(lambda: None + 1), attempt(lambda: 5), len(log))
try:
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise ValueError("outer") from error
except ValueError as error:
    print("caught", error, repr(error), error.args)
else:
    print("never")
try:
    assert 1 == 2, "message"
except AssertionError as error:
    print("assertion", error)
try:
    x = 1
except ValueError:
    print("never")
else:
    print("else")
finally:
    print("finally")
try:
    import no_such_module_here
except ImportError:
    print("no module")
try:
    undefined_name
except NameError:
    print("no name")


def early():
    for i in range(5):
        try:
            if i == 2:
                return i
        finally:
            log.append(i)


print(early(), log)
for i in range(3):
    if i == 5:
        break
else:
    print("no break")
for i in range(3):
    if i == 1:
        continue
    if i == 2:
        break
else:
    print("never")
n = 10
while n > 0:
    n -= 3
else:
    print("done", n)
while True:
    n += 1
    if n > 3:
        break
print(n)


def kind(value):
    match value:
        case 0:
            return "zero"
        case 1 | 2:
            return "small"
        case int(x) if x > 100:
            return f"big {x}"
        case str():
            return "text"
        case []:
            return "empty"
        case [x]:
            return f"one {x}"
        case [x, *rest]:
            return f"{x} and {rest}"
        case {"a": x, **rest}:
            return f"dict {x} {rest}"
        case None:
            return "none"
        case True:
            return "true"
        case _:
            return "other"


print([kind(v) for v in [0, 2, 500, "a", [], [1], [1, 2, 3], {"a": 1, "b": 2}, None, 7.5, (1, 2)]])


def counter():
    count = 0
    def step(by=1):
        nonlocal count
        count += by
        return count
    return step


c = counter()
print(c(), c(5), c())
total = 0
def add(x):
    global total
    total += x
    return total
print(add(2), add(3), total)
functions = [lambda x, i=i: x + i for i in range(3)]
print([function(10) for function in functions])
def factorial(n): return 1 if n < 2 else n * factorial(n - 1)
print(factorial(15), (lambda *a, **k: (a, k))(1, 2, z=3))
def positional(a, b, /, c, *, d=4): return a, b, c, d
print(positional(1, 2, c=3), positional(1, 2, 3, d=5))
def outer():
    value = "outer"
    def inner():
        return value
    value = "changed"
    return inner()
print(outer(), [0, 1][True], "yes" if 1 in (1,) else "no")
class Manager:
    def __enter__(self):
        log.append("enter")
        return self
    def __exit__(self, *exception):
        log.append("exit")
with Manager() as m:
    log.append("body")
print(log[-3:], isinstance(m, Manager))
a, b = 1, 2
a, b = b, a
print(a, b)
del a
print("a" in dir() if False else "deleted")
