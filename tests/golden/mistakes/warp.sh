# What a new user of Warp gets wrong; each message says where, why and what to do, on five lines at most.
. ../../tools/mistakes.bash
mistakes 4 <<'EOF'
import warp as wp

@wp.kernel
def k(n: int, a: wp.array(dtype=float), b: wp.array(dtype=wp.vec3)):
    i = wp.tid()
...
k.compile(block_dim=64)
== warp is not imported (whole)
@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = 1.0
k.compile(block_dim=64)
== warp, misspelt (whole)
import warpp as wp

@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = 1.0
k.compile(block_dim=64)
== nothing is compiled (whole)
import warp as wp

@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = 1.0
== a launch in the module (whole)
import warp as wp
import numpy as np

@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = 1.0

a = wp.zeros(64, dtype=float)
wp.launch(k, dim=64, inputs=[a])
== an argument without a type (whole)
import warp as wp

@wp.kernel
def k(a, n: int):
    i = wp.tid()
    a[i] = 1.0
k.compile(block_dim=64)
== the decorator, misspelt (whole)
import warp as wp

@wp.kernl
def k(a: wp.array(dtype=float)):
    a[wp.tid()] = 1.0
k.compile(block_dim=64)
== a function without @wp.func that a kernel calls with too few arguments (whole)
import warp as wp

@wp.func
def f(x: float, y: float):
    return x + y

@wp.kernel
def k(a: wp.array(dtype=float)):
    a[wp.tid()] = f(1.0)
k.compile(block_dim=64)
== a way without a result (whole)
import warp as wp

@wp.func
def f(x: float):
    if x > 0.0:
        return x

@wp.kernel
def k(a: wp.array(dtype=float)):
    a[wp.tid()] = f(a[0])
k.compile(block_dim=64)
== a block_dim of 2048 (whole)
import warp as wp

@wp.kernel
def k(a: wp.array(dtype=float)):
    a[wp.tid()] = 1.0
k.compile(block_dim=2048)
== a function, misspelt
a[i] = wp.sine(a[i])
== a name, misspelt
value = a[i]
a[i] = vlaue + 1.0
== a vector of too few numbers
b[i] = wp.vec3(1.0, 2.0)
== a number for a vector
b[i] = 1.0
== an index too many
a[i, 0] = 1.0
== an attribute that vectors have not
a[i] = b[i].w
== a loop over an array
for x in a:
    a[i] = x
== a list that grows
l = []
for j in range(n):
    l.append(j)
== a text for a number
a[i] = "one"
== tiles that do not fit
x = wp.tile_load(a, shape=64)
y = wp.tile_load(a, shape=32)
wp.tile_store(a, x + y)
== a product whose operands do not fit
x = wp.tile_zeros(shape=(8, 4), dtype=float)
y = wp.tile_zeros(shape=(8, 4), dtype=float)
z = wp.tile_zeros(shape=(8, 4), dtype=float)
wp.tile_matmul(x, y, z)
== a tile of a run-time shape
x = wp.tile_load(a, shape=n)
== numpy in a kernel
import numpy as np
a[i] = np.linalg.norm(b[i])
== a colon left out
if i < n
    a[i] = 1.0
== an else-if
if i < n:
    a[i] = 1.0
else if i > n:
    a[i] = 2.0
== ++
i++
== && for and
if i > 0 && i < n:
    a[i] = 1.0
== a tile that is loaded for nothing
$ $TILEC check k.py -Wall
t = wp.tile_load(a, shape=64, offset=i * 64)
== a continue before the work
$ $TILEC check k.py -Wall
for j in range(n):
    continue
    a[i] = 1.0
== a result of another type than the function says (whole)
import warp as wp

@wp.func
def f(x: float) -> int:
    return x

@wp.kernel
def k(a: wp.array(dtype=float)):
    a[0] = float(f(a[1]))
k.compile(block_dim=64)
== another count of results (whole)
import warp as wp

@wp.func
def f(x: float) -> tuple[float, float, float]:
    return x, x

@wp.kernel
def k(a: wp.array(dtype=float)):
    p, q, r = f(a[1])
k.compile(block_dim=64)
== a vector for a component
a[i] = 1.0
b[i].y = b[i]
== a variable named wp
$ $TILEC check k.py -Wextra
wp = 1.0
a[i] = wp
EOF
