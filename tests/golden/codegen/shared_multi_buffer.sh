# A matmul through a ring of shared stages that subscripts choose at run time: its stages are read by ldmatrix, as tiles of their own are.
$TILEC $TILE_ROOT/tests/exec/gemm_shared.tile --arch=sm_80 --export 'gemm = Gemm(float16, 64, 64, 32, 4, 4)' --emit=ptx |
  grep -oE '(ld\.shared|st\.shared)[.a-z0-9]*|ldmatrix[.a-z0-9]*|mma\.sync[.a-z0-9]*' | sort -u
