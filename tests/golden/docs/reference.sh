# Every public name of a dialect has an entry in its reference, with a sentence and an example, and every example runs, on the checked emulator.
cd $TILE_ROOT
for dialect in tilus tilelang warp; do
    LC_ALL=C awk -v check=1 -f man/text.awk -f man/dialect.awk man/reference/$dialect.txt
    LC_ALL=C awk -v folder=$TMP -f man/reference/examples.awk man/reference/$dialect.txt
done
cd $TMP
$TILEC test *.tile > said 2>&1 || cat said
