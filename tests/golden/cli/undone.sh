# -Rperf of varied kernels: what no loop and no grid got of what the planner has is said with the reason.
cd $TMP
undone() { # FILE KERNEL
  echo "$1: $2"
  $TILEC -Rperf --ptxas=none --arch=sm_90a --export "kernel = $2" $TILE_ROOT/tests/exec/$1.tile -o out.o 2>&1 |
    sed -nE "s|^[^ ]*/$1.tile:([0-9]*):[0-9]*: remark: (.*(a loop (of prod.*not\|not\|whose\|without)\|a copy (not\|before)\|a product not left\|no product\|a mask\|blocks are taken\|in place of\|no stages\|a store not\|iterations in which\|what this loop).*) \[R0502\]|  \1: \2|p" | sort -u
}
while IFS='|' read -r file kernel; do undone $file "$kernel"; done <<'END'
layernorm|LayerNorm(256, 4)
kept_loads|norm.compile(A=T.Tensor((64, 65536), T.float32), part=1024, backwards=False)
plain_loop|Plain(128, 128, 32, 8).compile(n=4096, k=4096)
pipelined_gemm|Gemm(128, 256, 32, 3, 8, transposed=True).compile(n=4096, k=4096)
pipelined_gemm|Gemm(128, 256, 64, 4, 8).compile(n=4096, k=4096)
pipelined_gemm|Gemm(64, 64, 64, 4, 4).compile(n=1000, k=4096)
attention|attention.compile(*shapes(1, 2, 1024, 1024, 128), causal=True)
attention|attention.compile(*shapes(1, 2, 1024, 1024, 64))
nested|tall_heads.compile(Q=T.Tensor((2, 128, 128), T.float16), K=T.Tensor((5, 512, 128), T.float16), V=T.Tensor((5, 512, 128), T.float16))
recurrences|states
recurrences|gradients
gathered_rows|chosen
masks_run_time|masked.compile(A=T.Tensor((256, 64), T.float16), B=T.Tensor((512, 64), T.float16))
mbarrier_stages|told.compile(A=T.Tensor((512, 64), T.float16))
END
