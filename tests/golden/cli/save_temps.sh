# --save-temps keeps what each image was made from.
cp $TILE_ROOT/samples/add_one/add_one.tile $TMP; cd $TMP
printf '#!/bin/sh\nfor last in "$@"; do [ "$before" = -o ] && echo cubin > "$last"; before=$last; done\n' > ptxas; chmod +x ptxas
$TILEC add_one.tile --arch=sm_80,sm_90a,compute_80,emulator --ptxas=./ptxas --save-temps -o k.o
ls; head -c 5 k.add_one__0.sm_80.cubin; echo; grep -l '^.visible .entry' *.ptx; grep -l '^define' *.ll
$TILEC add_one.tile --save-temps -o -; echo "exit status $?"
