# What a new user of TileLang gets wrong; each message says where, why and what to do, on five lines at most.
. ../../tools/mistakes.bash
mistakes 8 <<'EOF'
import tilelang
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((256, 256), T.float16), B: T.Tensor((256, 256), T.float16)):
    with T.Kernel(4, 4, threads=128) as (bx, by):
...

k.compile()
== T is not imported (whole)
import tilelang

@T.prim_func
def k(A: T.Tensor((256,), T.float32)):
    with T.Kernel(1) as bx:
        T.clear(A)
== tilelang.langauge (whole)
import tilelang.langauge as T

@T.prim_func
def k(A: T.Tensor((256,), T.float32)):
    with T.Kernel(1) as bx:
        T.clear(A)
== two block indices with one name (whole)
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((256, 256), T.float16)):
    with T.Kernel(4, 4, threads=128) as bx:
        a = T.alloc_shared((64, 64), T.float16)
        T.copy(A[bx * 64, 0], a)
        T.copy(a, A[bx * 64, 0])
== one block index with two names (whole)
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((256, 256), T.float16)):
    with T.Kernel(4, threads=128) as (bx, by):
        a = T.alloc_shared((64, 64), T.float16)
        T.copy(A[bx * 64, by * 64], a)
        T.copy(a, A[bx * 64, 0])
== an annotation left out (whole)
import tilelang.language as T

@T.prim_func
def k(A, n: T.int32):
    with T.Kernel(1) as bx:
        T.clear(A)
== the extents of a tensor are not told (whole)
import tilelang
import tilelang.language as T

@tilelang.jit
def k(A: T.Tensor[[int, int], T.float16]):
    with T.Kernel(1) as bx:
        T.clear(A)
== M is not defined (whole)
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((M, 256), T.float16)):
    with T.Kernel(4) as bx:
        T.clear(A)
== numpy in a kernel (whole)
import numpy as np
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((256,), T.float32)):
    with T.Kernel(1) as bx:
        for i in T.Parallel(256):
            A[i] = np.foo(A[i])
== 2000 threads (whole)
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((256,), T.float32)):
    with T.Kernel(4, threads=2000) as bx:
        T.clear(A)
== shapes that do not fit
s = T.alloc_shared((64, 32), T.float16)
f = T.alloc_fragment((64, 64), T.float16)
T.copy(s, f)
== a product whose operands do not fit
a = T.alloc_shared((64, 64), T.float16)
b = T.alloc_shared((32, 64), T.float16)
c = T.alloc_fragment((64, 64), T.float32)
T.gemm(a, b, c)
== operands of two types
a = T.alloc_shared((64, 64), T.float16)
b = T.alloc_shared((64, 64), T.float32)
c = T.alloc_fragment((64, 64), T.float32)
T.gemm(a, b, c)
== a function, misspelt
a = T.alloc_shard((64, 64), T.float16)
== a type, misspelt
a = T.alloc_shared((64, 64), "flot16")
== a type left out
a = T.alloc_shared((64, 64))
== a keyword, misspelt
T.copy(A[0, 0], B[0, 0], coalesced_widht=4)
== too much shared memory
a = T.alloc_shared((512, 512), T.float32)
T.clear(a)
for i, j in T.Parallel(64, 64):
    B[i, j] = a[i, j]
== a number for a buffer
T.clear(bx)
== an index too few
for i, j in T.Parallel(64, 64):
    B[i] = A[i, j]
== an index too many
for i, j in T.Parallel(64, 64):
    B[i, j, 0] = A[i, j]
== a loop that single iterations leave
for i, j in T.Parallel(64, 64):
    if i > 3:
        break
    B[i, j] = 0
== each iteration writes the same
for i, j in T.Parallel(64, 64):
    B[0, 0] = A[i, j]
== a sum in a parallel loop
s = T.alloc_var(T.float32)
s = 0.0
for i in T.Parallel(64):
    s += A[i, 0]
B[0, 0] = s
== the buffer of another type
a = T.alloc_shared((64, 64), T.int32)
T.copy(A[0, 0], a)
x = a @ a
== an index beyond the buffer
a = T.alloc_shared((64, 64), T.float16)
for i, j in T.Parallel(64, 64):
    a[i + 1, j] = A[i, j]
T.copy(a, B[0, 0])
== a reduction into the wrong shape
a = T.alloc_fragment((64, 64), T.float16)
r = T.alloc_fragment((32,), T.float16)
T.copy(A[0, 0], a)
T.reduce_sum(a, r, dim=1)
== a dimension that there is not
a = T.alloc_fragment((64, 64), T.float16)
r = T.alloc_fragment((64,), T.float16)
T.copy(A[0, 0], a)
T.reduce_sum(a, r, dim=2)
== a return of a value
return A[0, 0]
== a launch in a launch
with T.Kernel(2) as c:
    pass
== an if without a colon
if bx == 0
    T.clear(A)
== a sync that nobody needs
$ $TILEC k.py --arch=sm_80 --ptxas=none -Rperf -o k.o 2>&1 | grep -A 3 sync
T.sync_threads()
A[bx, by] = B[bx, by]
== a block index named T (whole)
$ $TILEC check k.py -Wextra
import tilelang.language as T

@T.prim_func
def k(A: T.Tensor((256,), T.float32)):
    with T.Kernel(1) as T:
        pass
EOF
