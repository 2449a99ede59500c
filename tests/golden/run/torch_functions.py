# run: run %s
# What torch's functions give: the expected text is what CPython prints of this file with torch.
import torch
import torch.nn.functional as F


def text(x):
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join([text(one) for one in x]) + "]"
    if x is True or x is False or isinstance(x, int):
        return str(x)
    return "nan" if x != x else "%.4g" % (x + 0.0)


def show(name, *found):
    for one in found:
        told = one.tolist() if isinstance(one, torch.Tensor) else one
        shape = list(one.shape) if isinstance(one, torch.Tensor) else []
        print(name, shape, str(one.dtype).split(".")[-1].replace("boolean", "bool") if isinstance(one, torch.Tensor) else "", text(told))


a = torch.tensor([[1.5, -2.0, 3.0], [4.0, 0.25, -6.0]])
b = torch.tensor([[2, 7, 1, 8], [2, 9, 1, 8], [-3, 0, 5, 1]], dtype=torch.int32)
c = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4) / 7 - 1
t = torch.tensor([[True, False], [True, True]])
p = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
h = a.half()
holes = torch.tensor([[1.0, float("nan"), 3.0], [float("inf"), 2.0, -1.0]])

print("reductions")
show("sum", a.sum(), b.sum(), t.sum(), a.sum(0), a.sum(dim=1, keepdim=True), torch.sum(b, 1), torch.sum(c, (0, 2)), a.sum(dtype=torch.float64))
show("mean", a.mean(), a.mean(dim=1), torch.mean(c, (0, 1), True))
show("prod", a.prod(), b.prod(dim=1), torch.prod(a, 0))
show("max", a.max(), torch.max(b), *a.max(dim=1), *torch.max(b, 0), a.max(1).values, a.max(dim=0, keepdim=True).indices, torch.max(a, -a))
show("min", a.min(), *a.min(dim=0), *torch.min(b, 1), torch.min(a, a * 2))
show("amax", a.amax(dim=1), torch.amax(c, (0, 1)), a.amin(dim=0), torch.amin(b, 1, True))
show("argmax", a.argmax(), a.argmax(dim=1), torch.argmax(b, 0, keepdim=True), a.argmin(), torch.argmin(b, dim=1))
show("any", t.any(), t.all(), t.any(dim=0), torch.all(t, 1), (a > 5).any(), (a > -9).all())
show("var", a.var(), a.std(), a.var(dim=1), torch.std(a, 0), torch.var(a, 1, unbiased=False), c.std(dim=(0, 2)))
show("norm", torch.norm(a), a.norm(dim=1), torch.norm(a, 1), torch.linalg.norm(a), a.norm(p=3, dim=0), a.norm(float("inf")))
show("logsumexp", torch.logsumexp(a, 1), a.logsumexp(dim=0))
show("median", a.median(), *b.median(dim=1))
show("nan", holes.max(), holes.sum(1), torch.isnan(holes), torch.isinf(holes), holes.isfinite(), *holes.max(dim=1))
show("count_nonzero", torch.count_nonzero(b), b.count_nonzero(dim=0))

print("scans")
show("cumsum", torch.cumsum(a, 0), a.cumsum(dim=1), b.cumsum(-1), torch.cumprod(a, dim=1), torch.diff(b))

print("element by element")
for name in ("exp", "exp2", "expm1", "sin", "cos", "tan", "tanh", "sinh", "cosh", "atan", "asinh", "abs", "sign", "square", "floor", "ceil", "trunc",
             "round", "neg", "reciprocal", "sigmoid", "relu", "erf", "erfc", "logical_not"):
    show(name, getattr(torch, name)(a))
for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "asin", "acos", "atanh", "lgamma"):
    show(name, getattr(torch, name)(p))
for name in ("exp", "sqrt", "sigmoid", "tanh", "abs", "relu", "floor", "round"):
    show("method " + name, getattr(c, name)()[0])
show("of ints", torch.exp(b), torch.sqrt(b.abs()), b.abs(), b.sign(), torch.sigmoid(b))
show("of halves", h.abs(), -h, h.float().half())
for name in ("add", "sub", "mul", "div", "maximum", "minimum", "atan2", "hypot", "fmod", "remainder", "copysign", "eq", "ne", "lt", "le", "gt", "ge", "logical_and",
             "logical_or", "logical_xor"):
    show(name, getattr(torch, name)(a, a[:1].abs() + 1))
show("pow", torch.pow(a, 2), torch.pow(b, 2), a.abs().pow(0.5), a ** 2)
show("where", torch.where(a > 1, a, -a), torch.where(b > 1, b, b * 0), torch.where(t, torch.tensor(1.0), torch.tensor(2.0)))
show("clamp", a.clamp(-1, 2), torch.clamp(a, min=0), b.clamp(max=5), torch.clip(a, 0, 1), a.masked_fill(a > 2, 9.0))
show("softmax", torch.softmax(a, 1), a.softmax(dim=0), torch.log_softmax(a, dim=1), F.log_softmax(c, dim=0))
show("activations", F.relu(a), F.gelu(a * 0.5), F.gelu(a * 0.5, approximate="tanh"), F.silu(a), F.sigmoid(a), F.softplus(a), F.mish(a))

print("layers")
show("linear", F.linear(a, torch.ones(2, 3), torch.tensor([1.0, 2.0])), F.linear(c, torch.ones(2, 4)))
show("layer_norm", F.layer_norm(c, (4,)), F.layer_norm(c, (3, 4), torch.ones(3, 4) * 2, torch.ones(3, 4)), F.normalize(a, dim=1), F.mse_loss(a, -a))
show("one_hot", F.one_hot(torch.tensor([0, 2, 1]), 3))

print("shapes")
show("reshape", torch.reshape(b, (2, 6)), b.reshape(-1), b.view(4, -1), b.flatten(), torch.flatten(c, 1), c.flatten(0, 1), c.unflatten(2, (2, 2)))
show("transpose", a.transpose(0, 1), torch.transpose(c, 0, 2), c.permute(2, 0, 1), torch.permute(c, (1, 0, 2)), a.t(), a.T, c.transpose(-1, -2), torch.movedim(c, 0, 2))
show("unsqueeze", a.unsqueeze(0), torch.unsqueeze(a, -1), a.unsqueeze(1).squeeze(1), a[None].squeeze(), torch.squeeze(a[:1], 0), a.squeeze(0))
show("expand", a[:1].expand(2, 3), a[0].expand(2, -1), a.expand(2, 2, 3), a[:1].expand_as(a), torch.broadcast_to(a[0], (2, 3)))
show("cat", torch.cat([a, a * 2]), torch.cat((a, b[:2].float()), dim=1), torch.stack([a, -a]), torch.stack([a, -a], dim=-1), torch.vstack([a, a]), torch.hstack([a, a]))
show("split", *b.split(3, dim=1), *torch.split(b, [1, 3], dim=1), *b.chunk(2, dim=0), *torch.chunk(b, 3, 1))
show("flip", torch.flip(b, (0,)), b.flip(1), torch.roll(b, 1), b.roll(-1, 1), torch.roll(a, 1, 0))
show("repeat", a.repeat(2, 1), a.repeat(2, 1, 2), a.tile(2), a.repeat_interleave(2, dim=0), torch.repeat_interleave(b, 2))
show("to", a.to(torch.int32), b.to(torch.float64), b.type_as(a), a.bfloat16(), c.view_as(c))

print("order")
show("sort", *torch.sort(b, dim=1, stable=True), *a.sort(descending=True), *b.sort(dim=0, stable=True), torch.sort(a).values)
show("argsort", torch.argsort(a), a.argsort(dim=0), a.argsort(descending=True))
show("topk", *a.topk(2), *torch.topk(a, 1, dim=0), *a.topk(2, largest=False))
show("gather", torch.gather(b, 1, torch.tensor([[0, 3], [1, 1], [2, 0]])), a.gather(0, torch.tensor([[0, 1, 1]])), b.index_select(1, torch.tensor([2, 0])), torch.index_select(a, 0, torch.tensor([1, 1])))

print("products")
show("matmul", a @ a.t(), torch.matmul(a, a[0]), torch.mm(a, a.T), torch.bmm(c, c.transpose(1, 2)), torch.matmul(c, torch.ones(4, 2)), torch.dot(a[0], a[1]), a.mv(a[1]))
show("outer", torch.outer(a[0], a[1]), torch.inner(a[0], a[1]), a.matmul(a.T))
show("einsum", torch.einsum("ij,kj->ik", a, a), torch.einsum("bhd,bkd->bhk", c, c), torch.einsum("ij->", a), torch.einsum("i,i", a[0], a[1]), torch.einsum("ii->i", b[:, :3]))

print("matrices and checks")
show("made", torch.eye(3), torch.eye(2, 3), torch.linspace(0, 1, 5), torch.full((2, 2), 7.0), torch.full_like(a, 2), torch.zeros_like(b), torch.arange(2, 9, 3))
show("tri", torch.tril(b), torch.triu(b), torch.tril(c, -1), b.triu(1), a.tril(diagonal=1))
show("diag", torch.diag(b[:, :3]), torch.diag(p), torch.diagonal(b, 1), b[:, :3].trace(), c.diagonal(dim1=1, dim2=2))
show("isclose", torch.isclose(a, a + 1e-7), torch.isclose(a, a + 0.1), torch.isclose(holes, holes, equal_nan=True))
show("equal", torch.equal(a, a), torch.allclose(a, a + 1e-7))
print("limits and layers")
for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2, torch.float8_e4m3fn):
    limits = torch.finfo(kind)
    print(limits.bits, limits.eps, limits.max, limits.min, limits.tiny, limits.smallest_normal, limits.resolution)
for kind in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
    print(torch.iinfo(kind).bits, torch.iinfo(kind).min, torch.iinfo(kind).max)
print(torch.inf, torch.pi, torch.nan != torch.nan)
n = torch.randint(2, 5, (4, 5))
print(list(n.shape), bool(n.min() >= 2) and bool(n.max() < 5), sorted(torch.randperm(5).tolist()), torch.randint(3, (2,), dtype=torch.int32).dtype == torch.int32)
show("pad", F.pad(a, (1, 0)), F.pad(a, (0, 1, 2, 0), value=3.0))


class Scale(torch.nn.Module):
    def __init__(self, by):
        super().__init__()
        self.register_buffer("by", torch.full((1,), by))

    def forward(self, x):
        return x * self.by


layer = Scale(2.0).eval()
show("layer", layer(a))
print(layer.training, isinstance(layer, torch.nn.Module))

n = torch.tensor([1, 3, 2], dtype=torch.int32)
x = torch.arange(24).reshape(4, 6)
show("bounds", x[n[0] : n[1]], x[2, : n[2]], x[n[0]], x[n[2], n[1]], x[n.long()], x[n.long(), n.long()], x[x > 20], x[-n[0] :])
show("nonzero", x.nonzero()[:2], *(x > 20).nonzero(as_tuple=True), torch.argwhere(x > 20))
causal = ~torch.ones(3, 5, dtype=torch.bool).tril(1)
show("causal", causal, causal.triu(2), torch.zeros(3, 5).masked_fill(causal, 1.0))

# A tensor of one element is a number, its memory may be seen as another type's, and a function with a gradient of its own is called.
x = torch.arange(4, dtype=torch.float32)
print(int(torch.tensor([3])), float(torch.tensor(2.5)), int((x > 1).sum()), float(x.sum()))
print(x.view(torch.int32).tolist(), tuple(x.reshape(2, 2).view(torch.int16).shape), x.view(torch.int16).view(torch.float32).tolist())
print(x.view(torch.uint8)[4:8].view(torch.float32).tolist(), x.is_contiguous(), x.reshape(2, 2).t().is_contiguous())


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, by):
        ctx.save_for_backward(a)
        ctx.by = by
        return a * by

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.by, None


print(Doubled.apply(x, 2).tolist())
