# Warp's shim: what annotations say by subscripts, the extents of launches, options of modules.
needs numpy
cd "$TMP"
cat >annotations.py <<'END'
from typing import Any, Literal, TypeVar

import types
import numpy as np

import typing

import warp as wp
from warp._src import context
from warp._src.types import Matrix, Quaternion, Vector, get_type_code, is_tile, launch_bounds_t, matches_array_class


def told(function, *arguments, **named):
    try:
        return function(*arguments, **named)
    except (RuntimeError, ValueError, TypeError) as error:
        print(type(error).__name__, str(error).splitlines()[-1])


# ---- types ----
print(Vector[float, Literal[3]] is wp.vec3, Matrix[wp.float64, 2, 4]._shape_, Quaternion[float] is wp.quat, wp.vec3._wp_generic_type_hint_ is Vector)
print(Vector[TypeVar("T"), 3].__origin__ is Vector)
for family, given in ((Vector, float), (Vector, (float, -1)), (Vector, (float, Literal[2, 3])), (wp.array, (float, 5)), (wp.array2d, (float, 2)),
                      (wp.tile, ()), (wp.tile, (float, 0))):
    told(family.__getitem__ if not isinstance(family, type) else family.__class_getitem__ if hasattr(family, "__class_getitem__")
         else type(family).__getitem__.__get__(family), given)
for kind in (wp.array[float], wp.array4d[wp.uint32], wp.indexedarray[float, Literal[3]], wp.array[wp.types.vector(5, float)], wp.array[float, Any]):
    print(repr(kind), get_type_code(kind) if kind.ndim is not Any else "")
print(wp.array[float] == wp.array[wp.float32], wp.array[float] == wp.indexedarray[float], len({wp.array[float], wp.array[wp.float32]}))
print(wp.array[float] | None, hasattr(wp.array[float], "__dict__"), matches_array_class(wp.array2d[float], wp.array))
tile = wp.tile[float, Literal[8], 4]
print(get_type_code(tuple[float, wp.vec3, ...]), is_tile(wp.tile(dtype=float, shape=(2, 2))), wp.types.type_is_tile(wp.tile), wp.dtype_to_numpy(wp.bfloat16))
print(is_tile(tile), tile.shape, wp.tile[float].shape, get_type_code(tile), get_type_code(wp.tile[float]))


@wp.kernel
def lengths(x: wp.array[Vector[wp.float32, Literal[3]]], y: wp.array[float]):
    y[wp.tid()] = wp.length(x[wp.tid()])


@wp.func
def same(t: wp.tile[float, Literal[8]]) -> wp.tile[float, Literal[8]]:
    return t


@wp.kernel
def twice(x: wp.array[float]):
    t = wp.tile_load(x, shape=8)
    wp.tile_store(x, same(t) * 2.0)


x, y = wp.array(np.ones((2, 3)), dtype=wp.vec3), wp.zeros(8, dtype=float)
wp.launch(lengths, dim=2, inputs=[x, y])
wp.launch_tiled(twice, dim=1, inputs=[y], block_dim=32)
print(y.numpy()[:3])
told(wp.launch, lengths, dim=2, inputs=[[1.0], y])
told(wp.launch, lengths, dim=2, inputs=[wp.array[wp.vec3], y])


def one_of_two(x: wp.array[float] | float):
    pass


told(wp.kernel, one_of_two)
told(wp.func, one_of_two)

# ---- arrays of a program's own classes, of Fabric, of other programs ----
class Tagged(wp.array):
    def __init__(self, *given, tag, **named):
        self.tag = tag
        super().__init__(*given, **named)


class Both(wp.array, wp.indexedarray):
    pass


@wp.kernel
def add_one(x: wp.array[float]):
    x[wp.tid()] += 1.0


@wp.kernel
def add_any(x: wp.fabricarray[Any]):
    x[wp.tid()] += x.dtype(1)


tagged = Tagged([1.0, 2.0], tag="mine", dtype=float)
wp.launch(add_one, dim=2, inputs=[tagged])
print(tagged.numpy(), tagged.tag, context.pack_arg(add_one, wp.array[float], "x", tagged, tagged.device).ndim, type(tagged + 1.0).__name__)
told(Tagged.__class_getitem__, float)
told(context.pack_arg, add_one, wp.array[float], "x", Both.__new__(Both), tagged.device)
told(wp.launch, add_one, dim=1, inputs=[wp.zeros(1, dtype=int)])
told(wp.launch, add_one, dim=1, inputs=[wp.indexedarray(tagged, [wp.zeros(1, dtype=int)])])


def of_tagged(x: tagged):
    pass


told(wp.kernel, of_tagged)
told(wp.struct, type("Struct", (), {"__annotations__": {"x": tagged}}))
described = {"a": {"type": (True, "f4", 1, 0, ""), "access": "rw", "pointers": [tagged.ptr, tagged.ptr + 4], "counts": [1, 1]}}
fabric = wp.fabricarray({"version": 1, "device": str(tagged.device), "attribs": described, "_ref": tagged}, "a")
wp.launch(add_any, dim=2, inputs=[fabric])
print(tagged.numpy(), (fabric * 2.0).numpy())


@wp.struct
class OfFabric:
    inner: wp.fabricarray[float]
    by: float


@wp.kernel
def scale_inner(given: OfFabric):
    i = wp.tid()
    given.inner[i] = given.inner[i] * given.by


holder = OfFabric(inner=fabric, by=3.0)
wp.launch(scale_inner, dim=2, inputs=[holder])
print(tagged.numpy(), holder.inner is fabric)
told(setattr, holder, "inner", [1.0])
told(holder.to, "cpu")
for kind in ((True, "f4", 1, 0), (True, "f4", 6, 0, "matrix")):
    wrong = {"b": {**described["a"], "type": kind}}
    told(wp.fabricarray, {"version": 1, "device": str(tagged.device), "attribs": wrong, "_ref": tagged}, "b")
print([kind.__new__(kind).__del__() for kind in (wp.array, wp.fabricarray)])
told(lambda: wp.fabricarrayarray(data={"version": 1, "device": str(tagged.device), "attribs": described, "_ref": tagged}, attrib="a"))


class Other:
    __cuda_array_interface__ = tagged.__cuda_array_interface__


wp.launch(add_one, dim=2, inputs=[Other()])
wp.launch(add_one, dim=2, inputs=[tagged.__ctype__()])
print(tagged.numpy())


@wp.kernel
def of_any(x: wp.array[Any]):
    x[0] = x[0]


told(wp.launch, of_any, 1, [wp.fixedarray(dtype=float, shape=1)])
told(wp.overload, of_any, [wp.fixedarray(dtype=float, shape=1)])


class OwnFixed(wp.fixedarray):
    pass


own = OwnFixed.__new__(OwnFixed)
wp.fixedarray.__init__(own, dtype=float, shape=1)
told(wp.launch, of_any, 1, [own])


# ---- structs of the module in kernels of a function ----
@wp.struct
class Point:
    x: float
    v: wp.vec2


def point_kernel():
    @wp.kernel(module="unique")
    def kernel(a: wp.array[Point], o: wp.array(dtype=Point), given: Point):
        i = wp.tid()
        value = Point()
        if i == 0:
            value = a[0]
        elif i == 1:
            value = given
        o[i] = value

    return kernel


points = wp.array([Point(x=1.0, v=wp.vec2(2.0, 3.0))], dtype=Point)
out = wp.zeros(3, dtype=Point)
wp.launch(point_kernel(), dim=3, inputs=[points, out, Point(x=4.0)])
print(out.numpy().tolist())


# ---- functions of one name ----
@wp.func
def twice_of(x: float) -> float:
    return x + x


@wp.func
def twice_of(x: wp.array[int]) -> wp.array[int]:
    return x


ints = wp.zeros(1, dtype=int)
print(twice_of(2.0), twice_of(ints) is ints)
told(twice_of, 2)
told(twice_of, True)


@wp.func
def applied(g: wp.Function, x: float):
    return g(x)


print(applied(wp.abs, -2.0), applied(twice_of, 3.0))
told(applied, 1.0, 3.0)


# ---- functions of several forms, whose parameters have names of their own ----
@wp.kernel
def by_names(m: wp.mat44, y: wp.array[wp.vec3]):
    y[0] = wp.transform_point(point=wp.vec3(1.0, 2.0, 3.0), mat=m)
    y[1] = wp.transform_vector(vec=wp.vec3(1.0, 2.0, 3.0), xform=wp.transform_identity())
    y[2] = wp.curlnoise(xyz=wp.vec3(0.25, 0.5, 0.75), state=wp.rand_init(42)) - wp.curlnoise(wp.rand_init(42), wp.vec3(0.25, 0.5, 0.75))
    y[3] = wp.vec3(wp.noise(state=wp.rand_init(42), xy=wp.vec2(0.5, 0.25)) - wp.noise(wp.rand_init(42), wp.vec2(0.5, 0.25)))


four = wp.zeros(4, dtype=wp.vec3)
wp.launch(by_names, dim=1, inputs=[wp.mat44(np.eye(4)), four])
print(four.numpy().tolist())

# ---- extents ----
tid = context.builtin_functions["tid"]
FALSE = False


@wp.kernel
def scalar(x: wp.array[int]):
    x[tid()] = 1


@wp.kernel
def pair(x: wp.array2d[int]):
    i, j = wp.tid()
    x[i, j] = 1


@wp.kernel
def dead():
    i = tid() if FALSE else 0


most = 2**31
ints = wp.zeros(4, dtype=int)
wp.launch(scalar, dim=np.int32(4), inputs=[ints])
print(ints.numpy())
command = wp.launch(scalar, dim=(most, 2), inputs=[ints], record_cmd=True)
print(command.bounds.size, command.bounds.coord_mult, list(command.bounds.shape))
told(command.set_dim, most + 1)
told(wp.launch, scalar, dim=(1, -1), inputs=[ints])
told(wp.launch, scalar, dim=(1, 1, 1, 1, 1), inputs=[ints])
told(wp.launch, scalar, dim=1.5, inputs=[ints])
told(wp.launch, pair, dim=(1, most + 1), inputs=[wp.zeros((1, 1), dtype=int)])
print(wp.launch(dead, dim=most + 1, record_cmd=True).bounds.size, wp.launch(pair, dim=(0, most + 1), inputs=[wp.zeros((1, 1), dtype=int)]))
print(len(launch_bounds_t((4, 5)).shape), context._canonicalize_dim([np.int64(3), 4]))

where = tid
ours = types.SimpleNamespace(place=types.SimpleNamespace(tid=tid), unused=1.5)


@wp.kernel
def renamed(x: wp.array2d[int]):
    i, j = where()
    x[i, j] = 10 * i + j


@wp.kernel
def renamed_here(x: wp.array2d[int]):
    here = where
    i, j = here()
    x[i, j] = 10 * i + j


@wp.kernel
def qualified(x: wp.array2d[int]):
    i, j = ours.place.tid()
    x[i, j] = 10 * i + j


for kernel in (renamed, renamed_here, qualified):
    grid = wp.zeros((2, 3), dtype=int)
    wp.launch(kernel, dim=(2, 3), inputs=[grid])
    wp.launch(kernel, dim=(2, 3), inputs=[grid.transpose().contiguous().transpose()])
    print(grid.numpy().tolist())

# ---- texts that name what the function is defined in ----
def made_for(dtype):
    def set_all(x: "wp.array(dtype=dtype)"):
        x[wp.tid()] = dtype(4.5)

    return wp.Kernel(func=set_all)


halves = wp.zeros(2, dtype=wp.float16)
wp.launch(made_for(wp.float16), dim=2, inputs=[halves])
print(halves.numpy(), made_for(wp.vec2).kinds["x"], wp.array().dtype, wp.array().ndim, wp.indexedarray(dtype=float).type)

# ---- references ----
print(wp.ref[int], wp.ref[wp.vec3].value_type.__name__, wp.ref[int] == wp.ref[wp.int32], len({wp.ref[int], wp.ref[wp.int32], wp.ref[float]}))


@wp.func
def one_more(x: wp.ref[int]):
    x += 1


@wp.kernel
def count_up(x: wp.array[int]):
    one_more(x[wp.tid()])


wp.launch(count_up, dim=4, inputs=[ints])
print(ints.numpy())


def by_value():
    @wp.func
    def one_less(x: int) -> int:
        return x - 1

    @wp.func
    def one_less(x: wp.ref[int]):
        x -= 1


told(by_value)
print([wp.types.is_array(one) for one in (ints, wp.array[float], fabric, np.zeros(2), np.float32(1.0), float)])

# ---- what a function says that it returns ----
@wp.func
def own_numbers() -> wp.array[int]:
    made = wp.zeros(shape=(2,), dtype=int)
    made[1] = 7
    return made


@wp.func
def fixed_numbers() -> wp.fixedarray(shape=(2,), dtype=int):
    made = wp.zeros(shape=(2,), dtype=int)
    made[1] = 7
    return made


def second_of(numbers):
    @wp.kernel
    def second(x: wp.array[int]):
        x[0] = numbers()[1]

    return second


for one in (own_numbers, fixed_numbers):
    told(wp.launch, second_of(one), dim=1, inputs=[ints])
print(ints.numpy())
try:
    wp.launch(second_of(own_numbers), dim=1, inputs=[ints])
except Exception as error:
    print(str(error).splitlines()[0])

# ---- options ----
print(wp.get_module("__main__").resolve_options(wp.config, 64)["block_dim"], "enable_mathdx_solver" in wp.get_module_options())


# ---- a rank that is left open; a name that launches have, too ----
@wp.kernel
def of_rank(x: wp.array[float, typing.Any], block_dim: int):
    x[wp.tid()] = float(block_dim)


x = wp.zeros(2, dtype=float)
wp.launch(of_rank, dim=2, inputs=[x, 7])
print(of_rank.is_generic, x.numpy())
END
python3 -m tilec run annotations.py
