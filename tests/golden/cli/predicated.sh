# ptxas takes the square of a kernel's predicated accesses: of many it keeps the order and is asked once, of too many it is not asked.
cd $TMP
cat > ptxas <<'END2'
#!/bin/bash
for last in "$@"; do
    [ "$before" = -o ] && cubin=$last
    [[ $last == *.ptx ]] && ptx=$last
    [[ $last == -O? ]] && level=$last
    before=$last
done
echo "$level" >> log
name=$(sed -n 's/.*\.entry \([a-z_0-9]*\).*/\1/p' "$ptx" | head -1)
echo "ptxas info    : Compiling entry function '$name' for 'sm_90a'"
echo "    0 bytes stack frame, 16 bytes spill stores, 0 bytes spill loads"
echo "ptxas info    : Used 255 registers, used 0 barriers"
echo "cubin" > "$cubin"
END2
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
