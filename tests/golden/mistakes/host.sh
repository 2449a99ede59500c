# What a new user gets wrong in host code: statements of `tilec run`, arrays, calls of kernels, tests; on five lines at most.
. ../../tools/mistakes.bash
DEFAULT='$TILEC run --device=emulator k.py "$(cat statements)"'
cat >k.py <<'EOF'
import tilus
from tilus import float32, int32

class Add(tilus.Script):
    def __call__(self, n: int32, a: ~float32, b: ~float32):
        self.attrs.blocks = (n + 63) // 64
        self.attrs.warps = 2
        ga = self.global_view(a, dtype=float32, shape=[n])
        gb = self.global_view(b, dtype=float32, shape=[n])
        x = self.load_global(ga, offsets=[self.blockIdx.x * 64], shape=[64])
        self.store_global(gb, x + 1.0, offsets=[self.blockIdx.x * 64])

add = Add()
EOF
run() { # TITLE STATEMENTS
    printf '%s' "$2" >statements
    look_at "$1" '' ''
}
run 'a kernel, misspelt' 'ad(64, zeros(64, float32), zeros(64, float32))'
run 'a function, misspelt' 'a = zeroes(64, float32)'
run 'an argument too few' 'add(64, zeros(64, float32))'
run 'an argument too many' 'add(64, zeros(64, float32), zeros(64, float32), 1)'
run 'the arguments in the wrong order' 'a = zeros(64, float32); add(a, a, 64)'
run 'an array of another type' 'add(64, zeros(64, int32), zeros(64, float32))'
run 'an array that is too small' 'a = zeros(100, float32); add(128, a, a)'
run 'a number for a count that is none' 'add(64.5, zeros(64, float32), zeros(64, float32))'
run 'an assertion of a result' 'a = full(64, 1, float32); b = zeros(64, float32); add(64, a, b); assert allclose(b, a)'
run 'shapes that do not broadcast' 'a = full((4, 3), 1, float32) + full((4, 2), 1, float32)'
run 'a product of matrices that do not fit' 'a = matmul(full((4, 3), 1, float32), full((4, 3), 1, float32))'
run 'a subscript beyond the end' 'a = full((4, 3), 1, float32); print(a[4, 0])'
run 'a subscript too many' 'a = full((4, 3), 1, float32); print(a[0, 0, 0])'
run 'an array as a condition' 'a = full(4, 1, float32); assert a == a'
run 'a type that is no type' 'a = zeros(4, "flaot32")'
run 'a file that is missing' 'a = load("a.npy")'
run 'an attribute, misspelt' 'a = full(4, 1, float32); print(a.shpe)'
run 'a reshape that does not fit' 'a = full((4, 3), 1, float32).reshape(5, 2)'
run 'an integer that is too large' 'a = full((4,), 300, int8)'
run 'a statement with a slip' 'a = full(4, 1, float32'
