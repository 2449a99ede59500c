# A kernel whose extents are keys, for the same ones and for others, under several names: of the file and of --export.
cat >"$TMP/keys.py" <<'EOF'
import tilelang
import tilelang.language as T


@tilelang.jit
def flip(A, B):
    N, M = T.const("N, M")
    A: T.Tensor[[N, M], T.float32]
    B: T.Tensor[[M, N], T.float32]
    with T.Kernel(1, threads=32):
        for i, j in T.Parallel(N, M):
            B[j, i] = A[i, j] + 1.0


flip.compile(N=64, M=2)
flip.compile(N=64, M=4)
flip.compile(N=64, M=4)
same = flip.compile(N=64, M=4)
EOF
"$TILEC" "$TMP/keys.py" --arch=emulator -o "$TMP/keys.o" --export 'same = same' --export 'flip = flip.compile(N=64, M=2)' --export 'flip = flip.compile(N=64, M=4)' \
    --export 'flip = flip.compile(N=64, M=8)' --export 'more = flip.compile(N=64, M=8)'
for call in 'flip 2' 'flip 4' 'flip 8' 'same 4' 'more 8' 'same 2'; do
    set -- $call
    "$TILEC" run "$TMP/keys.o" "a = arange(64 * $2, float32).reshape(64, $2); b = zeros(($2, 64), float32); $1(a, b); print(b[1, 63])" 2>&1 | sed "s,$TMP/,,"
done
