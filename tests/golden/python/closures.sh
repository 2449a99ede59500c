# Warp's kernels that functions make: annotations are what they were there; structs whose arrays are missing; launches that are kept;
# errors as Python's.
needs numpy
cd "$TMP"
cat >closures.py <<'END'
import numpy
import warp as wp

made = {}


def kept(function, suffix):
    if suffix not in made:
        made[suffix] = wp.Kernel(func=function, key=f"{function.__name__}_{suffix}")
    return made[suffix]


def scaled(dtype):
    pair = wp.types.vector(2, dtype)

    def kernel(values: wp.array[pair], by: dtype, out: wp.array[pair]):
        out[wp.tid()] = values[wp.tid()] * by

    return kept(kernel, dtype.__name__)


for dtype in (wp.float64, wp.float32, wp.int32):  # which the last loop leaves as the module's
    values = wp.array(numpy.arange(4), dtype=wp.types.vector(2, dtype))
    out = wp.zeros_like(values)
    wp.launch(scaled(dtype), dim=len(values), inputs=[values, 3], outputs=[out])
    print(out.dtype.__name__, out.numpy().tolist())


@wp.struct
class Inner:
    values: wp.array[float]
    bias: float


@wp.struct
class Outer:
    inner: Inner
    more: wp.array[float]
    of: wp.array[int]


@wp.kernel
def summed(outer: Outer, out: wp.array[float]):
    i = wp.tid()
    out[i] = outer.inner.bias + outer.more[i]
    if outer.inner.values:
        out[i] += outer.inner.values[i]


outer = Outer()
outer.inner.bias = 0.5
outer.more = wp.array([1.0, 2.0], dtype=float, requires_grad=True)
out = wp.zeros(2, requires_grad=True)
tape = wp.Tape()
with tape:
    wp.launch(summed, dim=2, inputs=[outer], outputs=[out])
out.grad.fill_(2.0)
tape.backward()
print(out.numpy().tolist(), outer.more.grad.numpy().tolist())


@wp.kernel
def squares(x: wp.array[float], by: wp.vec2, y: wp.array[float]):
    i = wp.tid()
    y[i] = x[i] * x[i] * by[0]


x, y = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True), wp.zeros(3, requires_grad=True)
command = wp.launch(squares, dim=3, inputs=[x, (1.0, 0.0), y], record_cmd=True)
command.launch()
command.set_param_by_name("by", wp.vec2(2.0, 0.0))
command.set_dim(2)
command.launch()
print(y.numpy().tolist())
y.grad.fill_(1.0)
wp.launch(squares, dim=3, inputs=[x, wp.vec2(1.0, 1.0), y], adjoint=True, adj_inputs=[None, None, None], record_cmd=True).launch()
print(x.grad.numpy().tolist())
empty = wp.Launch(squares, y.device)
empty.set_param_at_index(0, x)
empty.set_param_by_name("y", y)
empty.set_dim(3)
empty.launch()
print(y.numpy().tolist())
for given in (1.0, None, (1.0, 2.0, 3.0)):
    try:
        wp.launch(squares, dim=1, inputs=[x, given, y])
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, error)


@wp.kernel
def unknown(x: wp.array[float]):
    x[0] = nobody(1.0)


@wp.kernel
def typed(x: wp.array[float]):
    x[0] = wp.vec3(1.0, 2.0, 3.0) + x[0]


for kernel, kind in ((unknown, KeyError), (typed, wp.WarpCodegenTypeError)):
    try:
        wp.launch(kernel, dim=1, inputs=[x])
    except kind as error:
        print(isinstance(error, wp.WarpCodegenError), isinstance(error, RuntimeError), isinstance(error, kind))


def later():
    @wp.kernel
    def counted(x: wp.array[float]):
        x[0] = by

    by = 1.0
    for by in (2.0, 3.0):
        counted.module.mark_modified()
        wp.launch(counted, dim=1, inputs=[x])
        print(x.numpy()[0])


later()


class Settings:
    def __init__(self, by):
        self.by, self.others = by, open

    @wp.func
    def scaled(x: float, by: float):
        return x * by


def with_settings(settings):
    @wp.kernel
    def scale(x: wp.array[float]):
        x[0] = settings.scaled(x[0], settings.by)

    return scale


for by in (2.0, 5.0):
    wp.launch(with_settings(Settings(by)), dim=1, inputs=[x])
    print(x.numpy()[0])
wp.set_module_options({"enable_backward": False})
print(wp.get_module_options()["enable_backward"], wp.get_module("other").options["enable_backward"], wp.config.mode)
END
python3 -m tilec run closures.py
# Arrays of a program that a kernel of another dialect names.
cat >tables.py <<'END'
import numpy
import tilelang.language as T
import tilelang
import tilus
from tilus import float32

table = numpy.zeros((4,), numpy.float32)


@tilelang.jit
def looks_up():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                A[i] = A[i] + table[i % 4]

    return main


class Adds(tilus.Script):
    def __call__(self, a: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        x = self.global_view(a, dtype=float32, shape=[32])
        self.store_global(x, self.load_global(x, offsets=[0], shape=[32]) + table[0], offsets=[0])


for launch in (lambda: looks_up()(numpy.zeros(64, numpy.float32)), lambda: Adds()(numpy.zeros(32, numpy.float32))):
    try:
        launch()
    except Exception as error:
        print(*[line for line in str(error).splitlines() if "error" in line or "hint" in line], sep="\n")
END
python3 -m tilec run tables.py

# Of an object around a kernel its attributes are told that the kernel's text asks of it, and theirs, however deep.
cat > operators.py <<'END'
import warp as wp


class Weights:
    scale = 2.5


class Lattice:
    def __init__(self):
        self.d, self.q, self.weights = 3, wp.constant(4), Weights()


class Operator:
    def __init__(self):
        self.lattice = Lattice()
        self.kernel = self.make()

    @property
    def dtype(self):
        return wp.float32

    def make(self):
        @wp.kernel
        def kernel(out: wp.array(dtype=float)):
            total = self.dtype(0.0)
            for _d in range(self.lattice.d):
                total += self.lattice.weights.scale
            out[0] = total + float(self.lattice.q)

        return kernel


out = wp.zeros(1)
wp.launch(Operator().kernel, dim=1, inputs=[out])
print(out.numpy())
END
python3 -m tilec run operators.py

# A module's name that a loop binds to one function after the other means the one that it has when the kernel is compiled; a kernel's own
# variable of such a name stays its own.
cat > loops.py <<'END'
import warp as wp


@wp.func
def square(x: float):
    return x * x


@wp.func
def cube(x: float):
    return x * square(x)


for name, function in {"square": square, "cube": cube}.items():

    @wp.kernel
    def kernel(x: wp.array(dtype=float)):
        k = wp.tid()
        x[k] = function(x[k]) + wp.static(float(len(name)))

    for k in (kernel,):
        x = wp.array([1.0, 2.0, 3.0], dtype=float)
        wp.launch(k, dim=3, inputs=[x])
        print(name, x.numpy().tolist())
END
python3 -m tilec run loops.py

# A factory's function of two forms, one of which calls the other; each name of the module has its own.
cat > forms.py <<'END'
import warp as wp


def scaled(by: int):
    @wp.func
    def f():
        return by

    @wp.func
    def f(x: int):
        return f() * x

    return f


double, triple = scaled(2), scaled(3)
four = scaled(4)


@wp.kernel
def kernel(x: wp.array(dtype=int)):
    x[0] = four()
    x[1] = four(10)


x = wp.zeros(2, dtype=int)
wp.launch(kernel, dim=1, inputs=[x])
print(x.numpy().tolist())
END
python3 -m tilec run forms.py

# functions that a program gives other names, each before it is made a kernel
cat >renamed.py <<'END'
import warp as wp


@wp.func
def twice(x: float):
    return 2.0 * x


def half(x: float):
    return 0.5 * x


def mapped(function):
    def inner(x: wp.array[float]):
        x[wp.tid()] = function(x[wp.tid()])

    inner.__name__ = inner.__qualname__ = f"map_{function.key}"
    return wp.Kernel(func=inner)


half.__name__ = half.__qualname__ = "halved"
for function in (twice, wp.func(half)):
    x = wp.array([3.0], dtype=float)
    kernel = mapped(function)
    wp.launch(kernel, dim=1, inputs=[x])
    print(kernel.key, x.numpy())
END
python3 -m tilec run renamed.py
