# Warp's shim: what Warp refuses, in the words that programs look for.
needs numpy
cd "$TMP"
cat >refusals.py <<'END'
from typing import Any

import warp as wp


def told(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except Exception as error:
        kinds = [kind for kind in (KeyError, TypeError, AttributeError, ValueError, RuntimeError) if isinstance(error, kind)]
        print(kinds[0].__name__, "|", str(error).splitlines()[-1])


def launched(kernel, *inputs):
    told(wp.launch, kernel, dim=1, inputs=inputs)


# ---- names ----
x = wp.array([1.0, 2.0, 3.0], dtype=float)


@wp.kernel(module="unique")
def of_no_name():
    y = absent_name


@wp.kernel(module="unique")
def of_no_function():
    y = wp.absent_function(1)


@wp.kernel(module="unique")
def of_no_module():
    y = wp.absent.function(1)


@wp.kernel(module="unique")
def of_a_module():
    y = wp.types.tid()


@wp.kernel(module="unique")
def of_no_attribute():
    a = wp.vec3(0.0)
    y = a.dtype.shape


def of_an_array():
    inner = wp.zeros(3, dtype=float)

    @wp.kernel(module="unique")
    def kernel(out: wp.array[float]):
        out[0] = inner[0]

    return kernel


for kernel in (of_no_name, of_no_function, of_no_module, of_a_module, of_no_attribute):
    launched(kernel)
launched(of_an_array(), x)


# ---- what is unpacked ----
@wp.kernel(module="unique")
def no_end(a: wp.array[int]):
    v = wp.vec3i(*a[0:])


@wp.kernel(module="unique")
def run_time(a: wp.array[int]):
    v = wp.vec3i(*a[: a[0]])


@wp.kernel(module="unique")
def negative(a: wp.array[int]):
    v = wp.vec3i(*a[:-3])


@wp.kernel(module="unique")
def backwards(a: wp.array[int]):
    v = wp.vec3i(*a[5:2:-1])


@wp.kernel(module="unique")
def number(a: wp.array[int]):
    n = 42
    v = wp.vec3i(*n)


whole = wp.zeros(10, dtype=int)
for kernel in (no_end, run_time, negative, backwards, number):
    launched(kernel, whole)


# ---- results ----
@wp.kernel(module="unique")
def nothing(a: float) -> None:
    return


@wp.kernel(module="unique")
def value(a: float):
    if a > 0.0:
        return a


@wp.kernel(module="unique")
def annotated(a: Any) -> float:
    return


for kernel in (nothing, value, annotated):
    launched(kernel, 1.0)


# ---- names and entry points ----
def plain(params: wp.array[float]):
    params[0] = 1.0


told(wp.kernel, plain, name="1st")
told(wp.kernel, plain, entry_point_abi="other")
told(wp.kernel, plain, entry_point_abi="external_constant_params")
launched(wp.kernel(plain, entry_point_abi="external_constant_params", enable_backward=False, module="unique"), x)


@wp.struct
class Params:
    values: wp.array[float]


def of_none():
    return


def of_threads(params: Params):
    params.values[wp.tid()] = 1.0


def of_a_block(params: Params):
    wp.tile_store(params.values, wp.tile_zeros(shape=4, dtype=float, storage="shared"))


def of_a_sum(params: Params):
    wp.atomic_add(params.values, 0, 1.0)


def entry(function, **options):
    return wp.kernel(function, entry_point_abi="external_constant_params", enable_backward=False, module="unique", module_options=options)


for made in (entry(of_none), entry(plain), entry(of_threads), entry(of_a_block), entry(of_a_sum, deterministic=wp.DeterministicMode.RUN_TO_RUN)):
    told(wp.force_load, "cuda:0", [made.module])
told(wp.force_load, "cpu", [entry(of_a_sum).module])
told(wp.force_load, "cuda:0", [entry(of_a_sum).module])


# ---- overloads ----
@wp.kernel
def generic(a: Any, out: wp.array[Any]):
    out[0] = a + a


@wp.overload
def generic(a: float, out: wp.array[float]): ...


print(type(generic).__name__, len(generic.overloads))
wp.launch(generic, dim=1, inputs=[2.5, x])
print(x.numpy()[0])


def generic_too(a: Any):
    return


wp.kernel(generic_too, name="one")
wp.kernel(generic_too, name="other")


def generic_too(a: float): ...


told(wp.overload, generic_too)


@wp.kernel
def returning(a: Any):
    return


def returning(a: float) -> float: ...


told(wp.overload, returning)


# ---- what means something in Python, and nothing in Warp's kernels ----
@wp.func
def double(v: float):
    return v * 2.0


@wp.func
def halve(v: float):
    return v * 0.5


@wp.kernel
def rebound(out: wp.array[float]):
    f = double
    f = halve
    out[0] = f(1.0)


@wp.kernel
def revalued(out: wp.array[float]):
    f = double
    f = 1.0
    out[0] = f


@wp.kernel(enable_backward=False)
def of_gradient(out: wp.array[float]):
    g = wp.grad(double)
    g, v = (1.0, 2.0)
    out[0] = v


@wp.kernel(enable_backward=False)
def updated(out: wp.array[float]):
    g = wp.grad(double)
    g += 1.0
    out[0] = 1.0


@wp.kernel
def of_list(out: wp.array[float]):
    v = [1.0, 2.0]


@wp.kernel
def of_types(out: wp.array[float]):
    out[0] = 1 * 2.0


@wp.kernel
def of_vectors(out: wp.array[float]):
    out[0] = float(wp.dot(wp.vec2(1.0, 2.0), wp.vec2h(wp.float16(1.0), wp.float16(2.0))))


@wp.kernel
def constant_in_while(out: wp.array[float]):
    i = 0
    while i < 3:
        i += 1
    out[0] = float(i)


for kernel in (rebound, revalued, of_gradient, updated, of_list, of_types, of_vectors, constant_in_while):
    launched(kernel, x)


@wp.kernel
def constant(n: int, out: wp.array[float]):
    total = 0.0
    for i in range(n):
        total += out[i]


launched(constant, 2, x)


@wp.kernel
def accepted(n: int, out: wp.array[float]):
    total = float(0.0)
    last = 0
    step = 1
    f = double
    if n > 100:
        f = double
    for i in range(n):
        total += f(out[i])
        last = i
        for j in range(3):
            step = j
    count = 0
    for i in range(2):
        count += 1
    out[0] = total + float(last) + float(count) + float(step) * 0.0


x = wp.array([1.0, 2.0, 3.0], dtype=float)
wp.launch(accepted, dim=1, inputs=[2, x])
print(x.numpy()[0])


# ---- fields, comparisons, functions that are given, bounds ----
@wp.struct
class Inner:
    x: int


@wp.struct
class Outer:
    inner: Inner


@wp.kernel(module="unique")
def of_no_field(outer: Outer):
    y = outer.absent


@wp.kernel(module="unique")
def of_no_inner_field(outer: Outer):
    y = outer.inner.absent


for kernel in (of_no_field, of_no_inner_field):
    launched(kernel, Outer())


@wp.kernel(module="unique")
def unequal():
    a = wp.int32(10)
    b = 10
    c = True
    if a == b == c:
        pass


@wp.kernel(module="unique")
def equal(flag: wp.bool):
    a = wp.int32(10)
    b = 10
    c = True
    if a == b and flag == c:
        pass


launched(unequal)
wp.launch(equal, dim=1, inputs=[True])


@wp.func
def applied(g: wp.Function, a: float):
    return g(a)


@wp.func
def own_gradient(g: wp.Function, a: float):
    return a


@wp.func_grad(own_gradient)
def adj_own_gradient(g: wp.Function, a: float, adj_ret: float):
    wp.adjoint[a] += adj_ret


@wp.kernel(module="unique")
def of_printf(out: wp.array[float]):
    out[0] = applied(wp.printf, 0.5)


@wp.kernel(module="unique")
def of_own_gradient(out: wp.array[float]):
    out[0] = own_gradient(double, 0.5)


@wp.kernel(module="unique")
def of_sin(out: wp.array[float]):
    out[0] = applied(wp.sin, 0.0)


for kernel in (of_printf, of_own_gradient):
    launched(kernel, x)
wp.launch(of_sin, dim=1, inputs=[x])
print(x.numpy()[0])


@wp.kernel(module="unique")
def too_wide(out: wp.array[float]):
    wp.tile_store(out, wp.tile_arange(0, 1180591620717411303424, 18446744073709551616.0, dtype=float))


told(wp.launch_tiled, too_wide, dim=1, inputs=[x], block_dim=64)

pattern = wp._src.types.types_equal_generic
told(pattern, (wp.float32, wp.float64, ...), (wp.float32, wp.float32))
print(pattern((wp.float32, ...), (wp.float32, wp.float32)), pattern((wp.float32, Any), (wp.float32, wp.int8)), pattern(Any, wp.vec3),
      pattern((wp.float32, ...), (wp.float32, wp.int8)), pattern(wp.array(dtype=Any, ndim=2), wp.array(dtype=float, ndim=2)))


# ---- parts of elements ----
vectors, reals = wp.zeros(2, dtype=wp.vec3), wp.array([2.0, 1.0], dtype=float)


@wp.kernel(module="unique")
def at_a_real(out: wp.array[wp.vec3]):
    out[0.0].x = 1.0


@wp.kernel(module="unique")
def at_one_of_reals(out: wp.array[wp.vec3], at: wp.array[float]):
    out[at[0]].x += 1.0


@wp.kernel(module="unique")
def multiplied(out: wp.array[wp.vec3], by: wp.array[float]):
    out[0].x *= by[0]


@wp.kernel(module="unique", enable_backward=False)
def multiplied_forward(out: wp.array[wp.vec3], by: wp.array[float]):
    out[0].x += 3.0
    out[0].x *= by[0]


@wp.kernel(module="unique")
def whole_numbers(out: wp.array[wp.vec3i], at: wp.array[int]):
    out[at[0]].x += 3
    out[at[0]][0] *= 2


for kernel, given in ((at_a_real, [vectors]), (at_one_of_reals, [vectors, reals]), (multiplied, [vectors, reals])):
    told(kernel.module.load, "cuda:0")
    launched(kernel, *given)
wp.launch(multiplied_forward, dim=1, inputs=[vectors, reals])
integers = wp.zeros(1, dtype=wp.vec3i)
wp.launch(whole_numbers, dim=1, inputs=[integers, wp.zeros(1, dtype=int)])
print(vectors.numpy()[0, 0], integers.numpy()[0, 0])


@wp.func
def add(a: float, b: float) -> float:
    return wp.sub(a, b)


@wp.kernel(module="unique")
def own_operator(out: wp.array[wp.vec3], by: wp.array[float]):
    out[0][1] += by[0]


@wp.kernel(module="unique")
def own_operator_of_others(out: wp.array[wp.vec3d]):
    out[0][1] += wp.float64(2.0)


@wp.kernel(module="unique", enable_backward=False)
def own_operator_forward(out: wp.array[wp.vec3], by: wp.array[float]):
    out[0].x += by[0]


launched(own_operator, vectors, reals)
launched(own_operator_forward, vectors, reals)
doubles = wp.zeros(1, dtype=wp.vec3d)
wp.launch(own_operator_of_others, dim=1, inputs=[doubles])
print(doubles.numpy()[0, 1])

# ---- arrays of the program's, which no kernel gets ----
table = wp.zeros(4, dtype=float)


@wp.kernel
def looks_up(out: wp.array(dtype=float)):
    out[0] = table[0]


@wp.func
def looked_up(i: int):
    return table[i]


@wp.kernel
def calls(out: wp.array(dtype=float)):
    out[wp.tid()] = looked_up(wp.tid())


@wp.kernel
def as_constants(out: wp.array(dtype=float)):
    out[0] = float(wp.static(table.shape[0]))


told(wp.launch, looks_up, dim=1, inputs=[table])
told(wp.launch, calls, dim=4, inputs=[table])
wp.launch(as_constants, dim=1, inputs=[table])
print(table.numpy()[0])

# ---- what the driver says of a kernel that ended ----
from tilec import native
from warp import devices

native.last_error = lambda: b"tile_synchronize: cuStreamSynchronize failed with CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure"
told(devices._waited, 1)
native.last_error = lambda: b"another error"
told(devices._waited, 1)
END
python3 -m tilec run refusals.py
