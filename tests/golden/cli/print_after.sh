# What a pass leaves is shown whenever it is asked for, among what else goes to standard error.
cd $TMP
cat > add.py <<'END'
import warp as wp

@wp.kernel
def add(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] + 1.0
END
for time in first second; do
    { echo before >&2; $TILEC add.py --arch=sm_80 --ptxas=none --print-after=sync --export 'add = add.compile(block_dim=32)' -o add.o; echo after >&2; } 2> log
    echo "the $time time:"; grep -E '^(before|after|# after|kernel)' log | cut -d' ' -f1-3
done
