# Sources that are not there, a standard library that is none, and outputs that would be written over the source or each other.
cd $TMP; cp $TILE_ROOT/samples/add_one/add_one.tile .; ln -s add_one.tile link.tile; mkdir folder
compile() { echo "== $*"; $TILEC "$@" --arch=emulator; echo "exit status $?"; }
compile folder -o x.o; compile missing.tile -o x.o; compile chekc; compile bench add_one.tile; compile < /dev/null
compile add_one.tile -o x.o --stdlib=folder; compile check add_one.tile --stdlib=missing
compile add_one.tile -o ./add_one.tile; compile link.tile -o add_one.tile; compile add_one.tile -o x.o -H link.tile
compile add_one.tile -o x.o -H x.o; compile add_one.tile -o - -H - > bytes; cat bytes; compile add_one.tile -o x.o -MMD -MF x.o
compile add_one.tile -o x.d -MMD
cmp add_one.tile $TILE_ROOT/samples/add_one/add_one.tile; ls
compile add_one.tile -o /dev/null -H /dev/null
compile add_one.tile -o x.o -H x.h; compile add_one.tile -o x.o -H x.h; ls
compile add_one.tile -S -o x.ptx
compile add_one.tile --emit=header,manifest -o /dev/stdout; compile add_one.tile -o /dev/null -MMD; compile add_one.tile -o - -MMD
compile add_one.tile -o /dev/null -MMD -MF x.d; cat x.d
$TILEC add_one.tile --emit=ir -o /dev/stdout > twice.ir; $TILEC add_one.tile --emit=ir -o /dev/stdout >> twice.ir; grep -c ^kernel twice.ir
echo "== of commands"
for words in 'opt --target=sm_75 add_one.tile' 'cache away' 'test missing.tile' 'run --device=emulator --leave-each-out=all --missed=missing add_one.tile'; do
  $TILEC $words; echo "exit status $?"
done
