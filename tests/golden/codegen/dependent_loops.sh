# A matrix of a thread's own, whose elements loops choose that count to what the loops around them count: all of them are unrolled, and no
# element is chosen while the kernel runs. Of 12 rows that would be too much code, so that those stay.
cd $TMP
kernel() {
    cat <<EOF
import warp as wp

mat = wp.types.matrix(shape=($1, $1), dtype=wp.float32)

@wp.kernel(enable_backward=False)
def lower(a: wp.array(dtype=mat)):
    t = wp.tid()
    L = a[t]
    for j in range($1):
        for k in range(j):
            L[j, j] -= L[j, k] * L[j, k]
        L[j, j] = wp.sqrt(L[j, j])
        for i in range(j + 1, $1):
            for k in range(j):
                L[i, j] -= L[i, k] * L[j, k]
            L[i, j] = L[i, j] / L[j, j]
    a[t] = L
EOF
}
for rows in 3 6 8 12; do
    kernel $rows > k.py
    (ulimit -t 20; $TILEC k.py --export 'k = lower.compile(block_dim=128)' --arch=sm_80 --ptxas=none --print-after=divisions -o k.o 2> ir || echo "status $?")
    echo "$rows rows: $(awk '/^# after divisions/ { loops = choices = 0 } / for / { loops++ } / = select / { choices++ } END { print loops + 0, "loops", choices + 0, "choices" }' ir)"
done
# A number that a loop's index divides is another number in each iteration.
cat > k.py <<'EOF'
import warp as wp

@wp.kernel(enable_backward=False)
def series(a: wp.array(dtype=wp.mat33), s: wp.array(dtype=wp.mat33)):
    t = wp.tid()
    term = wp.identity(n=3, dtype=float)
    total = wp.identity(n=3, dtype=float)
    for k in range(1, 8):
        term = term * a[t] * (1.0 / float(k))
        total += term
    s[t] = total
EOF
$TILEC k.py --export 'k = series.compile(block_dim=128)' --arch=sm_80 --ptxas=none -S -o k.ptx
echo "$(grep -c 'div\.\|rcp\.' k.ptx) divisions"
