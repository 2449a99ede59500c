# A number that a bound replaces where it is below, and that stays NaN, is one instruction; so not where zero is the bound, nor where
# NaN is: nothing is below that.
cd $TMP
cat > bound.py <<'END'
import warp as wp

@wp.kernel
def bound(a: wp.array(dtype=float), b: wp.array(dtype=float), low: float):
    i = wp.tid()
    x = a[i]
    b[4 * i] = wp.where(x < -2.0, -2.0, x)
    b[4 * i + 1] = wp.where(x > 3.0, 3.0, x)
    b[4 * i + 2] = wp.where(x < 0.0, 0.0, x)
    b[4 * i + 3] = wp.where(x < low, low, x)
END
$TILEC bound.py --arch=sm_80 --export 'k = bound.compile(block_dim=32)' --emit=ptx >k.ptx
grep -oE '(max|min)\.NaN\.f32|setp\.[a-z]*\.f32|selp\.f32' k.ptx | sort | uniq -c
cat > nan.py <<'END'
import warp as wp

@wp.kernel
def keep(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    x = a[i]
    b[i] = wp.where(x < wp.NAN, wp.NAN, x)
END
$TILEC nan.py --arch=sm_80 --export 'k = keep.compile(block_dim=32)' --emit=ptx >k.ptx
grep -qE '0f7FC00000|2143289344' k.ptx && echo 'what is not below NaN becomes NaN'
true
