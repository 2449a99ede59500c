# Values that an option does not take, each with what it takes; and options without their value.
cp $TILE_ROOT/samples/add_one/add_one.tile $TMP; cd $TMP
for option in -O4 -Ofast -j0 -jmany --timeout=0 --timeout=soon --diagnostics=xml --emit=obj,asm --emit= --host=sparc -ffp-contract=on; do
  echo "== $option"; $TILEC add_one.tile -o x.o $option; echo "exit status $?"
done
for option in -o --arch -D; do echo "== $option"; $TILEC add_one.tile $option; echo "exit status $?"; done
ls
