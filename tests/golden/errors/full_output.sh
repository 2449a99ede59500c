# What is printed to a full device is an error of each command, also where it was printed long before the end.
cd $TMP
cp $TILE_ROOT/samples/add_one/add_one.tile .
printf '\ndef test_fine():\n    print(1)\n' >> add_one.tile
$TILEC add_one.tile --arch=emulator -o add_one.o
show() { echo "== tilec $*"; $TILEC "$@" > /dev/full; echo "exit status $?"; }
show --help
show --version
show --list-archs
show explain E0202
show info
show info add_one.o
show opt --list
show cache
show add_one.tile --emit=header
show run --device=emulator add_one.tile 'print(1)'
show run --device=emulator add_one.tile 'print(1); print([0] * 10000); a = arange(10, float32); add_one(10, a, a)'
show run --device=emulator --statistics add_one.tile 'a = arange(10, float32); b = zeros(10, float32); add_one(10, a, b)'
show test --device=emulator add_one.tile
