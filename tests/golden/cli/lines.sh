# With -g the code of a GPU names the lines of the source, of each statement that becomes code, as profilers and sanitizers show them.
cp $TILE_ROOT/samples/add_one/add_one.tile $TMP; cd $TMP
$TILEC add_one.tile -g --arch=sm_80 --ptxas=none --emit=ptx -o k.ptx
grep -o '\.file.*' k.ptx | tr '\t' ' ' | sort -u
for number in $(grep -oP '\.loc\s+1 \K[0-9]+' k.ptx | sort -nu); do sed -n "${number}p" add_one.tile; done
