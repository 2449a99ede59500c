# The header is C99 and C++, without a warning; the object links with libtile alone and with nothing else undefined.
set -e
$TILEC ../passes/add_threads.ir --arch=sm_90a -o $TMP/add.o -H $TMP/add.h
echo '#include "add.h"
#include <tile/dlpack.h>
int main(void) { return add_one(0, 0, 0, 0) != TILE_OK; }' > $TMP/use.c
cp $TMP/use.c $TMP/use.cpp
$TILE_CC -std=c99 -Wall -Wextra -Wpedantic -Werror -I$TILE_ROOT/runtime/include -I$TMP -c $TMP/use.c -o $TMP/use_c.o
g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I$TILE_ROOT/runtime/include -I$TMP -c $TMP/use.cpp -o $TMP/use_cpp.o
$TILE_CC -o $TMP/use $TMP/use_c.o $TMP/add.o $TILE_BUILD/libtile.a -lpthread -ldl
nm $TMP/add.o | awk '$1 == "U" { print "needs", $2 } $2 ~ /^[A-Z]$/ { print "gives", $3 }' | sort
$TILEC ../passes/add_threads.ir --arch=sm_90a -o $TMP/again.o && cmp $TMP/add.o $TMP/again.o && echo "the same bytes twice"
