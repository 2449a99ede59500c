# Warp's shim: wp.static() is Python's, evaluated once, where a kernel is declared; what is known of kernels' texts.
needs numpy
cd "$TMP"
cat >statics.py <<'END'
import ast
import functools

import numpy as np

import warp as wp
from warp._src import codegen


def told(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except Exception as error:
        print(type(error).__name__, "|", str(error).splitlines()[-1])


# ---- what Python alone evaluates ----
evaluated = []


def counted(value):
    evaluated.append(value)
    return float(np.linalg.norm([value, value]))


table = {"double": 2.0}


@wp.func
def twice(x: float):
    return x * wp.static(table["double"])


@wp.func
def thrice(x: float):
    return x * 3.0


by_name = {"twice": twice, "thrice": thrice}


@wp.kernel
def chosen(out: wp.array[float]):
    out[0] = wp.static(counted(3.0)) + wp.static(by_name["twice"])(1.0)
    out[1] = wp.static(by_name["thrice"])(2.0); out[2] = wp.static(1.0 + wp.static(counted(0.0)))  # ä comes before: ä


print(evaluated)
table["double"] = 100.0
out = wp.zeros(3, dtype=float)
for _ in range(2):
    wp.launch(chosen, dim=1, inputs=[out])
print(out.numpy(), evaluated)


# ---- what is left for later ----
@wp.kernel
def unrolled(out: wp.array[float]):
    for i in range(3):
        out[i] = wp.static(float(i) + wp.static(counted(1.0) * 0.0))


@wp.kernel
def of_later(out: wp.array[float]):
    out[0] = wp.static(later)


later = 7.5
for kernel in (unrolled, of_later):
    wp.launch(kernel, dim=1, inputs=[out])
    print(out.numpy(), kernel.adj.has_unresolved_static_expressions)


# ---- what is refused ----
@wp.struct
class Inner:
    data: wp.array[int]


@wp.struct
class Outer:
    inner: Inner


def with_array():
    made = Outer()
    made.inner = Inner()
    made.inner.data = wp.zeros(1, dtype=int)
    return made


class Other:
    pass


def refused(make):
    @wp.kernel
    def kernel():
        wp.static(make())

    told(wp.launch, kernel, dim=1)


for make in (lambda: wp.zeros(1, dtype=int), with_array, lambda: None, Other, lambda: 1 / 0):
    refused(make)


@wp.kernel
def of_parameter(n: int):
    wp.static(n * 2)


@wp.kernel
def dead(n: int):
    if wp.static(False):
        wp.static(1 / 0)


told(wp.launch, of_parameter, dim=1, inputs=[1])
told(wp.launch, dead, dim=1, inputs=[1])


def made_unique(d):
    @wp.kernel(module="unique")
    def kernel(out: wp.array[float]):
        out[0] = wp.static(d["v"])

    return kernel


told(made_unique, {})
one, two = made_unique({"v": 1.0}), made_unique({"v": 2.0})
print(one is made_unique({"v": 1.0}), one is two, one.adj.resolved_static_expressions)

# ---- texts ----
print(one.adj.source.splitlines()[1], one.adj.tree is two.adj.tree, [type(node.value).__name__ for node in one.adj.tree.body[0].body])
constants, kinds, functions = chosen.adj.get_references()
print(constants, sorted(one.key for one in functions), list(one.key for one in chosen.adj.called_user_functions))


def scaled(by):
    @wp.kernel
    def kernel(x: wp.array2d[float], y: wp.array2d[float]):
        i, j = wp.tid()
        y[i, j] = x[i, j] * by * wp.sin(1.0) + wp.vec3(1.0)[0]

    return kernel


a, b = scaled(1.0), scaled(2.0)
print(a.adj.tree is b.adj.tree, a.adj._shared_source is b.adj._shared_source, a.adj.kernel_dim, a.adj.get_references())
print([(one.label, one.is_read, one.is_write) for one in a.adj.args])


def plain():
    return """
text at the margin
"""


@functools.wraps(plain)
def around():
    return plain()


source, line, tree = codegen.Adjoint.extract_function_source(around)
print(source.count("\n"), tree.body[0].name, codegen.Adjoint._try_extract_function_source(plain.__code__)[0].count("\n"))
longer = lambda q, d=1: (  # noqa: E731
    q[0] == 0.0
    and d == 1
)
print(codegen.Adjoint.extract_lambda_source(longer, only_body=True).splitlines())


class Read:
    """What is read of it once is not there again."""

    @property
    def value(self):
        self.left = [] if hasattr(self, "left") else [3.0]
        return self.left.pop()


def of_an_object(read):
    @wp.kernel(module="unique")
    def kernel(a: wp.array(dtype=float)):
        a[0] = wp.static(read.value) + 1.0

    return kernel


once = wp.zeros(1, dtype=float)
wp.launch(of_an_object(Read()), dim=1, inputs=[once])
print(once.numpy())


@wp.kernel
def unsaid(a: wp.array(dtype=float)):
    f = wp.static()
    a[0] = 1.0


try:
    wp.launch(unsaid, dim=1, inputs=[wp.zeros(1, dtype=float)])
except Exception as error:
    print(str(error).splitlines()[-1])
END
python3 -m tilec run statics.py
