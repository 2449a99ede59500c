# Registers that the author moves between warpgroups are moved where each of them says what it has, and no more are taken than given.
cat > $TMP/shares.py <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def shares(A: T.Tensor[[3, 128], T.float32], counts: tuple, threads: int, at: str):
    B = T.empty((3, 128), T.float32)
    with T.Kernel(1, threads=threads):
        for g in list(range(threads // 128)):
            with T.ws(g):
                if at == "all":
                    T.set_max_nreg(counts[g], 0 if counts[g] < 160 else 1)
                if at == "some" and g == 0:
                    T.set_max_nreg(counts[g], 1)
                if at == "loop":
                    for k in T.serial(2):
                        T.set_max_nreg(counts[g], 0 if counts[g] < 160 else 1)
                for i in T.Parallel(128):
                    B[g, i] = A[g, i] + g
    return B
END
cd $TMP
try() { # ARCH COUNTS THREADS AT
    echo "$*: $($TILEC shares.py --arch=$1 --ptxas=none --emit=ptx -o - --export "k = shares.compile(counts=$2, threads=$3, at='$4')" |
        grep -oE 'setmaxnreg[a-z.]+u32 [0-9]+|error.*' | sort -u | tr '\n' ',')"
}
try sm_90a '(24,240)' 256 all
try sm_90a '(24,240,240)' 384 all
try sm_90a '(40,232,232)' 384 all
try sm_90a '(240,240,240)' 384 all
try sm_90a '(24,240)' 256 some
try sm_90a '(24,240)' 256 loop
try sm_80 '(24,240)' 256 all
$TILEC shares.py --arch=sm_90a --ptxas=none -Rperf -o k.o --export "k = shares.compile(counts=(24, 240), threads=256, at='loop')" 2>&1 | sed -nE 's/.*remark: (registers are divided.*) \[R0502\]/\1/p'
