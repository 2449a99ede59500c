# -Rperf: what was made of each loop, product and access, for which architectures and variants, and why no more; from the cache, too.
cd $TMP
printf '#!/bin/sh\nfor last in "$@"; do [ "$before" = -o ] && echo "release 12.8," > "$last"; before=$last; done\necho "ptxas info : Compiling entry function '"'x'"' for"\n' > ptxas; chmod +x ptxas
said() { # ARCHS FILE KERNEL
  echo "$2: $3 for $1"
  $TILEC -Rperf --ptxas=./ptxas --arch=$1 --export "product = $3" $TILE_ROOT/tests/exec/$2.tile -o out.o 2>&1 | sed -nE "s|^[^ ]*/$2.tile:([0-9]*):[0-9]*: remark: (.*) \[R0502\]|  \1: \2|p"
}
said sm_90a,sm_80 pipelined_gemm 'Gemm(128, 256, 32, 3, 8, transposed=True).compile(n=4096, k=4096)'
said sm_90a,sm_80 plain_loop 'Plain(128, 128, 32, 8).compile(n=4096, k=4096)'
said sm_90a,sm_80 plain_loop 'Plain(128, 128, 32, 8).compile(n=4096, k=4096)' | cksum > again; said sm_90a,sm_80 plain_loop 'Plain(128, 128, 32, 8).compile(n=4096, k=4096)' | cksum | cmp - again
said sm_90a dot_slices 'Product(64, 64, 16, stages=3)'
while IFS= read -r kernel; do said sm_90a wgmma_types "$kernel" | sed -n '/^  45: a product of/p'; done <<'END'
Product(64, 64, 64, float16, float32, doubled=True)
Product(64, 64, 64, float8_e4m3, float32, b="kn")
Product(32, 48, 64, float16, float32)
Product(64, 64, 64, float16, float32, warps=2)
Product(64, 60, 64, float16, float32)
Product(64, 64, 24, float8_e4m3, float32)
Product(64, 24, 48, float16, float32, b="kn")
Product(128, 512, 32, float16, float32, b="kn")
END
while IFS= read -r kernel; do said sm_90a gemm_threads "$kernel" | sed -n '/ threads in place of /p; / a product of/p'; done <<'END'
product.compile(A=T.Tensor((256, 256), T.float16), B=T.Tensor((256, 256), T.float16), block_N=256, threads=384)
product.compile(A=T.Tensor((256, 256), T.float16), B=T.Tensor((256, 256), T.float16), block_N=256, threads=192)
product.compile(A=T.Tensor((256, 256), T.float16), B=T.Tensor((256, 256), T.float16), block_M=64, threads=512)
product.compile(A=T.Tensor((256, 256), T.float16), B=T.Tensor((256, 256), T.float16), block_M=48, threads=96)
counted.compile(A=T.Tensor((128, 256), T.float16), B=T.Tensor((256, 256), T.float16))
END
# Numbers of less than a byte are read by whole ones.
said sm_90a packed 'Widen().compile(m=7, n=31)' | grep 'a load'
said sm_90a packed 'Widen().compile(m=8, n=64)' | grep 'a load'
# What spills by wgmma is built by mma.sync, of which the remarks are then, when it comes from the cache, too.
cat > ptxas <<'END'
#!/bin/sh
echo 'release 12.8,' > "$6"
sed -n "s/.*\.entry \([^(]*\)(.*/ptxas info : Compiling entry function '\1' for/p" "$4"
grep -q wgmma.mma "$4" && echo '    80 bytes stack frame, 80 bytes spill stores, 80 bytes spill loads'
echo 'ptxas info : Used 32 registers'
END
for again in 1 2; do said sm_90a wgmma_types 'Product(64, 64, 64, float16, float32)' | sed -n '/ a product of/p; / warps and /p'; done
# Of a loop by plan: what is copied once is no multi-buffer; its stores are not TMA's, and the loop, or the store, says why.
for size in 128 64; do
  { cat $TILE_ROOT/tests/exec/attention.tile; echo "attention.compile(*shapes(1, 2, 1024, 1024, $size), causal=True)"; } > planned.tile
  $TILEC -Rperf --ptxas=none --arch=sm_90a planned.tile -o out.o 2>&1 | sed -nE 's/^planned.tile:([0-9]*):[0-9]*: remark: ((a loop multi|a loop whose|a store|persistent).*) \[R0502\]/  \1: \2/p'
done
