# Loops by plan: what is said of them (where ptxas finds spills, only the variant for aligned arguments may keep what both begin with), what the variant for aligned arguments has of each instruction, and that ptxas neither spills nor makes one product wait for another.
show() { # SOURCE LINE
  echo "$2"
  { cat "$TILE_ROOT/tests/exec/$1"; echo "$2"; } >"$TMP/planned.tile"
  $TILEC "$TMP/planned.tile" --arch=sm_90a -Rperf --emit=cubin -o "$TMP/planned.cubin" 2>&1 | grep -oE "[0-9]+ bytes of spills.*wait for each other|[1-9][0-9]* bytes of spills|([0-9] stages in place|a loop by plan|no product is done|a loop of products|iterations in which|persistent blocks).*" | sed 's/ \[sm_90a, aligned\]//'
  $TILEC "$TMP/planned.tile" --arch=sm_90a --ptxas=none --emit=ptx 2>/dev/null |
    awk '/\.entry/ { mine = /_aligned/ } mine' |
    grep -oE 'wgmma\.(mma_async\.sync\.aligned\.m64n[0-9]+k[0-9]+|wait_group\.sync\.aligned [0-9])|setmaxnreg[.a-z0-9]*|cp\.async\.bulk\.tensor|ex2\.approx|mbarrier\.try_wait|cp\.async\.cg|bar(rier)?\.sync' | sort | uniq -c
}
show attention.tile 'attention.compile(*shapes(1, 2, 1024, 1024, 128), causal=True)'
show attention.tile 'attention.compile(*shapes(1, 2, 1024, 1024, 64))'
show attention.tile 'attention.compile(*shapes(1, 2, 1024, 1024, 128), block_M=64, block_N=64, threads=128)'
# one stage is asked, of which two have room, as registers leave a multiprocessor one block; a block of few registers has its one
show attention.tile 'attention.compile(*shapes(1, 2, 1024, 1024, 128), causal=True, num_stages=1)'
show attention.tile 'attention.compile(*shapes(1, 2, 1024, 1024, 64), block_M=64, block_N=64, num_stages=1, threads=128)'
show planned.tile 'chain.compile(T.Tensor((64, 64), T.float16), T.Tensor((1, 64), T.float16), T.Tensor((1, 64), T.float16))'
show planned.tile 'pair.compile(T.Tensor((64, 192), T.float16), T.Tensor((192, 64), T.float16), T.Tensor((192, 64), T.float16))'
show planned.tile 'three.compile(T.Tensor((64, 64), T.float16), T.Tensor((1024, 64), T.float16))'

# nothing but what threads store waits for the product, which is in flight while they make what the next one reads
show planned_memory.tile 'widened.compile(T.Tensor((64, 256), T.float16), T.Tensor((64, 256), T.int8))'
show planned_loads.tile 'ragged.compile(T.Tensor((3, 64, 64), T.float16), T.Tensor((400, 64), T.float16), T.Tensor((400, 64), T.float16), T.Tensor((4,), T.int32))'
show planned_loads.tile 'paged.compile(T.Tensor((128, 64), T.float16), T.Tensor((400, 64), T.float16), T.Tensor((400, 256), T.float16), T.Tensor((8,), T.int32), T.Tensor((1,), T.int32))'
show planned_loads.tile 'chased.compile(T.Tensor((64, 64), T.float16), T.Tensor((400, 64), T.float16), T.Tensor((8,), T.int32), 4)'
# a slice whose length is known though where it begins is not, of as many iterations as memory says by way of shared memory
show planned_shares.tile 'shares.compile(T.Tensor((64, 64), T.float16), T.Tensor((600, 64), T.float16), T.Tensor((600, 64), T.float16), T.Tensor((4,), T.int32), T.int32)'
# how far the window reaches is known, though not where the sequence begins
show attention_packed.tile 'attention.compile(*[T.Tensor((700, 1, 64), T.float16)] * 3, T.Tensor((4,), T.int32), T.Tensor((700, 1, 64), T.float16), longest=400, window=128, num_stages=2)'
show nested.tile 'tiles.compile(T.Tensor((256, 256), T.float16), T.Tensor((256, 128), T.float16))'
show nested.tile 'powers.compile(T.Tensor((64, 256), T.float16), T.Tensor((256, 64), T.float16), 3)'
# what the next iteration reads is filled behind what this one reads
show recurrences.tile 'states.compile(T.Tensor((192, SIZE), T.float16), T.Tensor((192, SIZE), T.float16), T.Tensor((192, SIZE), T.float16), T.Tensor((192, 2), T.float32))'
