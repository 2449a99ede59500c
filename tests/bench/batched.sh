#!/usr/bin/env bash
# batched.sh: builds build/bench/libbatched.so, the Fourier transforms and Cholesky factors that batched.py measures.
# BUILD is the build folder, CC the C compiler, ARCH what it is compiled for.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench/batched_kernels
mkdir -p "$out"

{
    echo "from tile.fourier_kernels import Transform"
    for n in 64 128 256 512 1024 2048 4096; do echo "fft$n = Transform($n).compile()"; done
} > "$out/fourier.tile"
{
    echo "from tile.cholesky_kernels import Cholesky, CholeskySolve"
    echo "from tilus import float64"
    for n in 8 16 24 32 48 64; do
        echo "cholesky_s$n = Cholesky($n).compile()"
        echo "cholesky_d$n = Cholesky($n, float64).compile()"
        echo "solve_s$n = CholeskySolve($n).compile()"
        echo "solve_d$n = CholeskySolve($n, float64).compile()"
    done
} > "$out/factors.tile"
for name in fourier factors; do
    "$build/tilec" "$out/$name.tile" "--arch=${ARCH:-sm_90a}" -o "$out/$name.o" -H "$out/$name.h"
done
${CC:-gcc} -shared -o "$build/bench/libbatched.so" "$out/fourier.o" "$out/factors.o" \
    -Wl,--whole-archive "$build/exported/libtile.a" -Wl,--no-whole-archive -lpthread -ldl
