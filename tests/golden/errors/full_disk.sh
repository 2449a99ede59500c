# Where a disk is full nothing new is left, old outputs stay whole, and the message says which file it was.
needs mounts
cd $TMP
cp $TILE_ROOT/samples/add_one/add_one.tile .
printf '#!/bin/sh\nfor last in "$@"; do [ "$before" = -o ] && head -c 900 %s > "$last"; before=$last; done\n' $TMP/whole.o > ptxas
chmod +x ptxas
$TILEC add_one.tile --arch=compute_80 -o whole.o
cat > in_full_disk.sh <<'END'
mkdir disk && mount -t tmpfs -o size=64k none disk
fill() { rm -rf disk/*; head -c "$1" /dev/zero > disk/fill; }
build() { $TILEC add_one.tile --no-cache "$@" 2>&1 | sed -E 's/tilec-[0-9]+-[A-Za-z0-9]+/tilec-N/'; ls disk; }
echo '== outputs, where none was before'
fill 57000; build --ptxas=none --arch=sm_80,emulator -o disk/x.o -H disk/x.h -MMD
echo '== and where some were'
fill 45000; echo old > disk/x.o; echo old > disk/x.h; echo old > disk/x.d
build --ptxas=none --arch=sm_80,emulator -o disk/x.o -H disk/x.h -MMD; cat disk/x.?
echo '== of several kinds, the last in a folder that is none'
fill 0; build --ptxas=none --arch=sm_80 --emit=ptx,header -o none/x -H disk/x.h
echo '== an output that is a folder'
fill 0; mkdir disk/x.o; build --ptxas=none --arch=sm_80 -o disk/x.o -H disk/x.h
export TMPDIR=disk
echo '== what ptxas is to read'
fill 65536; build --ptxas=./ptxas --arch=sm_80 -o x.o
echo '== what processes hand each other'
fill 61440; sed 's/^add_one = .*/one = AddOne(64, 4)\ntwo = AddOne(32, 1)\nthree = AddOne(32, 2)\nfour = AddOne(32, 4)/' add_one.tile > several.tile
$TILEC several.tile --no-cache --ptxas=none --arch=sm_80,sm_90a -j2 -o x.o 2>&1 | sed -E 's/tilec-[0-9]+-[A-Za-z0-9]+/tilec-N/'; ls disk
echo '== what ptxas wrote a part of, as it does'
fill 0; build --ptxas=./ptxas --arch=sm_80 -o x.o
: > whole.o; build --ptxas=./ptxas --arch=sm_80 -o x.o
END
unshare -rm bash in_full_disk.sh
ls
