# Warp's shim: what Warp refuses, in the words that programs look for.
needs numpy
export PYTHONPATH=$TILE_ROOT/python TILE_LIBRARIES=$TILE_BUILD
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
END
python3 -m tilec run refusals.py
