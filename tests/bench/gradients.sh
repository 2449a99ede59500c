#!/usr/bin/env bash
# gradients.sh: builds build/bench/gradients, of kernels/gradients.tile and gradients.c: a program that needs a driver and nothing else.
# BENCH_ARCH is what to compile for (default sm_90a,emulator), BUILD the build folder, CC the C compiler.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench/kernels
product='product = Product(128, 256, 64, 8)'
mkdir -p "$out"
"$build/tilec" tests/bench/kernels/gradients.tile "--arch=${BENCH_ARCH:-sm_90a,emulator}" -o "$out/gradients.o" -H "$out/gradients.h" \
    --export "$product.compile(m=4096, n=4096, k=4096, grad=True)" \
    --export "$product.compile(m=256, n=512, k=192, grad=True)" \
    --export 'layernorm = LayerNorm(8).compile(n=4096, grad=True)' \
    --export 'softmax = Softmax(8).compile(n=4096, grad=True)'
${CC:-gcc} -std=c11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -Iruntime -Iruntime/include -Itests/bench -I"$out" \
    -o "$build/bench/gradients" tests/bench/gradients.c tests/bench/bench.c "$out/gradients.o" \
    "$build/libtile_emulator.a" "$build/libtile.a" -lm -lpthread -ldl
