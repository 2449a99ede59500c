# What blocks of a product with sizes of the call do before, between and after its matrix instructions, in the program's order: one
# thread makes the barriers, fenced as such; divisions are of u32, and none stands between the sums and their store.
$TILEC --arch=sm_90a $TILE_ROOT/tests/bench/kernels/gemm.tile \
  --export 'gemm = gemm_any.compile(block_M=128, block_N=128, block_K=64, threads=256, stages=4, out_dtype=T.float16)' --emit=ptx > $TMP/all.ptx
awk '/^\.visible \.entry/ { inside = /gemm__.*_aligned\(/ }
     inside && match($0, /(div|rem|elect|fence|shfl|bar|wgmma|mbarrier|cp\.async\.bulk\.tensor)\.[.:a-z0-9_]*/) { print substr($0, RSTART, RLENGTH) }' $TMP/all.ptx | uniq -c
