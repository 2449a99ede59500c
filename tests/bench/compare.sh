#!/usr/bin/env bash
# compare.sh: builds the kernels that compare.py measures into build/bench/compare, each as a shared
# library with the runtime in it.
#   GEMM_SOURCE   file of the function gemm (default: tests/bench/kernels/gemm.tile)
# BUILD is the build folder, CC the C compiler.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench/compare
gemm_source=${GEMM_SOURCE:-tests/bench/kernels/gemm.tile}
mkdir -p "$out"

# library NAME SOURCE EXPORT...
library() {
    local name=$1 source=$2 line
    local options=()
    for line in "${@:3}"; do options+=(--export "$line"); done
    "$build/tilec" "$source" --arch=sm_90a "${options[@]}" -o "$out/$name.o" -H "$out/$name.h"
    ${CC:-gcc} -shared -o "$out/$name.so" "$out/$name.o" \
        -Wl,--whole-archive "$build/libtile.a" -Wl,--no-whole-archive -lpthread -ldl
}

tensors() { # M N K [REST]: arguments of gemm for these sizes
    printf 'A=T.Tensor((%s, %s), T.float16), B=T.Tensor((%s, %s), T.float16)%s' "$1" "$3" "$3" "$2" "${4:-}"
}

library gemm "$gemm_source" \
    "gemm = gemm.compile($(tensors 4096 4096 4096))" \
    "gemm = gemm.compile($(tensors 8192 8192 8192))"
