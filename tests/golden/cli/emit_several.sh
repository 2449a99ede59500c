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
echo == several modules of a kind
cat > two.tile <<'END'
from add_one import AddOne

small = AddOne(block_n=128, warps=1)
large = AddOne(block_n=1024, warps=4)
END
$TILEC two.tile --arch=sm_80 --ptxas=none --emit=ptx -o two.ptx; grep -c '^.version' two.ptx
$TILEC two.tile --arch=sm_80 --ptxas=none --emit=ptx -o two.ptx --save-temps; ls two.*.ptx; grep -c '^.version' two.*.ptx
$TILEC two.tile --arch=sm_80 --ptxas=none --emit=ptx | grep -c '^.version'
$TILEC two.tile --arch=sm_80 --ptxas=none --emit=ptx --export 'small = small' -o small.ptx; grep -c '^.version' small.ptx
echo == what is refused
$T --emit=obj,ptx; echo "exit status $?"
$T --emit=ptx,ir -o -; echo "exit status $?"
$T --emit=cubin -o k.cubin; echo "exit status $?"
