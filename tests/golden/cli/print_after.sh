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
# And of IR text, whether all passes run or some.
cat > copy.ir <<'END'
kernel @copy stage TYPED (%x: ptr<f32, global>, %y: ptr<f32, global>) {
  %one = const {value = 1} : i32
  launch %one, %one, %one {warps = 1} {
    %i = const {value = 0} : i32
    %n = const {value = 64} : i32
    %s = const {value = 1} : i32
    %a = view %x, %n, %s : view<f32, [64], [1]>
    %b = view %y, %n, %s : view<f32, [64], [1]>
    %t = load %a, %i : tile<f32, [64]>
    store %b, %t, %i
  }
}
END
[ "$($TILEC opt --print-after=all copy.ir -o all.ir 2>&1 | grep -cE "^# after")" = "$($TILEC opt --list | wc -l)" ] || echo "not after each pass"
$TILEC opt --print-after=bounds copy.ir -o all.ir 2>&1 | grep -E '^(# after|kernel|.* = load)'
$TILEC opt --run=simplify,promote,bounds --print-after=promote copy.ir -o some.ir 2>&1 | grep -E '^(# after|kernel|.* = load)'
