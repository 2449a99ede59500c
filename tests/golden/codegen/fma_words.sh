# A product by fma of 112 sums a thread reads 16 bytes of 22 rows at a time, and two elements of each where registers spill for that.
needs ptxas
echo "from tile.gemm import Product
from tilus import float32" >"$TMP/product.py"
"$TILEC" "$TMP/product.py" --export "k = Product(64, 224, 32, stages=3, warps=4, dtype=float32, b='nk').compile(n=224, k=72)" \
    --arch=sm_80 -o "$TMP/product.o" -Rperf 2>&1 | grep -o '[0-9]* bytes of spills'
