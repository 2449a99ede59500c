# What authors of TileLang kernels get wrong: each message says where, why, and what was meant.
cd $TMP
try() {
    echo "== $1"
    sed "s/^/        /" > body
    cat - body > k.py <<'EOF'
import tilelang
import tilelang.language as T

@tilelang.lazy_jit
def k(A: T.Tensor((256, 256), T.float16), B: T.Tensor((256, 256), T.float16)):
    with T.Kernel(4, 4, threads=128) as (bx, by):
EOF
    echo "k.compile()" >> k.py
    $TILEC k.py --arch=sm_80 --ptxas=none -o k.o 2>&1 | grep -vE '^ +[0-9]* \|'
}
try 'shapes that do not fit' <<'EOF'
s = T.alloc_shared((64, 32), T.float16)
f = T.alloc_fragment((64, 64), T.float16)
T.copy(s, f)
EOF
try 'a product that is none' <<'EOF'
a = T.alloc_shared((64, 64), T.float16)
b = T.alloc_shared((32, 64), T.float16)
c = T.alloc_fragment((64, 64), T.float32)
T.gemm(a, b, c)
EOF
try 'operands of two types' <<'EOF'
a = T.alloc_shared((64, 64), T.float16)
b = T.alloc_shared((64, 64), T.float32)
c = T.alloc_fragment((64, 64), T.float32)
T.gemm(a, b, c)
EOF
try 'a function, misspelt' <<'EOF'
a = T.alloc_shard((64, 64), T.float16)
EOF
try 'a type, misspelt' <<'EOF'
a = T.alloc_shared((64, 64), "flot16")
EOF
try 'a keyword, misspelt' <<'EOF'
T.copy(A[0, 0], B[0, 0], coalesced_widht=4)
EOF
try 'too much shared memory' <<'EOF'
a = T.alloc_shared((512, 512), T.float32)
T.clear(a)
for i, j in T.Parallel(64, 64):
    B[i, j] = a[i, j]
EOF
try 'a number for a buffer' <<'EOF'
T.clear(bx)
EOF
try 'an index too few' <<'EOF'
for i, j in T.Parallel(64, 64):
    B[i] = A[i, j]
EOF
try 'a loop that single iterations leave' <<'EOF'
for i, j in T.Parallel(64, 64):
    if i > 3:
        break
    B[i, j] = 0
EOF
try 'one name, two types' <<'EOF'
x = A[0, 0]
for i in T.serial(4):
    x = "no"
B[0, 0] = x
EOF
try 'a bracket left open' <<'EOF'
for i in T.serial(4):
    B[i, 0] = (0
B[1, 0] = 1
EOF
echo '== an import left out'
printf 'import tilelang\n@tilelang.lazy_jit\ndef k(A: T.Tensor((4,), T.float32)):\n    with T.Kernel(1):\n        A[0] = 0\nk.compile()\n' > k.py
$TILEC k.py -o k.o 2>&1 | grep -vE '^ +[0-9]* \|'
