# A .npy file's shape is a tuple of numbers that are not negative; all else is refused, and so is what the file is too short for.
cd $TMP
echo > empty.tile
array() { # SHAPE: 6 floats
    local header="{'descr': '<f4', 'fortran_order': False, 'shape': $1, }"
    printf '\x93NUMPY\x01\x00%b\x00%s%b' "\\x$(printf %02x ${#header})" "$header" '\x00\x00\x80?\x00\x00\x80?\x00\x00\x80?\x00\x00\x80?\x00\x00\x80?\x00\x00\x80?' > a.npy
}
for shape in '()' '(6,)' '(2, 3)' '(2,3)' '( 2 , 3 , )' '(6L,)' '(0,)' '(-5,)' '(1.5,)' '(6)' '(2 3)' '(2,,3)' '(,)' '(x,)' '(0x6,)' '(6' '6' '[6]' \
    '(7,)' '(99999999999999999999,)' '(4294967296, 4294967296)' '(1,1,1,1,1,1,1,1,1)' '(+6,)' '(1e0,)'; do
    array "$shape"
    echo "== $shape"
    $TILEC run --device=emulator empty.tile 'a = load("a.npy"); print(a.shape, sum(a))' 2>&1 | grep -v '^ '
done
