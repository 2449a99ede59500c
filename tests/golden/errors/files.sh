# Files that cannot be read or written, each named with the reason; nothing is left behind.
cd $TMP
cp $TILE_ROOT/samples/add_one/add_one.tile .
show() { echo "== tilec $*"; $TILEC --ptxas=none --arch=sm_80 "$@"; echo "exit status $?"; }
show missing.tile -o x.o
show . -o x.o
printf 'a = 1\0\n' > binary.tile
show binary.tile -o x.o
show add_one.tile -o nowhere/x.o
show add_one.tile -o /dev/full
mkdir folder
show add_one.tile -o folder
show add_one.tile -o x.o -H nowhere/x.h
show add_one.tile -o x.o -MMD -MF nowhere/x.d
show @missing.rsp
show add_one.tile other.tile -o x.o
echo '== standard output is full'; $TILEC add_one.tile --emit=ir > /dev/full; echo "exit status $?"
ls
