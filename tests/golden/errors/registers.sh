# Warpgroups that take more registers by setmaxnreg than the block began with wait for ever: the emulator says who, and what there is. Here because
# the warpgroup that gives some away is left without that; whole, the program is silent.
cp $TILE_ROOT/tests/exec/register_shares.tile $TMP
cd $TMP
line='from tile.host import random; from tilus import float32; parts(random((4, 128), float32, seed=1), counts=(240, 240, 24))'
$TILEC run --device=emulator register_shares.tile "$line"; echo "status $?"
for mode in "" --fast-emulator; do
    $TILEC run --device=emulator $mode --leave-out=1 register_shares.tile "$line" 2>&1 | grep -E '^[^ ]+: deadlock|: missed'
done
