# Instructions of PTX that a function of a float32 takes beside a load and a store, moves and signs apart: one negates what it reads. a ** b
# is T.pow(a, b), and what an exponent that is known leaves to compute is less.
cat >"$TMP/functions.py" <<'EOF2'
import tilelang
import tilelang.language as T

FUNCTIONS = {
    "copy": lambda a, b: a, "exp": lambda a, b: T.exp(a), "exp_negated": lambda a, b: T.exp(-a), "exp2": lambda a, b: T.exp2(a),
    "log": lambda a, b: T.log(a), "log2": lambda a, b: T.log2(a), "log10": lambda a, b: T.log10(a), "log1p": lambda a, b: T.log1p(a),
    "tanh": lambda a, b: T.tanh(a), "erf": lambda a, b: T.erf(a), "pow_known": lambda a, b: T.pow(a, 1.5), "power_known": lambda a, b: a ** 1.5,
    "square": lambda a, b: a ** 2, "pow": lambda a, b: T.pow(a, b + 1.0), "power": lambda a, b: a ** (b + 1.0),
}


@tilelang.jit
def each(name):
    @T.prim_func
    def main(A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32"), C: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                C[i] = FUNCTIONS[name](A[i], B[i])

    return main


EOF2
for name in copy exp exp_negated exp2 log log2 log10 log1p tanh erf pow_known power_known square pow power; do
    "$TILEC" "$TMP/functions.py" --export "k = each('$name')" --arch=sm_90a --emit=ptx -o "$TMP/$name.ptx" 2>&1 | grep error
    awk '/\.entry/ { entries++ } entries == 1 && /^\t[a-z@].*;/ && $1 !~ /^(mov|neg)/ { count++ } END { print count }' "$TMP/$name.ptx" >"$TMP/$name.count"
    echo "$name $(($(cat "$TMP/$name.count") - $(cat "$TMP/copy.count")))"
done
