# What the launches of gradients do: products for themselves; rows whose sums are carried; attention, whose keys, values and queries have
# a launch each that adds up products, so that no two blocks add to one place.
$TILEC $TILE_ROOT/tests/exec/gradients_blocks.tile --arch=sm_90a --emit=ir --export 'product = product.compile(block_dim=64, grad=True)' \
  --export 'rows = Rows(16).compile(grad=True)' --export 'attention = Attention().compile(grad=True)' |
  awk '/^kernel/ { show = $2 ~ /_grad/; if (show) print $2 } show' |
  grep -oE '^@[a-z]+_grad|^ *(launch|store) |= (for|dot|atomic) ' | awk '{ print $NF }' | uniq -c
