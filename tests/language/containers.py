# Lists, tuples, dicts, sets, ranges, slices, comprehensions, generators.
a = [5, 3, 8, 1]
a.append(4); a.insert(1, 9); a.extend([7, 7])
print(a, len(a), a[0], a[-1], a[1:3], a[::-1], a[::2], a[-3:], a[5:1:-2], a.index(8), a.count(7))
a.remove(7); print(a, a.pop(), a.pop(0), a)
a.sort(); print(a); a.reverse(); print(a); a.sort(key=lambda v: -v, reverse=True); print(a)
a[1:3] = [10, 20, 30]; print(a); del a[0]; print(a); del a[1:2]; print(a); a[::2] = [0] * len(a[::2]); print(a)
b = a; c = a.copy(); b.append(99); print(a == b, a is b, a == c, a is c)
print([1, 2] + [3], [0] * 3, (1, 2) + (3,), (1,) * 2, 2 in [1, 2], 5 not in (1, 2), [1, 2] < [1, 3], (2,) > (1, 9))
print(sorted([3, 1, 2]), sorted("hello"), sorted([1, -2, 3], key=abs, reverse=True), list(reversed([1, 2, 3])))
d = {"a": 1, "b": 2}
d["c"] = 3; d.update({"a": 10}); print(d, d["a"], d.get("z"), d.get("z", 5), "b" in d, len(d), list(d), list(d.values()), list(d.items()))
print(d.pop("b"), d, d.setdefault("q", 7), d, {**d, "z": 1}, d | {"a": 0}, dict(x=1, y=2), dict([("k", 1)]), dict(zip("ab", [1, 2])))
for key, value in d.items():
    print(key, value)
del d["a"]; print(d, d == {"q": 7, "c": 3}, d.popitem(), d, d.copy())
s = {3, 1, 2}
s.add(5); s.discard(1); s.discard(100); print(sorted(s), 3 in s, len(s), sorted(s | {9}), sorted(s & {2, 3}), sorted(s - {2}), sorted(s ^ {2, 7}))
print({1, 2} <= {1, 2, 3}, {1, 2} == {2, 1}, {1} < {1}, set(), frozenset([1]), sorted(set("hello")), {1}.union([2]) == {1, 2}, {1}.isdisjoint({2}))
print([x * x for x in range(5)], [x for x in range(10) if x % 2 if x > 3], [(i, j) for i in range(2) for j in "ab"])
print({x: x * x for x in range(3)}, sorted({x % 3 for x in range(10)}), tuple(x + 1 for x in [1, 2]), sum(x for x in range(5)))
print([[i * j for j in range(3)] for i in range(3)], [y for x in [[1], [2, 3]] for y in x])
print(list(range(5)), list(range(2, 10, 3)), list(range(5, 0, -2)), range(3), range(1, 9, 2), len(range(10)), range(10)[3], range(10)[2:8:2], 4 in range(0, 10, 2))
first, *rest = [1, 2, 3]; *front, last = (4, 5, 6); p, *q, r = "abcd"; (x, y), z = (1, 2), 3
print(first, rest, front, last, p, q, r, x, y, z)
print([*range(3), *"ab"], (*[1], 2), {*[1, 1]}, [1, *[], 2])
print(list(zip([1, 2, 3], "ab")), list(enumerate("ab", 1)), list(map(lambda v: v + 1, [1, 2])), list(map(lambda v, w: v * w, [1, 2], [3, 4])), list(filter(None, [0, 1, 2])), list(filter(lambda v: v > 1, [1, 2, 3])))
print(any([0, 1]), all([1, 0]), any([]), all([]), any(v > 2 for v in [1, 2, 3]))
it = iter([1, 2, 3]); print(next(it), next(it), list(it), next(it, "end"))
def count_up(n):
    i = 0
    while i < n:
        yield i
        i += 1
    return
def both(n):
    yield from count_up(n)
    yield from "xy"
print(list(count_up(4)), list(both(2)), sum(count_up(5)), [v for v in count_up(3)])
g = count_up(2); print(next(g), next(g), next(g, None))
z = zip([1, 2], [3, 4]); print(list(z), list(z))
import itertools, functools, operator
print(list(itertools.product([1, 2], "ab")), list(itertools.product([0, 1], repeat=2)), list(itertools.chain([1], [2, 3])), list(itertools.chain.from_iterable([[1], [2]])))
print(list(itertools.accumulate([1, 2, 3])), list(itertools.accumulate([1, 2, 3], operator.mul)), list(itertools.combinations("abc", 2)), list(itertools.permutations([1, 2, 3], 2)), list(itertools.permutations("abc")))
print(list(zip(itertools.count(5), "ab")), list(itertools.islice(itertools.count(1, 2), 3)), list(itertools.islice("abcdef", 1, 5, 2)), list(itertools.repeat(1, 2)), list(itertools.zip_longest([1], [2, 3])), list(itertools.pairwise([1, 2, 3])))
print(list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.takewhile(lambda v: v < 3, [1, 2, 5, 1])), list(itertools.dropwhile(lambda v: v < 3, [1, 5, 1])), [(k, list(v)) for k, v in itertools.groupby([1, 1, 2])])
print(functools.reduce(lambda v, w: v * w, [1, 2, 3, 4]), functools.reduce(operator.add, [1, 2], 10), functools.partial(pow, 2)(5), operator.itemgetter(1)([5, 6]))
nested = {"a": [1, {"b": (2, None)}]}; print(nested, nested["a"][1]["b"][0])
matrix = [[0] * 3 for _ in range(2)]; matrix[1][2] = 5; print(matrix)

# Many keys, of all kinds that may be equal to each other, taken away and put back.
many = {}
for i in range(200):
    many[i] = i
    many[str(i)] = -i
    many[(i, str(i))] = i * i
    many[i + 0.5] = i
print(len(many), many[7.0], many["7"], many[7, "7"], many[7.5], True in many, many[True], many[-0.0], (7, 7) in many, 200 in many)
for i in range(0, 200, 3):
    del many[i]
    many.pop(str(i))
print(len(many), 3 in many, 4 in many, "3" in many, list(many)[:6], list(many)[-2:])
for i in range(0, 200, 3):
    many[i] = "again"
print(len(many), many[3], many[4], list(many)[-2:], many == dict(reversed(list(many.items()))))
many.clear()
for i in range(40):
    many[i // 2] = i
print(many, 20 in many)
distinct = {x % 50 for x in range(1000)} | {float(x) for x in range(60)}
print(len(distinct), 59 in distinct, 60 in distinct, sorted(distinct - set(range(50))))
while len(distinct) > 3:
    distinct.pop()
distinct.update(range(100))
print(len(distinct), 99 in distinct)
print(len({(a, (b, str(c))) for a in range(9) for b in range(9) for c in range(9)}), len({"a": 1} | {str(i): i for i in range(100)}))
match {str(i): i for i in range(30)}:
    case {"3": three, "29": last, **rest}:
        print(three, last, len(rest), "3" in rest, "4" in rest)
turned = [1, 2, 3, 4, 5]
turned[::-1] = turned
print(turned)
turned[1:3] = turned
turned[5:2] = [0]
print(turned)
del turned[::-2]
print(turned, range(10)[::2**40], range(0, 10, 3)[1:9], range(0, 10, 3)[:-1])

# sort: what is equal stays in order, either way; a comparison may fail
pairs = [(i * 7 % 5, i) for i in range(40)]
print(sorted(pairs, key=lambda pair: pair[0]))
print(sorted(pairs, key=lambda pair: pair[0], reverse=True))
print(sorted([3, 1, 2] * 4), sorted("text"), sorted([]), sorted([1]), sorted([2, 1]), sorted(range(9), key=lambda x: -x))
try:
    sorted([3, "a", 1])
except TypeError:
    print("not sorted")
large = sorted(range(50000), key=lambda x: x * 7919 % 50021)
print(large[:3], large[-3:], sorted(large) == list(range(50000)), sorted(large, reverse=True)[:2])

# the last key taken, others put in its place
stack = {i: -i for i in range(100)}
for i in range(60):
    stack.popitem()
print(len(stack), 39 in stack, 40 in stack, stack.popitem(), 39 in stack)
for i in range(200, 220):
    stack[i] = i
    if i % 2:
        del stack[i]
print(len(stack), list(stack)[-3:], 201 in stack, 218 in stack, stack[38])
while len(stack) > 10:
    stack.pop(list(stack)[-1])
stack.clear()
for i in range(50, 60):
    stack[i] = i
print(stack, 5 in stack, 55 in stack)
makers = {(lambda: 1): i for i in range(30)}
def one():
    return 1
makers[one] = makers[print] = makers[None] = makers[...] = makers[range(3)] = 7
print(len(makers), makers[one], makers[print], makers[None], makers[range(0, 3, 1)], (lambda: 1) in makers)
spread = dict.fromkeys(range(0, 2**62, 2**44), 1)
print(len(spread), spread[2**44 * 5], 7 in spread)

# `op=` of a set or a dict is of that itself, by whatever name.
s = {1, 2}; t = s; s |= {3}; print(sorted(t), s is t); s &= {2, 3}; print(sorted(t)); s -= {2}; print(sorted(t)); s ^= {3, 9}; print(sorted(t), s is t)
d = {"a": 1}; e = d; d |= {"b": 2, "a": 3}; print(e, d is e)
f = frozenset([1]); g = f; f |= {2}; print(sorted(g), sorted(f))
