# A pointer that is not aligned to its elements is refused, with the argument's name; so is a size that is negative.
set -e
$TILEC $TILE_ROOT/samples/add_one/add_one.tile --arch=sm_90a,emulator -o $TMP/add_one.o -H $TMP/add_one.h
cat > $TMP/use.c <<'C'
#include "add_one.h"
#include <stdio.h>
static void show(tile_status status)
{
    printf("%s: %s\n", tile_status_name(status), status ? tile_last_error() : "");
}
int main(void)
{
    void *memory = 0;
    show(tile_alloc(&memory, 64));
    show(add_one(0, 8, (char *)0x1001, memory));
    show(add_one(0, -5000, memory, memory));
    return 0;
}
C
$TILE_CC -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/use $TMP/use.c $TMP/add_one.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
$TMP/use
