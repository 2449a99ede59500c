# The second compile takes what the first one made: the same bytes, without LLVM and ptxas; a damaged or unusable cache costs time alone.
cd $TMP
export TILEC_CACHE=$TMP/cache
cp $TILE_ROOT/samples/add_one/add_one.tile .
tool() { printf '#!/bin/sh\n%s\n' "$2" > $1; chmod +x $1; }
tool ptxas 'echo run >> runs
for last in "$@"; do [ "$before" = -o ] && echo "cubin of $1" > "$last"; before=$last; done
cat <<END
ptxas info    : Compiling entry function '"'add_one__0'"' for '"'sm_80'"'
    48 bytes stack frame, 40 bytes spill stores, 56 bytes spill loads
ptxas info    : Used 255 registers, 48 bytes cumulative stack size
END'
build() { # OUTPUT OPTION...: what it ran and said
    local output=$1; shift
    rm -f runs
    $TILEC add_one.tile --ptxas=./ptxas -o $output.o -H $output.h --time-report "$@" 2> said
    status=$?
    echo "$output: status $status, ptxas $(cat runs 2>/dev/null | wc -l), LLVM $(grep -c '^LLVM' said), warnings $(grep -c warning: said)"
}
same() { cmp $1.o $2.o && sed "s/$2/$1/; s/$(echo $2 | tr a-z A-Z)/$(echo $1 | tr a-z A-Z)/" $2.h | cmp $1.h - && echo "$1 and $2 are the same"; }
build first --arch=sm_80
build second --arch=sm_80
same first second
$TILEC cache | sed "s|$TMP|TMP|; s|, .*||"
echo '== other options, tools, sources: made anew'
build other_arch --arch=sm_90a
build both --arch=sm_80,sm_90a
build level --arch=sm_80 -O1
build lines --arch=sm_80 -g
build prefix --arch=sm_80 --prefix=my_
echo '# another ptxas' >> ptxas
build other_tool --arch=sm_80
sed -i 's/1\.0/2.0/; s/+ 1/+ 2/' add_one.tile
build other_source --arch=sm_80
echo '== without it'
build plain --arch=sm_80 --no-cache
TILEC_CACHE=off build off --arch=sm_80
TILEC_CACHE=off $TILEC cache
build shown --arch=sm_80 -v
echo '== damaged: every entry, in one byte'
for entry in cache/*; do printf '\377' | dd of=$entry bs=1 seek=200 conv=notrunc status=none; done
build damaged --arch=sm_80
same other_source damaged
build mended --arch=sm_80
echo '== no room, no right, not its own'
cp -r cache kept
rm -rf cache/*
# In a build for coverage the counters would not fit in a file of that size either.
(export GCOV_PREFIX=/dev/null; ulimit -f 1; $TILEC add_one.tile --ptxas=none --arch=sm_80 -o /dev/null; echo "status $?"; $TILEC add_one.tile --ptxas=none --arch=sm_80 -o full.o 2>&1; echo "status $?") 2>&1 | grep -v '^profiling:'
ls cache | wc -l
chmod 0777 cache
build writable --arch=sm_80
$TILEC cache | sed "s|$TMP|TMP|"
rm -rf cache; echo file > cache
build file --arch=sm_80
$TILEC cache | sed "s|$TMP|TMP|"
TILEC_CACHE=/proc/self/x build nowhere --arch=sm_80
echo '== emptied'
rm cache; mv kept cache
$TILEC cache --clear | sed "s|$TMP|TMP|"
build again --arch=sm_80
echo '== another folder'
build elsewhere --arch=sm_80 --cache=other
for folder in other cache; do $TILEC cache --cache=$folder | cut -d, -f1; done
$TILEC cache --cache=other --clear | cut -d, -f1; $TILEC cache | sed "s|$TMP|TMP|" | cut -d, -f1
$TILEC cache --no-cache
echo "== tilec run"
for i in 1 2; do $TILEC run --device emulator --time-report $TILE_ROOT/samples/add_one/add_one.tile 'a = arange(300, float32); b = empty(300, float32); add_one(300, a, b); print(b[299])' 2> said; grep -c '^LLVM' said; done
true
