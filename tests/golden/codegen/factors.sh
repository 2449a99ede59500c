# Cholesky factors and systems: those of many matrices read the numbers of the lower triangle alone, and have a barrier for each column of a
# turn; blocked ones of float64 multiply by the matrix unit, on targets that have it.
cat >"$TMP/factors.tile" <<'END'
from tile.cholesky_kernels import BlockCholesky, BlockSolve, Cholesky
from tilus import float64

many = Cholesky(32).compile()
blocked = BlockCholesky(32, float64).compile()
solved = BlockSolve(32, 32, float64).compile()
alone = BlockSolve(1, 32, float64).compile()
END
for arch in sm_90a sm_80 sm_120; do
  echo "$arch"
  $TILEC "$TMP/factors.tile" --arch=$arch --emit=ptx --ptxas=none | awk '/^\.visible \.entry/ { name = $3; sub(/__.*/, "", name) } /mma\.sync/ || name == "many" && /bar\.(warp\.)?sync|ld\.global/ { print name, $0 }' |
    grep -oE '^[a-z]+|mma\.sync[.a-z0-9]*|bar\.(warp\.)?sync|ld\.global' | paste -d ' ' - - | sort | uniq -c
done
