# A tile larger than the block's shared memory is stored as it lies in registers: rearranging it
# through shared memory would pay, but there is no room.
$TILEC $TILE_ROOT/tests/exec/wgmma.tile --arch=compute_80 --emit=ptx --export 'wide = Product(128, 256, 16)' |
    awk '/^\.visible \.entry/ { entries++ } /st\.global/ { stores++ } END { print (entries > 0), (stores > 0) }'
