# What threads wrote to global memory is for TMA behind a fence of that memory alone; that is what PTX has.
cp $TILE_ROOT/tests/exec/global_fence.tile $TMP; cd $TMP
for space in '"global"' '"shared"' None; do
    echo "== $space"
    $TILEC run --device=emulator --arch=emulator:sm_90a global_fence.tile \
        "Over($space)(64, zeros((64, 64), float32))" 2>&1 | grep -o '[a-z_]*.tile:[0-9]*:[0-9]*: unfenced.*'
done
$TILEC global_fence.tile --export 'over = Over("global")' --arch=sm_90a --ptxas=none --emit=ptx -o - |
    awk '/fence.proxy|bar.sync|bulk.tensor/ { print $1, $2 ~ /bulk/ ? $2 : "" } /^}/ { exit }'
