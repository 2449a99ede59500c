# Keys that may change, dicts and sets that change while a loop goes over them, lengths below 0.
def attempt(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__

class L:
    def __len__(self):
        return -1
class L2:
    def __len__(self):
        return 1.5
class E:
    def __eq__(self, o):
        return True

def loop_add():
    d = {1: 2}
    for k in d:
        d[k + 1] = 3
def loop_del():
    d = {1: 2, 3: 4}
    for k in d.items():
        del d[1]
def loop_same():
    d = {1: 2, 3: 4}
    for k, v in d.items():
        d[k] = v + 1
    return d
def set_loop():
    s = {1, 2}
    for x in s:
        s.add(x + 10)
def nxt():
    d = {1: 2}
    it = iter(d)
    d[5] = 6
    return next(it)
def comp():
    d = {1: 2}
    return [d.pop(k) for k in d]
def changed_in_last():
    d = {1: 2}
    for k in d:
        del d[k]
def over_copies():
    d = {1: 2, 3: 4}
    for k in list(d):
        d[k + 10] = 1
    for k, v in list(d.items()):
        if v == 1:
            del d[k]
    for k in sorted(d.keys()):
        del d[k]
    return d
def members():
    s = {frozenset([1, 2]), (3, (4,))}
    return {1, 2} in s, (3, (4,)) in s, {1} in s

class Hashed:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)

def tests():
    print(attempt(changed_in_last), attempt(over_copies), attempt(members))
    print({Hashed(1): 5}[Hashed(1)], Hashed(2) in {Hashed(1)}, len({Hashed(3), Hashed(3)}))
    print(attempt(lambda: {[1]: 2}))
    print(attempt(lambda: {(1, [2]): 2}))
    print(attempt(lambda: {{}: 2}))
    print(attempt(lambda: {1: 2}[[1]]))
    print(attempt(lambda: {1: 2}.get([1])))
    print(attempt(lambda: [1] in {1: 2}))
    print(attempt(lambda: [1] in {1}))
    print(attempt(lambda: {1}.add({2})))
    print(attempt(lambda: {[1]}))
    print(attempt(lambda: set([[1]])))
    print(attempt(lambda: dict([([1], 2)])))
    print(attempt(lambda: frozenset([{1}])))
    print(attempt(lambda: {}.setdefault([], 1)))
    print(attempt(lambda: {2: 3}.pop([], 1)))
    print(attempt(lambda: {E(): 1}))
    print(attempt(lambda: hash([1])))
    print(attempt(lambda: dict.fromkeys([[1]])))
    print(attempt(lambda: {k: 1 for k in [[1]]}))
    print(attempt(lambda: {1}.discard([1])))
    print(attempt(lambda: len(L())))
    print(attempt(lambda: bool(L())))
    print(attempt(lambda: len(L2())))
    print(attempt(lambda: list(range(3)) if L() else 0))
    print(attempt(loop_add))
    print(attempt(loop_del))
    print(attempt(loop_same))
    print(attempt(set_loop))
    print(attempt(nxt))
    print(attempt(comp))
tests()
