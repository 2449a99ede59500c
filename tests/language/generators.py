# Generators and iterators give their items when they are asked for.
import itertools
from functools import reduce


def numbers(start=0):
    print("begin", start)
    while True:
        yield start
        start += 1


def primes():
    known = []
    for n in itertools.count(2):
        if all(n % p for p in known):
            known.append(n)
            yield n


def walk(tree):
    if isinstance(tree, tuple):
        for branch in tree:
            yield from walk(branch)
    else:
        yield tree


def noisy(items):
    for item in items:
        print("give", item)
        yield item
    print("end")


class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        n = self.start
        while n > 0:
            yield n
            n -= 1


class Steps:
    def __init__(self, stop):
        self.place, self.stop = 0, stop

    def __iter__(self):
        return self

    def __next__(self):
        if self.place == self.stop:
            raise StopIteration
        self.place += 1
        return self.place


def fails():
    yield 1
    raise ValueError("no more")


def main():
    g = numbers(5)
    print("made")
    print(next(g), next(g), next(g))
    for n in numbers():
        if n > 3:
            break
        print(n)
    print(list(itertools.islice(primes(), 10)))
    print(list(itertools.islice(numbers(1), 2, 12, 3)))
    print(list(zip("abc", numbers(10))), list(zip(numbers(3), "xy")))
    print([x for x in walk((1, (2, (3, 4)), 5))])
    print(list(itertools.takewhile(lambda x: x < 20, (x * x for x in itertools.count()))))
    squares = (x * x for x in noisy([1, 2, 3]))
    print("lazy")
    print(next(squares))
    print(list(squares), list(squares))
    print(any(x > 1 for x in noisy([1, 2, 3])), all(x > 1 for x in noisy([1, 2])))
    lazy = map(lambda x: print("mapped", x) or x + 1, [1, 2])
    print("before")
    print(next(lazy), next(lazy), next(lazy, "none"))
    for i, x in enumerate(numbers(7), start=1):
        if i == 3:
            print(i, x)
            break
    print(list(Countdown(3)), sum(Countdown(4)), 2 in Countdown(2), list(Steps(3)), max(Steps(5)))
    steps = Steps(4)
    print(next(steps), list(steps))
    it = iter([1, 2, 3, 4])
    print(next(it), list(zip(it, it)), next(it, "none"))
    a, b, *rest = (x for x in range(5))
    print(a, b, rest)
    print(list(itertools.chain(noisy("a"), "bc")), list(itertools.chain.from_iterable([[1], [2, 3]])))
    print(list(itertools.accumulate([1, 2, 3, 4])), list(itertools.accumulate([3, 1, 4], max)))
    print(list(itertools.accumulate([1, 2], initial=10)), list(itertools.pairwise("abcd")))
    print(list(itertools.islice(itertools.cycle("ab"), 5)), list(itertools.repeat(7, 3)))
    print(list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.compress("abcd", [1, 0, 1, 0])))
    print(list(itertools.dropwhile(lambda x: x < 3, [1, 3, 1])), list(itertools.filterfalse(None, [0, 1, 2])))
    print(list(filter(None, [0, 1, "", "x"])), list(filter(lambda x: x % 2, range(6))))
    print(reduce(lambda x, y: x * y, (x for x in range(1, 6))), dict(zip("ab", itertools.count(1))))
    print(sorted(x % 3 for x in range(5)), {x for x in (1, 1, 2)}, ",".join(str(x) for x in range(3)))
    try:
        for x in fails():
            print(x)
    except ValueError as error:
        print("caught", error)
    try:
        next(iter([]))
    except StopIteration:
        print("stopped")
    try:
        list(zip([1, 2], [3], strict=True))
    except ValueError:
        print("strict")
    nested = ((x, y) for x in range(3) for y in range(x) if (x + y) % 2)
    print(list(nested))
    gens = [(lambda k: (k * x for x in range(3)))(k) for k in range(3)]
    print([list(each) for each in gens])
    print(next((x for x in numbers() if x * x > 50), None))
    print([list(x) for _, x in itertools.groupby([1, 1, 2, 3, 3])])


main()
