# ptxas takes the square of a kernel's predicated accesses: of many it keeps the order and is asked once, of too many it is not asked.
cd $TMP
cat > ptxas <<'END'
#!/bin/bash
. $TILE_ROOT/tests/tools/fake_ptxas.bash
echo "$level" >> log
answer 255 16
END
chmod +x ptxas
program() { # STATEMENTS
    printf 'import tilelang\nimport tilelang.language as T\n@tilelang.jit\ndef f(A: T.Tensor[[T.dyn["n"]], T.int32]):\n    (n,) = A.shape\n'
    printf '    with T.Kernel(1, threads=32):\n        for i in T.Parallel(256):\n'
    for k in $(seq $1); do echo "            A[i + $k * 256] = A[i + $((k * 97 % 251))] * $k"; done
}
errors() { sed -n 's/.*error: //p' | sed 's/make [0-9]* /make many /'; }
build() { # STATEMENTS
    program $1 > f.py
    rm -f log
    echo "== $1"
    $TILEC f.py --arch=sm_90a --no-cache --ptxas=./ptxas -o f.o 2>&1 | errors
    [ ! -f log ] || sort log | uniq -c
}
build 50
build 100
build 400
# Nor do the most that is compiled for the emulator, about 5 s of processor time, and more than that, take long.
for statements in 840 870; do
    echo "== $statements, emulator"
    program $statements > f.py
    (ulimit -t 15; $TILEC f.py --arch=emulator --no-cache -o f.o 2>&1 || echo "status $?") | grep -v hint | sed -n 's/.*error: //p; /^status/p'
done
