# -v shows each tool's command and runs it; -### shows it, runs nothing and writes nothing.
cp $TILE_ROOT/samples/add_one/add_one.tile $TMP; cd $TMP
printf '#!/bin/sh\necho run >> log\nfor last in "$@"; do [ "$before" = -o ] && echo cubin > "$last"; before=$last; done\n' > ptxas; chmod +x ptxas
show() { sed 's/tilec-[A-Za-z0-9-]*/TEMP/g; s,"[^"]*/TEMP,"TEMP,g'; }
$TILEC add_one.tile --arch=sm_80,sm_90a --ptxas=./ptxas -o k.o -H k.h -'###' 2>&1 | show; ls
$TILEC add_one.tile --arch=sm_80,sm_90a --ptxas=./ptxas -o k.o -v -j1 2>&1 | show; ls; cat log
