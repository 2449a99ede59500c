# A compiler that crashes says so, keeps the command and the files that it names, and exits with 4; an old output stays.
cd $TMP
mkdir temporary
export TMPDIR=$TMP/temporary
cp $TILE_ROOT/samples/add_one/add_one.tile .
echo old > out.o
printf '#!/bin/sh\nkill -ABRT $PPID; exec sleep 5\n' > ptxas
chmod +x ptxas
$TILEC add_one.tile -O1 --arch=sm_80 --ptxas=./ptxas -j 1 -I "it's" -o out.o 2> said
echo "status $?"
sed 's/compiler.[a-z]*.c:[0-9]*/PLACE/; s|\([^ ]*\)/tilec-[A-Za-z0-9-]*|FOLDER|' said
cat out.o
for folder in temporary/tilec-*; do [ -e $folder/command ] && (cd $folder; ls; sed "s|$TMP|TMP|; s|^'[^ ]*tilec' |tilec |" command); done
true
