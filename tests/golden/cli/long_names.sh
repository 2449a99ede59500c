# Kernels are named for their keys; files of --save-temps for kernels, as far as a file's name goes.
cat >"$TMP/long.py" <<'EOF'
import tilelang
import tilelang.language as T


@tilelang.jit
def scaled(A, B, first_of_several_long_parameters=1, second_of_several_long_parameters=2, third_of_several_long_parameters=3,
           fourth_of_several_long_parameters=4, fifth_of_several_long_parameters=5, sixth_of_several_long_parameters=6):
    N = T.const("N")
    A: T.Tensor((N,), T.float32)
    B: T.Tensor((N,), T.float32)
    with T.Kernel(1, threads=32):
        for i in T.Parallel(N):
            B[i] = A[i] * first_of_several_long_parameters
EOF
"$TILEC" "$TMP/long.py" --arch=sm_90a --ptxas=none --save-temps -o "$TMP/long.o" --export 'k = scaled.compile(N=64)' --export 'm = scaled.compile(N=128)' &&
    ls "$TMP" | grep -c '^long\.[km]__first.*\.ptx$'
