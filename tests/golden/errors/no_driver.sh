# Without a driver, with a device that is not there, with an object that has nothing for the device: each says so, and what to do.
$TILEC $TILE_ROOT/samples/add_one/add_one.tile --arch=sm_90a --ptxas=none -o $TMP/add_one.o -H $TMP/add_one.h
echo '#include "add_one.h"
#include <stdio.h>
int main(void) { tile_status status = add_one(0, 0, 0, 0); printf("%s: %s\n", tile_status_name(status), tile_last_error()); return 0; }' > $TMP/use.c
$TILE_CC -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/use $TMP/use.c $TMP/add_one.o $TILE_BUILD/libtile.a -lpthread -ldl
export TILE_CUDA_LIBRARY=/nowhere/libcuda.so.1
echo '== a GPU'; TILE_DEVICE=cuda $TMP/use
echo '== the emulator, for which the object has nothing'; TILE_DEVICE=emulator $TMP/use
echo '== a wrong name'; TILE_DEVICE=gpu $TMP/use
for device in cuda cuda:7 gpu; do
  echo "== tilec run --device $device"
  $TILEC run --device $device $TILE_ROOT/samples/add_one/add_one.tile 'print(1)'; echo "exit status $?"
done
