# Loops in loops: the time that it takes to place barriers does not double with each. There is one before and one within each access,
# which reads what others wrote and writes what others read, and one at the end.
cd $TMP
{
    printf 'import tilelang\nimport tilelang.language as T\n\n@tilelang.lazy_jit\ndef nest(x: T.Tensor((128,), T.float32), n: T.int32):\n'
    printf '    with T.Kernel(1, threads=128):\n        s = T.alloc_shared((128,), T.float32)\n        T.copy(x, s)\n'
    indent='        '
    for depth in 1 2 3 4 5 6 7 8 9 10 11 12; do
        printf '%sfor i%d in T.serial(n):\n' "$indent" $depth
        indent+='    '
        printf '%sfor j in T.Parallel(128):\n%s    s[j] = s[127 - j] + %d.0\n' "$indent" "$indent" $depth
    done
    printf '        T.copy(s, x)\nnest.compile()\n'
} > nest.py
timeout 60 $TILEC nest.py --arch=sm_80 --emit=ptx --ptxas=none -o nest.ptx
grep -c bar.sync nest.ptx
