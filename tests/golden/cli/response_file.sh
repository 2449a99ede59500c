# @FILE stands for the words in it; a word may be quoted; '-' is standard input and standard output.
sed '$aNAME = None' $TILE_ROOT/samples/add_one/add_one.tile > $TMP/add_one.tile; cd $TMP
printf "%s\n" "--emit=ir" "'add_one.tile'" '-o "a file.ir"' "-D 'NAME=\"a b\"'" > words
$TILEC @words; head -1 'a file.ir' | cut -d' ' -f1-4
$TILEC - --emit=ir -o - < add_one.tile | head -1 | cut -d' ' -f1-4
$TILEC - --arch=sm_80 --ptxas=none -o x.o -MMD < add_one.tile; cat x.d
printf '%s' '--emit=ir add\_one.tile -o a\ b.ir -D NAME=\"c\ d\"' > words; $TILEC @words; head -1 'a b.ir' | cut -d' ' -f1-4
echo 'a = (' | $TILEC check -; echo "exit status $?"
$TILEC check - < /dev/null; echo "exit status $?"
