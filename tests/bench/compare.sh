#!/usr/bin/env bash
# compare.sh [LIBRARY...]: builds the kernels that compare.py measures into build/bench/compare, each
# library of them with the runtime in it (default: all).
#   GEMM_SOURCE   file of the function gemm (default: tests/bench/kernels/gemm.tile)
#   MATMUL_SOURCE file of the class Matmul (default: tests/bench/kernels/matmul.tile)
#   TUNED_SOURCE, TUNED_EXPORT a product with configurations, as for tune.sh: a file, and an expression
# BUILD is the build folder, CC the C compiler.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench/compare
kernels=tests/bench/kernels
wanted=" $* "
mkdir -p "$out"

# library NAME SOURCE EXPORT...
library() {
    local name=$1 source=$2 line
    local options=()
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
    for line in "${@:3}"; do options+=(--export "$line"); done
    "$build/tilec" "$source" --arch=sm_90a "${options[@]}" -o "$out/$name.o" -H "$out/$name.h"
    ${CC:-gcc} -shared -o "$out/$name.so" "$out/$name.o" \
        -Wl,--whole-archive "$build/exported/libtile.a" -Wl,--no-whole-archive -lpthread -ldl
}

tensors() { # M N K DTYPE [REST]: arguments of gemm for these sizes
    printf 'A=T.Tensor((%s, %s), T.%s), B=T.Tensor((%s, %s), T.%s)%s' "$1" "$3" "$4" "$3" "$2" "$4" "${5:-}"
}

turned() { # the same with B given transposed
    printf 'A=T.Tensor((%s, %s), T.%s), B=T.Tensor((%s, %s), T.%s)%s' "$1" "$3" "$4" "$2" "$3" "$4" "${5:-}"
}

tile() { # BLOCK_M BLOCK_N BLOCK_K THREADS STAGES OUT_DTYPE
    printf ', block_M=%s, block_N=%s, block_K=%s, threads=%s, stages=%s, out_dtype=T.%s' "$@"
}

# the author's own tile
library gemm "${GEMM_SOURCE:-$kernels/gemm.tile}" \
    "gemm = gemm.compile($(tensors 4096 4096 4096 float16))" \
    "gemm = gemm.compile($(tensors 8192 8192 8192 float16))"

# half precision, a tile for it
half=()
for dtype in float16 bfloat16; do
    for size in "4096 4096 4096" "8192 8192 8192" "16384 4096 4096"; do
        half+=("gemm = gemm.compile($(tensors $size $dtype "$(tile 128 256 64 256 4 $dtype)"))")
        half+=("gemm_nt = gemm_nt.compile($(turned $size $dtype "$(tile 128 256 64 256 4 $dtype)"))")
    done
done
library half "$kernels/gemm.tile" "${half[@]}"

# small ones
library small "$kernels/gemm.tile" \
    "gemm = gemm.compile($(tensors 2048 2048 2048 float16 "$(tile 128 256 64 256 4 float16)"))" \
    "gemm = gemm.compile($(tensors 2048 2048 2048 float16 "$(tile 128 128 64 128 4 float16)"))" \
    "gemm = gemm.compile($(tensors 1024 1024 1024 float16 "$(tile 64 128 64 128 8 float16)"))" \
    "gemm = gemm.compile($(tensors 1024 1024 1024 float16 "$(tile 64 128 128 128 4 float16)"))" \
    "gemm = gemm.compile($(tensors 1024 1024 1024 float16 "$(tile 128 64 128 128 4 float16)"))" \
    "gemm = gemm.compile($(tensors 512 512 512 float16 "$(tile 64 64 128 128 4 float16)"))"

# sizes that tiles do not divide
library ragged "$kernels/gemm.tile" \
    "gemm = gemm_any.compile($(tile 256 128 64 256 4 float16 | cut -c3-))" \
    "gemm = gemm_any.compile($(tile 72 128 64 128 6 float16 | cut -c3-))" \
    "gemm = gemm_any.compile($(tile 128 128 64 256 5 float16 | cut -c3-))"

# other types
library types "$kernels/gemm.tile" \
    "gemm = gemm_nt.compile($(turned 4096 4096 4096 float8_e4m3 "$(tile 128 256 128 256 4 bfloat16)"))" \
    "gemm = gemm_nt.compile($(turned 8192 8192 8192 float8_e4m3 "$(tile 128 256 128 256 4 bfloat16)"))" \
    "gemm = gemm_nt.compile($(turned 4096 4096 4096 int8 "$(tile 128 256 128 256 4 int32)"))" \
    "gemm = gemm_nt.compile($(turned 4096 4096 4096 float32 "$(tile 128 256 32 256 4 float32)"))"

# blocks that the library chooses for the size
own=()
while read -r name m n k; do own+=("$name = product($m, $n, $k).compile(n=$n, k=$k)"); done <<'END'
a3072 3072 5120 2560
a4352 4352 4352 4352
a1536 1536 1536 1536
a2048 2048 28672 8192
a6144 6144 4096 12288
a8192 8192 1024 8192
a1280 1280 1280 1280
a1792 1792 1792 1792
a2304 2304 2304 8192
a2560 2560 2560 2560
a3328 3328 3328 16384
a5120 5120 5120 5120
a11008 4096 11008 4096
deep 4352 256 65536
END
library own "$kernels/library.tile" "${own[@]}"

# full precision
library full "$kernels/library.tile" \
    "square = Product(128, 128, 16, stages=4, warps=4, dtype=float32).compile(n=4096, k=4096)" \
    "wide = Product(128, 256, 16, stages=4, warps=8, dtype=float32).compile(n=4096, k=4096)"

# few rows of A
skinny="compile(n=12288, k=4096)"
library skinny "$kernels/library.tile" \
    "few = FewRows().$skinny" \
    "few_32 = FewRows(rows=32, stages=5).$skinny" \
    "few_64 = FewRows(rows=64, stages=5).$skinny"

# the plainest text of all, for few rows
library matmul "${MATMUL_SOURCE:-$kernels/matmul.tile}" "matmul = Matmul().compile(n_size=12288, k_size=4096)"

# a plain loop in 12 configurations, of which the first call chooses
library tuned "${TUNED_SOURCE:-$kernels/tuned.tile}" "tuned = ${TUNED_EXPORT:-Product().compile(n=4096, k=4096)}"

# many products at once; shares of k
library many "$kernels/library.tile" \
    "batched = Batched(128, 256, 64, warps=8).compile(n=1024, k=1024)" \
    "grouped = Grouped(128, 256, 64, warps=8).compile(n=4096, k=4096, groups=32)" \
    "split2 = Product(64, 64, 128, 2, stages=2, warps=4).compile(n=512, k=512)" \
    "split1 = Product(64, 32, 128, 1, stages=4, warps=4).compile(n=512, k=512)"

# narrow weights: many rows, and few, where reading them is what takes time
narrow="compile(n=8192, k=8192)"
once='evict="evict_first", clustered=True'
library narrow "$kernels/library.tile" \
    "i8 = Widened(weights=int8).$narrow" \
    "e4m3 = Widened(stages=3, weights=float8_e4m3).$narrow" \
    "i4 = Widened(weights=int4).$narrow" \
    "i8_16 = Widened(16, 64, 256, 2, stages=4, warps=4, weights=int8, $once).$narrow" \
    "e4m3_16 = Widened(16, 64, 128, 2, stages=8, warps=4, weights=float8_e4m3, $once).$narrow" \
    "i4_16 = Widened(16, 64, 256, 2, stages=6, warps=4, weights=int4, $once).$narrow"

# the kernels that Warp compiles too; compare_warp.py says which
mapfile -t warp < <(python3 tests/bench/compare_warp.py --exports)
library warp "$kernels/warp_tiles.py" "${warp[@]}"
