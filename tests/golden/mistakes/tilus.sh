# What a new user of Tilus gets wrong; each message says where, why and what to do, on five lines at most.
. ../../tools/mistakes.bash
mistakes 8 <<'EOF'
import tilus
from tilus import float16, float32, int32

class K(tilus.Script):
    def __call__(self, n: int32, a_ptr: ~float16, b_ptr: ~float16):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        ga = self.global_view(a_ptr, dtype=float16, shape=[n, 64])
        gb = self.global_view(b_ptr, dtype=float16, shape=[n, 64])
...

k = K()
== a module that is called otherwise (whole)
import tilus
from tilus import int32
from tilus.util import cdiv

class K(tilus.Script):
    def __call__(self, n: int32):
        self.attrs.blocks = cdiv(n, 64)
        self.attrs.warps = 4

k = K()
== a method without self (whole)
import tilus
from tilus import int32, float32

class K(tilus.Script):
    def __call__(n: int32, p: ~float32):
        self.attrs.blocks = n
        self.attrs.warps = 4
        g = self.global_view(p, dtype=float32, shape=[n, 64])
        r = self.load_global(g, offsets=[0, 0], shape=[1, 64])
        self.store_global(g, r + 1.0, offsets=[0, 0])
        self.printf("done")

k = K()
== a type that is not imported (whole)
import tilus
from tilus import float32, int32

class K(tilus.Script):
    def __call__(self, n: int32, a: ~float16):
        self.attrs.blocks = 1
        self.attrs.warps = 4

k = K()
== a helper that is not imported (whole)
import tilus
from tilus import int32

class K(tilus.Script):
    def __call__(self, n: int32):
        self.attrs.blocks = cdiv(n, 64)
        self.attrs.warps = 4

k = K()
== tilus itself is not imported (whole)
from tilus import int32

class K(tilus.Script):
    def __call__(self, n: int32):
        self.attrs.blocks = 1
        self.attrs.warps = 4

k = K()
== no instance of the class (whole)
import tilus

class K(tilus.Script):
    def __call__(self):
        self.attrs.blocks = 1
        self.attrs.warps = 1
== no base class (whole)
import tilus
from tilus import int32

class K:
    def __call__(self, n: int32):
        self.attrs.blocks = 1

k = K()
== no blocks (whole)
import tilus
from tilus import int32

class K(tilus.Script):
    def __call__(self, n: int32):
        self.attrs.warps = 4

k = K()
== no warps (whole)
import tilus
from tilus import int32

class K(tilus.Script):
    def __call__(self, n: int32):
        self.attrs.blocks = 1

k = K()
== a parameter without a type (whole)
import tilus
from tilus import int32

class K(tilus.Script):
    def __call__(self, n, p: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 4

k = K()
== an open key (whole)
import tilus
from tilus import int32

class K(tilus.Script):
    def __call__(self, n: int):
        self.attrs.blocks = n
        self.attrs.warps = 4

k = K()
== a block size of the constructor left out (whole)
import tilus
from tilus import int32

class K(tilus.Script):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def __call__(self, n: int32):
        self.attrs.blocks = 1
        self.attrs.warps = 4

k = K()
== an attribute that __init__ never set (whole)
import tilus
from tilus import int32

class K(tilus.Script):
    def __init__(self):
        super().__init__()
        self.block_m = 64

    def __call__(self, n: int32):
        self.attrs.blocks = self.blockm
        self.attrs.warps = 4

k = K()
== shapes that do not fit
a = self.load_global(ga, offsets=[0, 0], shape=[64, 32])
b = self.load_global(gb, offsets=[0, 0], shape=[64, 64])
self.store_global(gb, a + b, offsets=[0, 0])
== a product whose operands do not fit
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
b = self.load_global(gb, offsets=[0, 0], shape=[32, 64])
acc = self.dot(a, b)
== the sum of a product is of another type
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
b = self.load_global(gb, offsets=[0, 0], shape=[64, 64])
acc = self.register_tensor(dtype=int32, shape=[64, 64], init=0)
self.dot(a, b, acc, out=acc)
== a store of another type
self.store_global(gb, self.register_tensor(dtype=float32, shape=[64, 64], init=0.0), offsets=[0, 0])
== a method, misspelt
a = self.load_globl(ga, offsets=[0, 0], shape=[64, 64])
== a name, misspelt
a = self.load_global(gA, offsets=[0, 0], shape=[64, 64])
== a keyword, misspelt
a = self.load_global(ga, offset=[0, 0], shape=[64, 64])
== offsets left out
a = self.load_global(ga, shape=[64, 64])
== offsets of too few dimensions
a = self.load_global(ga, offsets=[0], shape=[64, 64])
== a shape that is known too late
a = self.load_global(ga, offsets=[0, 0], shape=[n, 64])
== too much shared memory
s = self.shared_tensor(dtype=float32, shape=[512, 512])
self.store_shared(s, self.register_tensor(dtype=float32, shape=[512, 512], init=0.0))
self.sync()
self.store_global(gb, self.load_shared(s).to(float16), offsets=[0, 0])
== a number where a tile belongs
self.store_global(gb, 1.0, offsets=[0, 0])
== a pointer that is loaded from directly
a = self.load_global(a_ptr, offsets=[0, 0], shape=[64, 64])
== a subscript of a view
x = ga[0, 0] + 1.0
self.store_global(gb, x, offsets=[0, 0])
== a torch function in a kernel
import torch
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
b = torch.relu(a)
== async code
async def f():
    pass
== wrong indentation
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
  b = a + 1
== a bracket left open
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64]
b = a + 1
== a value that is returned
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
return a
== an assertion that fails (whole)
import tilus
from tilus import int32

BLOCK = 100
assert BLOCK % 64 == 0, "BLOCK must be a multiple of 64"

class K(tilus.Script):
    def __call__(self, n: int32):
        self.attrs.blocks = BLOCK
        self.attrs.warps = 4

k = K()
== 33 warps (whole)
import tilus

class K(tilus.Script):
    def __call__(self):
        self.attrs.blocks = 1
        self.attrs.warps = 33

k = K()
== a store behind a return
$ $TILEC check k.py -Wall
x = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
return
self.store_global(gb, x, offsets=[0, 0])
== a tile that is loaded for nothing
$ $TILEC check k.py -Wall
x = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
y = self.load_global(gb, offsets=[0, 0], shape=[64, 64])
self.store_global(gb, x + x, offsets=[0, 0])
== a name of the dialect for a number
$ $TILEC check k.py -Wextra
int32 = 4
x = self.load_global(ga, offsets=[int32, 0], shape=[64, 64])
self.store_global(gb, x, offsets=[0, 0])
== a warning that fails the run
$ $TILEC check k.py -Werror=unused-load
self.load_global(ga, offsets=[0, 0], shape=[64, 64])
== conditions of tiles joined by and
r = self.load_global(ga, offsets=[0, 0], shape=[16, 64])
r = self.where(r > 0.0 and r < 1.0, r, 0.0)
== a tile printed as a number
self.printf("%f\n", self.load_global(ga, offsets=[0, 0], shape=[16, 64]))
== text printed by %s that only the run knows
self.printf("%s rows\n", n)
== arguments without their names
r = self.register_tensor(float32, [16, 64], init=0.0)
== an element of a pointer
first = a_ptr[0]
== bits of another width
r = self.view(self.load_global(ga, offsets=[0, 0], shape=[16, 64]), dtype=float32)
EOF
