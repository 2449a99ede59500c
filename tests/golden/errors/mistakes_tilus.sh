# What authors of Tilus kernels get wrong: each message says where, why, and what was meant.
cd $TMP
try() {
    echo "== $1"
    sed "s/^/        /" > body
    cat - body > k.py <<'EOF'
import tilus
from tilus import float16, float32, int32

class K(tilus.Script):
    def __call__(self, n: int32, a_ptr: ~float16, b_ptr: ~float16):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        ga = self.global_view(a_ptr, dtype=float16, shape=[n, 64])
        gb = self.global_view(b_ptr, dtype=float16, shape=[n, 64])
EOF
    echo "k = K()" >> k.py
    $TILEC k.py --arch=sm_80 --ptxas=none -o k.o 2>&1 | grep -vE '^ +[0-9]* \|'
}
try 'shapes that do not fit' <<'EOF'
a = self.load_global(ga, offsets=[0, 0], shape=[64, 32])
b = self.load_global(gb, offsets=[0, 0], shape=[64, 64])
self.store_global(gb, a + b, offsets=[0, 0])
EOF
try 'a product that is none' <<'EOF'
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
b = self.load_global(gb, offsets=[0, 0], shape=[32, 64])
acc = self.dot(a, b)
EOF
try 'another type' <<'EOF'
self.store_global(gb, self.register_tensor(dtype=float32, shape=[64, 64], init=0.0), offsets=[0, 0])
EOF
try 'a method, misspelt' <<'EOF'
a = self.load_globl(ga, offsets=[0, 0], shape=[64, 64])
EOF
try 'a name, misspelt' <<'EOF'
a = self.load_global(gA, offsets=[0, 0], shape=[64, 64])
EOF
try 'a keyword, misspelt' <<'EOF'
a = self.load_global(ga, offset=[0, 0], shape=[64, 64])
EOF
try 'a name of a module, misspelt' <<'EOF'
a = self.register_tensor(dtype=tilus.flaot32, shape=[64, 64], init=0.0)
EOF
try 'too much shared memory' <<'EOF'
s = self.shared_tensor(dtype=float32, shape=[512, 512])
self.store_global(gb, self.load_shared(s).to(float16), offsets=[0, 0])
EOF
try 'a number for a tile' <<'EOF'
b = self.transpose(n)
EOF
try 'a shape that is known too late' <<'EOF'
a = self.load_global(ga, offsets=[0, 0], shape=[n, 64])
EOF
try 'what is not supported' <<'EOF'
async def f():
    pass
EOF
try 'wrong indentation' <<'EOF'
a = self.load_global(ga, offsets=[0, 0], shape=[64, 64])
  b = a + 1
EOF
echo '== an import left out'
printf 'from tilus import int32\n\nclass K(tilus.Script):\n    def __call__(self, n: int32):\n        pass\nk = K()\n' > k.py
$TILEC k.py -o k.o 2>&1 | grep -vE '^ +[0-9]* \|'
echo '== no kernel of the class'
printf 'import tilus\n\nclass K(tilus.Script):\n    def __call__(self):\n        pass\n' > k.py
$TILEC k.py -o k.o 2>&1 | grep -vE '^ +[0-9]* \|'
