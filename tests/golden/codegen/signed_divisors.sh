# Remainders by one number of the run time, of whatever has a sign: what they divide by is the same, so that ptxas has one reciprocal for them, and
# nothing looks for the least number and -1.
cat >"$TMP/kernels.py" <<'T'
import warp as wp


@wp.kernel
def around(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    y[i] = x[(i + 1) % n] - x[(i + n - 1) % n]
T
"$TILEC" "$TMP/kernels.py" --arch=sm_90a --ptxas=none --emit=ptx --export 'k = around.compile(block_dim=128, tiled=0)' 2>/dev/null |
    awk '/^.version/ && ++n == 2 { exit } { print }' >"$TMP/k.ptx"
echo "$(grep -oE 'rem\.[a-z0-9]*' "$TMP/k.ptx" | sort | uniq -c | tr -s ' \n' ' ')by $(grep -E 'rem\.' "$TMP/k.ptx" | awk '{ print $NF }' | sort -u | wc -l)"
grep -c -e -2147483648 "$TMP/k.ptx" || :
