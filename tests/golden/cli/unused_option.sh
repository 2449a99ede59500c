# An option of another command is not passed over in silence; what runs kernels takes those of run.
cd $TMP; cp $TILE_ROOT/samples/add_one/add_one.tile .
compile() { $TILEC "$@"; echo "exit status $?"; }
compile add_one.tile --arch=emulator -o x.o --plan --statistics
compile check add_one.tile --clear -Werror=unused_option
compile cache --cache=kept --leave-each-out=all --missed=none | sed 's/:.*//'
compile opt --list --device=emulator | tail -1
compile test add_one.tile --device=emulator --statistics
