# What calls in Warp kernels refuse: missing and wrong arguments, shapes that do not fit, names that do not exist.
cat >"$TMP/calls.tile" <<'END'
import warp as wp
from typing import Any


@wp.kernel
def a(x: wp.array(dtype=float)):
    t = wp.tile_load(x, shape=8)
    wp.tile_stor(x, t)


@wp.kernel
def b(x: wp.array(dtype=float)):
    t = wp.mesh_query_point(x, 1)


@wp.kernel
def c(x: wp.array(dtype=float)):
    t = wp.tile_load(x, shape=8)
    wp.tile_store(x, 1.0)


@wp.kernel
def g(x: wp.array(dtype=float)):
    t = wp.tile_sum(x)


@wp.kernel
def h(x: wp.array(dtype=float)):
    t = wp.tile_load(x, shape=8)
    u = wp.tile_matmul(t, t)


@wp.kernel
def i(x: wp.array(dtype=float)):
    t = wp.tile_load(x, shape=(8, 8))


@wp.kernel
def j(x: wp.array(dtype=float)):
    t = wp.tile_load(x, shape=8, storage="sharde")


@wp.kernel
def k(x: wp.array(dtype=float)):
    t = wp.tile_map(wp.sin)


@wp.kernel
def l(x: wp.array(dtype=float)):
    v = wp.vec3(1.0, 2.0)


@wp.kernel
def m(x: wp.array(dtype=float)):
    v = wp.vec3(1.0, 2.0, 3.0) + wp.vec2(1.0, 2.0)


@wp.kernel
def n(x: wp.array(dtype=float)):
    x[0, 1] = 1.0


@wp.kernel
def o(x: wp.array(dtype=float)):
    i, j, k, l, m = wp.tid()


@wp.kernel
def p(x: wp.array(dtype=float)):
    wp.tile_sort(wp.tile_load(x, shape=8), wp.tile_load(x, shape=9))


@wp.kernel
def q(x: wp.array(dtype=float)):
    t = wp.tile_reduce(wp.add)


@wp.kernel
def r(x: wp.array(dtype=float)):
    t = wp.tile_zeros(shape=8, dtype=float)
    t[9] = 1.0


@wp.kernel
def s(x: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(x, 1.0)


@wp.kernel
def t(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = wp.atomic_and(x, i, 1.0)


@wp.kernel
def u(x: wp.array(dtype=float)):
    i = wp.tid()
    y = wp.lerp(1.0)


@wp.kernel
def v(x: wp.array(dtype=float)):
    n = wp.tid()
    t = wp.tile_zeros(shape=n, dtype=float)


@wp.kernel
def w(x: wp.array(dtype=float)):
    t = wp.tile_load(x, shape=8)
    wp.tile_broadcast(t, shape=(2, 9))
    u = wp.tile_broadcast(t, shape=(2, 9)) + wp.tile_ones(shape=(2, 9), dtype=float)


@wp.kernel
def y(x: wp.array(dtype=float)):
    s = wp.tile_cholesky(wp.tile_zeros(shape=(4, 5), dtype=float))


@wp.kernel
def generic(x: wp.array(dtype=Any), s: Any):
    i = wp.tid()
    x[i] = s


@wp.kernel
def slices(x: wp.array(dtype=float)):
    n = wp.tid()
    t = wp.tile_load(x[::0], shape=8)


@wp.struct
class Pair:
    a: float
    b: wp.array(dtype=float)


@wp.kernel
def fields(x: wp.array(dtype=float)):
    p = Pair(1.0, c=2.0)


@wp.func
def grow(x: float, by: float = 3.0):
    return x * by


@wp.func
def grow(x: int, by: int):
    return x * by


@wp.kernel
def grown(x: wp.array(dtype=float)):
    x[0] = grow(x[0], 2.0, by=1.0) + grow(1)
END
cd "$TMP"
for kernel in a b c g h i j k l m n o p q r s t u v w y generic slices fields grown; do
    "$TILEC" check --export "k = $kernel.compile(block_dim=64)" calls.tile 2>&1 | grep 'error'
done
"$TILEC" check --export 'k = generic.compile(x=wp.float32, s=wp.float32)' calls.tile
"$TILEC" check --export 'k = generic.compile(y=wp.float32)' calls.tile 2>&1 | grep error
cat >>calls.tile <<'END'


@wp.struct
class Chosen:
    a: float
    b: wp.indexedarray(dtype=float)


@wp.kernel
def pairs(x: wp.array(dtype=Chosen)):
    i = wp.tid()
    x[i] = x[i + 1]


@wp.kernel
def ahead(x: wp.array(dtype=float), n: int):
    x[0] = float(wp.static(n))


@wp.kernel
def ahead_of(x: wp.array(dtype=float), n: int):
    for k in range(n):
        x[0] = float(wp.static(len(x.shape) / 2 + k))
END
for kernel in pairs ahead ahead_of; do
    "$TILEC" check --export "k = $kernel.compile()" calls.tile 2>&1 | grep error
done
