# A module whose statements change what its names are bound to: module_changes.py shows the values in several orders.
from collections import deque, OrderedDict, defaultdict
import dataclasses
from dataclasses import dataclass, field
import functools, itertools

# order of changes and reads
a = [1]
a0 = a[0]
a[0] = 2
a1 = a[0]
a[0] += 5
a2 = a[0]
alen = len(a)
a.append(7)
blen = len(a)

# aliases
b = []
c = b
c.append(1)
d = [b, 5]
d[0].append(2)
e, f = b, {}
e.append(3)
f["b"] = b
f["b"].append(4)
for g in (b, [9]):
    g.append(6)
h = {"x": {"y": b}}
h["x"]["y"].insert(0, 0)
rows = [[0] * 2 for _ in range(2)]
row = rows[1]
row[0] = 3
picked = [r for r in rows if True]
picked[0][1] = 4
same = rows[0] if True else None
same.append(8)
chain = rows and b
chain.append(10)

# functions of the module
TABLE = {}
def put(key, value=1):
    TABLE[key] = value
put("one")
put("two", value=2)
def put_all(**kw):
    for k, v in kw.items():
        put(k, v)
put_all(three=3, four=4)
early = len(TABLE)
put("five", 5)
def register(name):
    def wrap(fn):
        TABLE[name] = fn(3)
        return fn
    return wrap
@register("square")
def square(x): return x * x
@register("cube")
def cube(x): return x ** 3
keys = list(TABLE)

def bump(d, by=1):
    d["n"] = d.get("n", 0) + by
counts = {}
bump(counts)
bump(counts, by=4)
bump(d=counts)
def outer(q): inner(q)
def inner(z):
    t = z
    t.append("inner")
deep = []
outer(deep)
def ident(x): return x
alias = ident(deep)
alias.append("alias")
def get(): return deep
get().append("get")
got = get()
got.append("got")

# globals
N = 1
def inc():
    global N
    N += 10
first = N
inc()
second = N
inc(); inc()
N = N * 2
def readN(): return N
third = readN()
inc()

# classes
class C:
    v = 2
    items = []
    made = 0
    def __init__(self, n):
        self.n = n
        C.made += 1
    @classmethod
    def add(cls, x):
        cls.items.append(x)
    @staticmethod
    def put(lst, x):
        lst.append(x)
    def grow(self, by):
        self.n += by
        return self
c1 = C(1)
c2 = C(2)
C.v = 9
C.add(4)
C.put(deep, "static")
c1.n = 5
c2.grow(3).grow(1)
c1v = c1.v
setattr(c2, "m", 12)
class Base:
    known = {}
    def __init_subclass__(cls):
        Base.known[cls.__name__] = len(Base.known)
class D1(Base): pass
class D2(Base): pass
@dataclass
class Cfg:
    n: int = 1
    xs: list = field(default_factory=list)
cfg = Cfg()
cfg.n = 64
cfg.xs.append(3)
cfg2 = dataclasses.replace(cfg, n=7)

# compound statements
S = [0.0] * 4
for i in range(4): S[i] = 0.5 ** i
total = 0.0
for w in S: total += w
k = 0
W = []
while k < 3:
    W.append(k)
    k += 1
if len(W) > 2:
    W.append("yes")
else:
    W.append("no")
try:
    W.append(W[100])
except IndexError:
    W.append("except")
else:
    W.append("else")
finally:
    W.append("finally")
try:
    import torch_nonexistent
    W.append("torch")
except ImportError:
    W.append("none")
for m in range(2):
    for n in range(2):
        W += [m * 2 + n]
match len(W):
    case 3: W.append("three")
    case _: W.append("more")

# operators, methods
l1 = [3, 1, 2]; l2 = l1
l1 += [5]; l1.sort(reverse=True)
del l1[0]
l1.extend(x * 2 for x in (1, 2)); l1.insert(1, 77); l1.remove(2); popped = l1.pop()
l1[1:2] = [8, 8]
l1.reverse()
st = {1}; st2 = st
st |= {2}; st.add(3); st.discard(1); st.update([7])
dd = {"a": 1}; dd2 = dd
dd |= {"b": 2}
dd.update(c=3); dd.setdefault("d", 4); dd.pop("a"); del dd["b"]
dq = deque([1, 2]); dq.appendleft(0); dq.append(3)
df = defaultdict(list); df["x"].append(1); df["x"].append(2)
it = iter([1, 2, 3]); n1 = next(it); n2 = next(it); left = list(it)
t = ([], 1); t[0].append(5)
add = W.append
add("bound")
fl = lambda v: W.append(v)
fl("lambda")
x, *rest = [1, 2, 3]
rest[0] = 20
sq = [W.append(q) for q in range(2)]
sw1, sw2 = [1], [2]
sw1, sw2 = sw2, sw1
sw1.append(9)
fact = functools.partial(bump, counts)
fact()
seen = {4}
del seen
def gen():
    for q in [1, 2]:
        TABLE["gen%d" % q] = q
        yield q
gens = list(gen())
memo = {}
def fib(n):
    if n not in memo: memo[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return memo[n]
f10 = fib(10)
nmemo = len(memo)
OBJ = {"k": [1, 2]}
for key, val in OBJ.items():
    val.append(key)
square.tag = 5
conf = dict(block=64)
tile = conf["block"]
conf["block"] = 128
tile2 = conf["block"]
def late(): return conf["block"], tile3
tile3 = late
if __name__ == "__main__":
    conf["block"] = 1000000
    W.append("main")
class Node:
    def __init__(self, parent=None):
        self.kids = []
        if parent: parent.kids.append(self)
root = Node()
kid = Node(root)
kid2 = Node(parent=kid)
with_list = []
class Ctx:
    def __enter__(self): return with_list
    def __exit__(self, *a): return False
with Ctx() as wl:
    wl.append("with")
wl.append("after")

# what reads an object before it changes, to change another one
source, sink = [1], {}
sink["before"] = len(source)
sink.update(q=sum(source))
other = source
source.append(2)
C.add(len(sink))
sink["after"] = len(source)
again = sink
again.setdefault("z", []).append(len(other))
