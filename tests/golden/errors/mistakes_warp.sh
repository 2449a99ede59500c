# What authors of Warp kernels get wrong: each message says where, why, and what was meant.
cd $TMP
try() {
    echo "== $1"
    sed "s/^/    /" > body
    cat - body > k.py <<'EOF'
import warp as wp

@wp.func
def f(x: float):
    if x > 0.0:
        return x

@wp.kernel
def k(a: wp.array(dtype=float), b: wp.array(dtype=float), n: int):
    i = wp.tid()
EOF
    echo "k.compile(block_dim=64)" >> k.py
    $TILEC k.py --arch=sm_80 --ptxas=none -o k.o 2>&1 | grep -vE '^ +[0-9]* \||while specialising|in the call of k$'
}
try 'tiles that do not fit' <<'EOF'
wp.tile_store(b, wp.tile_load(a, shape=64) + wp.tile_load(a, shape=32))
EOF
try 'a product that is none' <<'EOF'
m = wp.tile_zeros(shape=(8, 4), dtype=float)
r = wp.tile_matmul(m, m)
EOF
try 'a text for a number' <<'EOF'
b[i] = "x"
EOF
try 'a function, misspelt' <<'EOF'
b[i] = wp.sine(a[i])
EOF
try 'a name, misspelt' <<'EOF'
value = a[i]
b[i] = vlaue
EOF
try 'an argument too many' <<'EOF'
b[i] = f(a[i], 2.0)
EOF
try 'a way without a result' <<'EOF'
b[i] = f(a[i])
EOF
try 'an index too many' <<'EOF'
b[i, 0] = a[i]
EOF
try 'a number for a tile' <<'EOF'
b[i] = wp.tile_sum(n)
EOF
try 'a vector of too few numbers' <<'EOF'
v = wp.vec3(1.0, 2.0)
EOF
try 'a loop over an array' <<'EOF'
for x in a:
    b[i] = x
EOF
try 'a colon left out' <<'EOF'
if i < 3
    b[i] = 0.0
EOF
for text in '@wp.kernel' 'import warpp as wp\n@wp.kernel' 'import warp as wp\n@wp.kernel'; do
    echo "== no export: $text"
    printf "$text\ndef k(b: wp.array(dtype=float)):\n    b[0] = 1.0\n" > k.py
    $TILEC k.py -o k.o 2>&1 | grep -vE '^ +[0-9]* \|'
done
echo '== options'
for option in --archs=sm_80 --arch=sm_70 --emit=foo -O9 --print-after=syn -x '--export=k' -Werror=placholder; do
    $TILEC k.py -o k.o $option 2>&1 | grep -vE '^ +[0-9]* \|'
done
