#!/usr/bin/env bash
# batched.sh: builds build/bench/batched, Fourier transforms and Cholesky factors of tile.fourier_kernels and tile.cholesky_kernels
# beside cuFFT and cuSOLVER: `build/bench/batched` where the GPU is, whose CUDA libraries are in CUDA_HOME, as here; and
# build/bench/libbatched.so, the same kernels for batched_warp.py.
# BUILD is the build folder, CC the C compiler, ARCH what it is compiled for.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench/batched_kernels
cuda=${CUDA_HOME:-/usr/local/cuda}
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
${CC:-gcc} -std=c11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -Iruntime -Iruntime/include -Itests/bench -I"$out" -isystem "$cuda/include" \
    -o "$build/bench/batched" tests/bench/batched.c tests/bench/bench.c "$out/fourier.o" "$out/factors.o" "$build/libtile.a" \
    -L"$cuda/lib64" -Wl,-rpath,"$cuda/lib64" -lcufft -lcusolver -lcublas -lcudart -lm -lpthread -ldl
${CC:-gcc} -shared -o "$build/bench/libbatched.so" "$out/fourier.o" "$out/factors.o" \
    -Wl,--whole-archive "$build/exported/libtile.a" -Wl,--no-whole-archive -lpthread -ldl
