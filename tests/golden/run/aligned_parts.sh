# {aligned} of a part that begins where a call says is a promise of the text's: the emulator looks whether it is kept. Where the
# tile is swizzled, rows 4 to 11 are so otherwise than rows 0 to 7; the compiler's own parts promise nothing there.
cd $TMP
$TILEC --emit=ir $TILE_ROOT/tests/exec/register_parts.tile --export 'reference = (Parts(float32, 16, 8, 1, 8, 8, 0, 0)).compile()' > part.ir
for pass in $($TILEC opt --list | sed 's/ .*//; /^infer_layout$/q'); do $TILEC opt --run=$pass part.ir > next.ir && mv next.ir part.ir; done
sed 's/\(%s = shared_alloc .*\)#l[0-9]*>/\1{shape [16, 8] block [16, 8] reg [[0,1],[0,2],[0,4],[1,0],[2,0],[4,4],[8,0]]}>/; s/\(%src = shared_view .*\), watched = 1}\(.*\)#l[0-9]*>/\1, aligned = 1, watched = 1}\2{shape [8, 8] block [8, 8] reg [[0,1],[0,2],[0,4],[1,0],[2,0],[4,4]]}>/' part.ir > promised.ir
for file in part promised; do
    $TILEC $file.ir --arch=emulator -o $file.o
    for row in 0 1 2; do
        echo "== $file, from row $((4 * row))"
        $TILEC run $file.o "x = arange(128, float32); y = zeros(128, float32); z = zeros(64, float32); s = zeros(128, float32)
reference(x, y, z, s, $row); print(z[0], z[9], z[63])" 2>&1 | sed -n 's/.*: \(assertion.*\)/\1/p; /^[0-9.]* [0-9.]* [0-9.]*$/p'
    done
done
