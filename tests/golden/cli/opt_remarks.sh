# `tilec opt -Rperf` on typed IR says what `tilec -Rperf` says of the program that it comes from, but for registers, and prints the same IR.
cd $TMP
cp $TILE_ROOT/tests/exec/pipelined_gemm.tile k.tile
of=(--export 'product = Gemm(128, 256, 32, 3, 8, transposed=True).compile(n=4096, k=4096)')
said() { grep -oE '[0-9]+:[0-9]+: remark: .* \[R0502\]' | grep -v 'shared memory a block' | sed -E 's/ \[sm_90a[^]]*\]//' | sort -u; }
$TILEC k.tile "${of[@]}" --emit=ir -o k.ir
$TILEC k.tile "${of[@]}" -Rperf --ptxas=none --arch=sm_90a -o k.o 2>&1 | said >program
$TILEC opt -Rperf --target=sm_90a k.ir -o remarked.ir 2>&1 | said >text
$TILEC opt --target=sm_90a k.ir -o plain.ir && cmp plain.ir remarked.ir
cat text
comm -3 program text
