# IR text whose tensors are wrong: each is told with its place.
cd $TMP
cp $TILE_ROOT/tests/golden/emit/tensors.ir good.ir
cp $TILE_ROOT/tests/golden/emit/tensor_keys.ir keys.ir
wrong() { # SED-EXPRESSION [FILE]
    sed "$1" ${2:-good}.ir > wrong.ir
    cmp -s wrong.ir ${2:-good}.ir && echo "nothing is wrong: $1"
    echo "== $1"
    $TILEC wrong.ir --emit=ir -o /dev/null
    echo "status $?"
}
wrong 's/tensor %b .*/tensor %d [1]/'
wrong 's/tensor %b .*/tensor %m [1]/'
wrong 's/tensor %b .*/tensor %a [1]/'
wrong 's/tensor %b .*/tensor %b [-1]/'
wrong 's/tensor %b .*/tensor %b [%s]/'
wrong 's/tensor %b .*/tensor %b [1, 2, 3, 4, 5, 6, 7, 8, 9]/'
wrong 's/strides \[%a_pitch, 1\]/strides [1]/'
wrong 's/result %c \[?, ?\]/result %c [?]/'
wrong 's/result %c \[?, ?\]/result %c [?, 4]/'
wrong 's/result %c \[?, ?\]/tensor %c [4]/'
wrong 's/tensor %b .*/result %b [?]/'
wrong '/result_shape/d'
wrong 's/require %some {.*/require %m/'
wrong 's/a_dtype: key i64 = 35651585/a_dtype: key i64 = 1/' keys
wrong 's/%n: key i64 = 2, %r: i32, %b: ptr<f16/%o: key i64 = 2, %r: i32, %b: ptr<f16/' keys
