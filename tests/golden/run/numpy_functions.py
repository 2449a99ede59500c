# run: run %s
# What numpy's functions give: the expected text is what CPython prints of this file with numpy.
import numpy as np


def text(x):
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join([text(one) for one in x]) + "]"
    if x is True or x is False or isinstance(x, int):
        return str(x)
    return "nan" if x != x else "%.5g" % (x + 0.0)


def show(name, *found):
    for one in found:
        told = one.tolist() if hasattr(one, "tolist") else one
        shape = list(one.shape) if hasattr(one, "nbytes") and hasattr(one, "shape") else []
        print(name, shape, text(told))


a = np.array([[1.5, -2.0, 3.0], [4.0, 0.25, -6.0]], dtype=np.float32)
b = np.array([[2, 7, 1, 8], [2, 8, 1, 8], [-3, 0, 5, 1]], dtype=np.int32)
c = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1
u = np.array([[250, 3], [0, 255]], dtype=np.uint8)
t = np.array([[True, False], [True, True]])
p = np.array([0.1, 0.5, 0.9], dtype=np.float64)
holes = np.array([[1.0, np.nan, 3.0], [np.inf, 2.0, -1.0]], dtype=np.float32)

print("reductions")
for name in ("sum", "prod", "mean", "max", "min", "var", "std", "argmax", "argmin", "any", "all"):
    f = getattr(np, name)
    for x in (a, b, t):
        if name in ("max", "min", "var", "std", "mean", "argmax", "argmin") and x is t:
            continue
        show(name, f(x), f(x, 0), f(x, axis=1), f(x, axis=-1, keepdims=True))
    show(name, f(c, axis=1))
    if name not in ("argmax", "argmin"):
        show(name, f(c, axis=(0, 2)), f(c, axis=(0, 1), keepdims=True))
for name in ("sum", "mean", "max", "min", "prod", "var", "std", "argmax", "argmin", "any", "all"):
    show("method " + name, getattr(a, name)(), getattr(a, name)(axis=0), getattr(c, name)(axis=1, keepdims=True))
show("of u8", u.sum(), u.max(), u.min(0), u.mean(axis=1), u.argmax(), u.prod(axis=0))
show("nan", holes.max(), holes.min(0), holes.sum(1), holes.argmax(axis=1), np.isnan(holes), np.isinf(holes), np.isfinite(holes))
show("ddof", a.var(ddof=1), a.std(axis=1, ddof=1))
show("dtype", b.sum(dtype=np.float64), a.sum(dtype=np.float64, axis=0))
show("count_nonzero", np.count_nonzero(b), np.count_nonzero(b, axis=0))
show("median", np.median(a), np.median(b, axis=1))
show("norm", np.linalg.norm(a), np.linalg.norm(a, axis=1), np.linalg.norm(p, 1), np.linalg.norm(a, axis=0, keepdims=True), np.linalg.norm(p, np.inf))
show("trace", np.trace(b))

print("scans")
show("cumsum", np.cumsum(a), np.cumsum(a, axis=0), b.cumsum(axis=1), np.cumsum(c, axis=1), np.cumsum(t))
show("cumprod", np.cumprod(a, axis=1), np.cumprod(b, axis=0))
show("diff", np.diff(b), np.diff(b, axis=0), np.diff(a, n=2))

print("element by element")
for name in ("exp", "exp2", "expm1", "sin", "cos", "tan", "tanh", "sinh", "cosh", "arctan", "arcsinh", "abs", "absolute", "sign", "square", "floor", "ceil",
             "trunc", "round", "cbrt", "negative", "reciprocal", "logical_not"):
    show(name, getattr(np, name)(a))
for name in ("log", "log2", "log10", "log1p", "sqrt", "arcsin", "arccos", "arctanh"):
    show(name, getattr(np, name)(p))
show("arccosh", np.arccosh(p + 1))
for name in ("abs", "sign", "square", "sqrt", "exp", "tanh"):
    show(name, getattr(np, name)(np.abs(b)))
show("numbers", np.sqrt(2), np.exp(1.5), np.abs(-3), np.maximum(2, 5))
for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "arctan2", "hypot", "copysign", "equal", "not_equal", "less",
             "greater_equal", "logical_and", "logical_or", "logical_xor", "floor_divide", "remainder", "fmod"):
    f = getattr(np, name)
    if name != "power":
        show(name, f(a, np.abs(a) + 1), f(a, 2), f(a[:, :1], a))
    else:
        show(name, f(np.abs(a), a), f(b, 2))
show("where", np.where(a > 1, a, -a), np.where(b > 1, b, 0), np.where(t, 1.0, 2.0), np.where(a[0] > 0, a, a[:, :1]))
show("clip", np.clip(a, -1, 2), a.clip(0, 3), b.clip(1, 5), np.clip(a, None, 1))

print("shapes")
show("reshape", np.reshape(b, (2, 6)), b.reshape(-1), b.reshape(4, -1))
show("ravel", b.ravel(), b.T.ravel(), b.flatten())
show("transpose", np.transpose(c), c.transpose(1, 0, 2), np.transpose(c, (2, 0, 1)), b.transpose())
show("swapaxes", np.swapaxes(c, 0, 2), np.moveaxis(c, 0, 2), c.swapaxes(1, 2))
show("expand_dims", np.expand_dims(a, 1), np.squeeze(np.expand_dims(a, 0)), a[None].squeeze(axis=0))
show("broadcast_to", np.broadcast_to(a[0], (2, 3)))
show("concatenate", np.concatenate([a, a * 2]), np.concatenate((a, b[:2]), axis=1), np.vstack([a, a]), np.hstack([b, b]))
show("stack", np.stack([a, -a]), np.stack([a, -a], axis=1), np.stack([a, -a], axis=-1))
show("split", *np.split(b, 2, axis=1), *np.split(b, [1, 3], axis=1))
show("flip", np.flip(b), np.flip(b, 0), np.flip(c, (0, 2)))
show("roll", np.roll(b, 1), np.roll(b, -1, axis=1), np.roll(a, 4, axis=0))
show("tile", np.tile(a, 2), np.tile(b, (2, 1)), np.repeat(b, 2), np.repeat(a, 2, axis=1))
show("pad", np.pad(b, 1), np.pad(a, ((0, 1), (2, 0)), constant_values=9))
show("astype", a.astype(np.int32), b.astype(np.float64), a.astype(np.float16), u.astype(np.int32) - 250)

print("order")
show("sort", np.sort(b), np.sort(b, axis=0), np.sort(a), np.sort(holes), np.sort(u, axis=0))
show("argsort", np.argsort(a), np.argsort(b, axis=0, kind="stable"), b.argsort(kind="stable"), np.argsort(holes, axis=0))
show("take", np.take(b, [2, 0], axis=0), np.take(a, [1, 1, 0], axis=1), b.take(5), np.take_along_axis(b, np.argsort(b, axis=1, kind="stable"), axis=1))

print("products")
show("matmul", np.matmul(a, a.T), a @ a[0], a[0] @ a.T, np.matmul(c, c.transpose(0, 2, 1)), np.matmul(c, np.ones((4, 2), np.float32)), a[0] @ a[1])
show("dot", np.dot(a[0], a[1]), np.dot(b, b[0]), np.inner(a[0], a[1]), np.outer(a[0], p.astype(np.float32)), np.vdot(a, a))
show("einsum", np.einsum("ij,kj->ik", a, a), np.einsum("ij->j", a), np.einsum("ij,ij->", a, a), np.einsum("bij,bkj->bik", c, c), np.einsum("ij->ji", a))
show("einsum", np.einsum("ii->i", b[:, :3]), np.einsum("ii", b[:, :3]), np.einsum("i,j->ij", a[0], a[1]), np.einsum("bij,jk,bk->bi", c, np.ones((4, 3), np.float32), c[:, :, 0]))

print("matrices and checks")
show("eye", np.eye(3), np.eye(2, 3), np.identity(2))
show("tri", np.tril(b), np.triu(b), np.tril(c, -1), np.triu(b, 1))
show("diag", np.diag(b[:, :3]), np.diag(p), np.diagonal(b, 1), np.diag(a[0], -1), np.diagonal(c, axis1=1, axis2=2))
show("made", np.linspace(0, 1, 5), np.linspace(1, 2, 4, endpoint=False), np.full((2, 2), 7), np.full_like(a, 2), np.zeros_like(b), np.ones_like(a), np.arange(2, 9, 3))
show("isclose", np.isclose(a, a + 1e-7), np.isclose(a, a + 0.1), np.isclose(holes, holes), np.isclose(holes, holes, equal_nan=True))
show("equal", np.array_equal(a, a), np.array_equal(a, b), np.allclose(a, a + 1e-9))
# ranges of types
for kind in (np.float16, np.float32, np.float64, float):
    limits = np.finfo(kind)
    print(limits.bits, float(limits.eps), float(limits.max), float(limits.min), float(limits.tiny), float(limits.smallest_subnormal), limits.precision, limits.nmant)
for kind in (np.int8, np.uint16, np.int32, np.int64, np.uint64, int):
    print(np.iinfo(kind).bits, np.iinfo(kind).min, np.iinfo(kind).max)
print("coordinates and systems")
show("meshgrid", *np.meshgrid(np.arange(3), np.arange(2)), *np.meshgrid(p[:2], p[:3], p[:1], indexing="ij"), *np.meshgrid(p[:2], p[:1], p[:3]))
show("mgrid", np.mgrid[0:3, 1:5], np.mgrid[1:4], np.indices((2, 3)))
m = np.array([[0.0, 7.0, 1.0], [2.0, 6.0, 0.5], [1.0, -1.0, 3.0]])
show("inv", np.linalg.inv(m), np.linalg.inv(np.stack([m, 2 * m])), np.linalg.inv(m.astype(np.float32)), np.linalg.det(m), np.linalg.solve(m, m[0]), np.linalg.solve(m, m[:, :2] + 1))
try:
    np.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError as error:
    print(error)
r = np.random.default_rng(3)
n = r.integers(2, 5, size=(4, 5))
print(n.shape, bool(n.min() >= 2 and n.max() < 5), 0 <= r.random() < 1, sorted(r.permutation(5).tolist()), np.random.RandomState(1).rand(2, 3).shape)
print(r.uniform(-1.0, 1.0, (3,)).shape, isinstance(r.integers(4), int) or int(r.integers(4)) < 4, r.normal(size=2).shape, np.random.randint(0, 2, 6).shape)

print("chosen by arrays")
a = np.arange(24).reshape(2, 3, 4)
i, j = np.array([1, 0, 1]), np.array([[2], [-1]])
m = a % 5 == 2
show("places", a[i], a[:, j], a[..., [3, 0]], a[0, [2, 1]], a[i, [0, 1, 2]], a[i, :, [0, 1, 2]], a[0, :, i], a[None, i, 1:], a[[-1]])
show("both", a[i, j], a[:, [0, 2], j], a[i, :, j])
show("truths", a[m], a[m[:, :, 0]], a[:, m[0]], a[:, np.array([True, False, True])], a[a > 100], a[np.array([False, True])], a[0][m[0] & (a[0] > 3)])
show("nonzero", *np.nonzero(m), np.flatnonzero(m), np.argwhere(m), *m.nonzero())
b = a.copy()
b[i[:2]] = 7
b[:, [0, 2], 1] = np.array([[1, 2], [3, 4]])
b[b == 7] = -1
b[m] += 100
show("put", b)
b[i, :, 0] = 5
b[0, :, [1, 2]] = np.arange(6).reshape(2, 3)
show("put", b)
n = np.array([1, 2])
show("bounds", a[:, : n[1]], a[n[0] :], a[True + 0 : 2])
try:
    a[[2]]
except IndexError:
    print("refused")
