"""The rows that compare.py measures: operands, what they should give, what the GPU vendor's library takes for them.

A row of the plan is NAME M N K DTYPE OUT_DTYPE [OPTION...] CONTENDER...; options:
  b=nk          B is given transposed, [n, k]
  batch=COUNT   so many products of these sizes
  groups=COUNT  rows of A in groups of uneven sizes, each with a B of its own
  weights=DTYPE B is of this type, [n, k], with a scale for each column; the library multiplies it widened beforehand
"""
import math

import torch

L2_BYTES = 256 << 20
DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "tf32": torch.float32,  # operands of float32, multiplied as tfloat32
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "i8": torch.int8,
    "i4": torch.uint8,  # two in one
    "i32": torch.int32,
}


class Product:
    """One row: c = a @ b of a shape and types, on as many sets of operands as L2 can't hold."""

    def __init__(self, name, m, n, k, dtype, out_dtype, options):
        self.name, self.shape, self.out_dtype = name, (m, n, k), DTYPES[out_dtype]
        self.kind, self.dtype = dtype, DTYPES[dtype]
        self.transposed = options.get("b") == "nk" or "weights" in options
        self.batch, self.groups = int(options.get("batch", 0)), int(options.get("groups", 0))
        self.weights = DTYPES[options["weights"]] if "weights" in options else None
        self.packed = options.get("weights") == "i4"
        self.generator = torch.Generator(device="cuda").manual_seed(m * 7 + n * 3 + k)
        count = self.batch or 1
        sizes = count * m * k * self.dtype.itemsize + count * m * n * self.out_dtype.itemsize
        sizes += (self.batch or self.groups or 1) * k * n * (self.weights or self.dtype).itemsize
        self.sets = [self.operands() for _ in range(max(2, math.ceil(L2_BYTES / sizes)))]
        self.contenders = {}

    def random(self, shape, scale, dtype):
        if not dtype.is_floating_point:
            least = 0 if dtype == torch.uint8 else -128
            return torch.randint(least, least + 256, shape, device="cuda", generator=self.generator).to(dtype)
        values = torch.randn(*shape, device="cuda", generator=self.generator)
        return (values * scale).to(dtype)

    def operands(self):
        """(a, b, c, more): b as the kernel takes it; more: what else it takes."""
        m, n, k = self.shape
        before = [self.batch] if self.batch else []
        a = self.random(before + [m, k], 1, self.dtype)
        b_scale = 1 if self.weights or self.dtype.itemsize == 1 else 1 / math.sqrt(k)
        before = [self.groups] if self.groups else before
        b_shape = [n, k // 2 if self.packed else k] if self.transposed else [k, n]
        b = self.random(before + b_shape, b_scale, self.weights or self.dtype)
        c = torch.empty(([self.batch] if self.batch else []) + [m, n], device="cuda", dtype=self.out_dtype)
        return a, b, c, self.more()

    def more(self):
        m, n, k = self.shape
        if self.groups:
            cuts = torch.randperm(m - 1, device="cuda", generator=self.generator)[: self.groups - 1] + 1
            return (torch.cat([cuts.sort().values, torch.tensor([m], device="cuda")]).int(),)
        if self.weights:
            scale = 1 / (math.sqrt(k) * (4.6 if self.packed else 74 if self.weights == torch.int8 else 1))
            return (torch.rand(n, 1, device="cuda", generator=self.generator) * scale,)
        return ()

    def plain_right(self, b, more):
        """b as [k, n], widened."""
        b = self.unpacked(b)
        b = b.transpose(-1, -2) if self.transposed else b
        return (b.to(self.dtype) * more[0].T).to(self.dtype) if self.weights else b

    def unpacked(self, b):
        """Numbers of 4 bits apart, the lower one first."""
        if not self.packed:
            return b
        numbers = torch.stack([b & 15, b >> 4], -1).flatten(-2).to(torch.int8)
        return (numbers ^ 8) - 8

    # ---- the vendor's library -------------------------------------------------------------------

    def vendor(self, a, b, c, more):
        """A function that multiplies by cuBLAS, of whatever front torch has for the types."""
        right = self.plain_right(b, more)
        if self.groups:
            return self.vendor_groups(a, right, c, [0] + more[0].tolist())
        if self.dtype == torch.int8:
            return lambda: torch._int_mm(a, right, out=c)
        if self.dtype.itemsize == 1:
            one = torch.ones((), device="cuda")
            return lambda: torch._scaled_mm(a, right, one, one, out_dtype=c.dtype, use_fast_accum=True, out=c)
        if self.batch:
            return lambda: torch.bmm(a, right, out=c)
        if c.dtype != a.dtype:
            return lambda: torch.mm(a, right, out_dtype=c.dtype, out=c)
        if a.dtype == torch.float32:
            return lambda: self.with_tf32(lambda: torch.mm(a, right, out=c))
        return lambda: torch.mm(a, right, out=c)

    def with_tf32(self, work):
        torch.backends.cuda.matmul.allow_tf32 = self.kind == "tf32"
        work()
        torch.backends.cuda.matmul.allow_tf32 = False

    def vendor_groups(self, a, right, c, ends):
        """All groups as one graph, so that the host costs nothing."""

        def each():
            for i in range(self.groups):
                rows = slice(ends[i], ends[i + 1])
                torch.mm(a[rows], right[i], out=c[rows])

        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            each()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            each()
        return graph.replay

    # ---- what is right --------------------------------------------------------------------------

    def expected(self, a, b, more):
        if self.groups:
            ends = [0] + more[0].tolist()
            return torch.cat([a[ends[i] : ends[i + 1]].double() @ self.plain_right(b, more)[i].double() for i in range(self.groups)])
        b = self.unpacked(b)
        right = b.transpose(-1, -2) if self.transposed else b
        product = a.double() @ right.double()
        return product * more[0].T.double() if self.weights else product

    def add(self, name, bind):
        """bind(a, b, c, more) gives a function that launches once; what is wrong is not measured."""
        try:
            launches = [bind(*operands) for operands in self.sets]
            error = self.check(launches[0])
        except Exception as failure:  # a peer that does not run is a row of the table, not the end
            print(f"{self.name}: {name}: {type(failure).__name__}: {failure}", flush=True)
            return
        if error is not None:
            print(f"{self.name}: {name}: WRONG: {error}", flush=True)
            return
        self.contenders[name] = launches

    def check(self, launch):
        a, b, c, more = self.sets[0]
        c.fill_(math.nan if c.is_floating_point() else -1)
        launch()
        torch.cuda.synchronize()
        expected = self.expected(a, b, more)
        each, all = self.bounds(expected)
        wrong = int((~((c.double() - expected).abs() <= each)).sum())
        relative = float((c.double() - expected).norm() / expected.norm())
        if wrong or not relative <= all:
            return f"{wrong} elements, relative error {relative:.1e}"
        return None

    def bounds(self, expected):
        """What an element may be off, and the whole by its norm. Integers are exact. Of floats the result is rounded, and a sum of
        k products of random sign may lose sqrt(k) times its last bit: the elements' size is that of such a sum, and the largest of
        millions of errors is about six of their deviations. What is summed has 24 bits; tf32 operands have 10. Of fp8 the matrix
        unit adds 32 products at a time to what it has, and cuts the sum to 14 bits: each time up to 2^-13 of what there is is lost,
        which on the way is no more than the result and what others of its size come to; half of that on average."""
        if self.dtype == torch.int8:
            return 0, 0
        k = self.shape[2]
        size = float(expected.norm()) / math.sqrt(expected.numel())
        rounded = 2.0**-8 if self.out_dtype == torch.bfloat16 else 2.0**-11 if self.out_dtype == torch.float16 else 2.0**-24
        if self.dtype.itemsize == 1:
            lost = 2.0**-13 * (k / 32)
            return lost * (size + expected.abs()) + rounded * expected.abs(), lost / 2 + rounded
        deviation = {"tf32": 2.0**-9, "f32": 2.0**-24 * math.sqrt(k)}.get(self.kind, 2.0**-11)
        return 6 * deviation * size + rounded * expected.abs(), deviation + rounded

    def flops(self):
        m, n, k = self.shape
        return 2.0 * m * n * k * (self.batch or 1)


def read_plan(text):
    """(Product arguments, contenders) of each row."""
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            name, m, n, k, dtype, out_dtype, *rest = words
            options = dict(word.split("=") for word in rest if ":" not in word)
            yield (name, int(m), int(n), int(k), dtype, out_dtype, options), [word for word in rest if ":" in word]
