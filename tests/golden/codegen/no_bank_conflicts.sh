# On the way to its products a matmul meets no bank conflict: not when operands are stored, not when ldmatrix reads them.
for size in '16, 384, 256' '65, 200, 72' '100, 128, 64'; do
  $TILEC run --device emulator --statistics $TILE_ROOT/tests/bench/kernels/matmul.tile "m = Matmul(); M, N, K = ($size); a = random((M, K), float16, seed=1); b = random((K, N), float16, seed=2); c = zeros((M, N), float16); m(M, N, K, a, b, c)" |
    awk -v size="$size" '/shared|ldmatrix|stmatrix/ { conflicts += $(NF - 2); places++ } END { print size ": " places " places, " conflicts + 0 " bank conflicts" }'
done
