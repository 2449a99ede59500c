# --emit with several kinds: one file each, beside -o, with its own ending; the same bytes as one at a time.
cp $TILE_ROOT/samples/add_one/add_one.tile $TMP; cd $TMP
T="$TILEC add_one.tile --arch=sm_80,emulator --ptxas=none"
$T --emit=obj,ast,ir,thread-ir,llvm,ptx,header,manifest,obj -o out.x/k.o; echo "exit status $?"
mkdir out.x
$T --emit=obj,ast,ir,thread-ir,llvm,ptx,header,manifest,obj -o out.x/k.o; echo "exit status $?"
ls out.x
for pair in obj:o ast:ast ir:ir thread-ir:thread.ir llvm:ll ptx:ptx manifest:json; do
  $T --emit=${pair%%:*} -o one && cmp one out.x/k.${pair#*:}
done
$T --emit=obj,ptx; echo "exit status $?"
$T --emit=ptx,ir -o -; echo "exit status $?"
$T --emit=cubin -o k.cubin; echo "exit status $?"
