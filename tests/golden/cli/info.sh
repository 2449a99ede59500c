# What is in an object or a source; what is no object of tilec, broken ones included, is refused.
cp $TILE_ROOT/samples/matmul/matmul.tile $TILE_ROOT/samples/add_one/add_one.tile $TMP; cd $TMP
printf '#!/bin/sh\nfor last in "$@"; do [ "$before" = -o ] && echo "release 12.8," > "$last"; before=$last; done\necho "ptxas info : Compiling entry function '"'add_one__0'"' for"\necho "ptxas info : Used 17 registers"\n' > ptxas; chmod +x ptxas
count() { sed -E 's/of [0-9]+ bytes/of N bytes/; s/x86_64|aarch64/HOST/'; }
$TILEC info | sed -n '/^sm_90a/,/^  wgmma\|^  mma/p' | head -3
$TILEC add_one.tile --arch=sm_80,compute_80,emulator --ptxas=./ptxas -o add_one.o
$TILEC info add_one.o | count
$TILEC add_one.tile --arch=sm_80 --ptxas=none --host=aarch64-linux-gnu -o arm.o && $TILEC info arm.o | head -2
$TILEC info matmul.tile --arch=compute_80 --ptxas=none | count | grep -v '^      '
$TILEC info $TILE_ROOT/tests/golden/emit/tensor_keys.ir --arch=compute_80 --ptxas=none | sed 's|.*/tensor_keys|tensor_keys|' | count | grep -v '^      '
echo 'const struct { const char *name; const void *tables[3]; unsigned abi_version, counts[3]; } old_kernel = {"old", {0}, 1, {0}};' > old.c
gcc -c old.c -o old.o; $TILEC info old.o | count
echo 'int x;' > none.c; gcc -c none.c -o none.o; gcc -shared none.o -o none.so
for file in none.o none.so missing.o ptxas; do echo "== $file"; $TILEC info $file 2>&1 | head -3; done
size=$(stat -c %s add_one.o)
for i in $(seq 0 23); do
  head -c $((size * i / 24)) add_one.o > cut.o; $TILEC info cut.o > /dev/null 2>&1; status=$?; [ $status -le 2 ] || echo "cut at $i: $status"
  cp add_one.o cut.o; printf '\377\377\377\177' | dd of=cut.o bs=1 seek=$((16 + (size - 20) * i / 24)) conv=notrunc 2> /dev/null
  $TILEC info cut.o > /dev/null 2>&1; status=$?; [ $status -le 2 ] || echo "changed at $i: $status"
done
