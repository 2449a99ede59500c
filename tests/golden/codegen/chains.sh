# Numbers that each are made of two of the number before: what is asked of one is asked of each once, not twice as often as of the next.
cd $TMP
chain() { for i in $(seq 30); do echo "$1$2 = ($2 * $2 + ($2 ^ $i)) % 31"; done; }
double() { for i in $(seq 30); do echo "$1$2 = $2 + $2"; done; }
kernel() {
    cat <<'EOF'
import tilelang
import tilelang.language as T

@tilelang.lazy_jit
def mm(A: T.Tensor((4096, 4096), T.float16), B: T.Tensor((4096, 4096), T.float16), C: T.Tensor((4096, 4096), T.float32)):
    with T.Kernel(32, 32, threads=128) as (bx, by):
        As = T.alloc_shared((128, 64), T.float16)
        Bs = T.alloc_shared((64, 128), T.float16)
        acc = T.alloc_fragment((128, 128), T.float32)
        T.clear(acc)
        o = by
EOF
    $1 '        ' o
    echo '        for k in T.Pipelined(64, num_stages=4):'
    echo '            j = k'
    $1 '            ' j
    cat <<'EOF'
            T.copy(A[o * 128 : o * 128 + 128, j * 64 : j * 64 + 64], As)
            T.copy(B[j * 64, bx * 128], Bs)
            T.gemm(As, Bs, acc)
        T.copy(acc, C[o * 128, bx * 128])
mm.compile()
EOF
}
for chain in chain double; do
    kernel $chain > mm.py
    timeout 60 $TILEC mm.py --arch=sm_90a --ptxas=none --print-after=divisions -o mm.o 2> ir || echo "$chain: status $?"
    grep -cE '= (for|while) ' ir
done
# No pass goes as many calls deep as a chain is long.
long() { [ $2 = j ] || for i in $(seq 20000); do echo "$1$2 = $2 ^ (bx + $i)"; done; }
kernel long > long.py
(ulimit -t 20 -s 1024; $TILEC long.py --arch=sm_90a --ptxas=none --emit=ptx -o long.ptx 2> said; echo "status $?")
# Numbers of a block or of rows, each of two of the one before: whether a loop's length goes with the block, the limits of rows, and in which
# iterations a mask is the same everywhere.
of_two() { for i in $(seq 40); do echo "$1$2"; done; }
rows() {
    cat <<'EOF'
import tilelang
import tilelang.language as T

@tilelang.lazy_jit
def rows(A: T.Tensor((4096, 4096), T.float16), B: T.Tensor((4096, 4096), T.float16), F: T.Tensor((4096,), T.float32), n: T.int32):
    with T.Kernel(32, 32, threads=128) as (bx, by):
        As = T.alloc_shared((128, 64), T.float16)
        Bs = T.alloc_shared((64, 128), T.float16)
        S = T.alloc_fragment((128, 128), T.float32)
        m = T.alloc_fragment((128,), T.float32)
        T.fill(m, -1e30)
        T.copy(A[by * 128, 0], As)
        l = bx
EOF
    of_two '        ' 'l = T.min(l + n, l * 3)'
    cat <<'EOF'
        for k in T.Pipelined(l, num_stages=2):
            T.copy(B[k * 64, bx * 128], Bs)
            T.clear(S)
            T.gemm(As, Bs, S)
            for i, j in T.Parallel(128, 128):
                q = by * 128 + i + n
EOF
    of_two '                ' "$1"
    cat <<EOF
                S[i, j] = T.if_then_else($2, S[i, j], -T.infinity(T.float32))
            T.reduce_max(S, m, dim=1, clear=False)
        T.copy(m, F[bx * 128])
rows.compile()
EOF
}
look() {
    rows "$1" "$2" > rows.py
    (ulimit -t 20; $TILEC rows.py --arch=sm_90a --ptxas=none --emit=thread-ir -o rows.ir 2> said; echo "status $?")
}
look 'q = T.min(q + n, q * 2)' '(q >= 5) & (k * 128 + j < 300)'
look 'q = q + (q - j)' 'q >= k * 128 + j'
# One name for many values: each is told from the others by a number, which is not looked for from the first one on.
{
    printf 'import tilelang\nimport tilelang.language as T\n\n@tilelang.lazy_jit\ndef k(x: T.Tensor((128,), T.int32), n: T.int32):\n    with T.Kernel(1, threads=128):\n        o = n\n'
    for i in $(seq 9000); do echo "        o = o ^ (n + $i)"; done
    printf '        for i in T.Parallel(128):\n            x[i] = o\nk.compile()\n'
} > names.py
(ulimit -t 10; $TILEC names.py --arch=sm_80 --ptxas=none --emit=ptx -o names.ptx; echo "status $?")
