# Of each statement that walks through a long text or a long list again and again, the steps are counted: it ends with an error within a few
# seconds of processor time, whichever method it is that walks.
text="s = '1' * 10**6" items="s = [0] * 10**6"
walk() {
    printf '%s\nx = [%s for i in range(10**5)]\n%s\n' "$1" "$2" "$(cat $TMP/kernel)" > $TMP/walk.tile
    ( ulimit -t 20; "$TILEC" check --max-calls 500000 $TMP/walk.tile 2>&1 ) | grep -oE 'E0(220|224)' | sort -u | sed "s/^/$2: /"
}
cat > $TMP/kernel <<'K'
import tilelang.language as T
@T.prim_func
def f(A: T.Tensor((4,), 'int32')):
    with T.Kernel(1, threads=32):
        A[0] = len(x)
K
for method in "s.isdigit()" "s.upper()" "s.find('b')" "'b' in s" "s.count('b')" "s.strip('1')" "s.replace('1', '')" "repr(s)" "hash(s)" \
    "float(s)" "s[5]" "s * 1" "s.center(1048576)"; do walk "$text" "$method"; done
for method in "any(s)" "1 in s" "s.count(1)" "s == list(s)" "s[::-1]" "s.insert(0, 0)" "s.pop(0)" "s.remove(0)" "max(s)" "set(s)" "s.sort()" "max([s] * 1000)"; do
    walk "$items" "$method"
done
