# A call whose keys were not compiled says which were, and the line to add.
set -e
$TILEC $TILE_ROOT/samples/matmul/matmul.tile --arch=sm_90a,emulator -o $TMP/matmul.o -H $TMP/matmul.h
echo '#include "matmul.h"
#include <stdio.h>
int main(void) { printf("%d\n%s\n", matmul(0, 1, 384, 255, 0, 0, 0), tile_last_error()); return 0; }' > $TMP/use.c
$TILE_CC -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/use $TMP/use.c $TMP/matmul.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
$TMP/use
