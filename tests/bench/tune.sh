#!/usr/bin/env bash
# tune.sh build: compiles the kernels in their configurations and the program that measures them
# into build/bench/tune, on any machine, and times that: 12 configurations, by one process and by
# as many as there are processors, and from the cache.
# tune.sh run [N]: where the GPU is: what tuning chooses beside each configuration measured by
# itself, the choice of a second process, and of an object that it was built into.
# BUILD is the build folder, CC the C compiler, ARCH what to build for (sm_90a).
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench/tune
arch=${ARCH:-sm_90a}
size=${2:-4096}
source=tests/bench/kernels/tuned.tile

compile() { # NAME OPTION...
    local name=$1; shift
    "$build/tilec" "$source" --arch="$arch" -o "$out/$name.o" -H "$out/$name.h" \
        --export "product = Product().compile(n=$size, k=$size)" "$@" 2>/dev/null
}

program() { # NAME
    ${CC:-gcc} -O2 -std=gnu11 -Iruntime -Iruntime/include -Itests/bench -I"$out" -o "$out/$1" tests/bench/tune.c \
        tests/bench/bench.c "$out/tuned.o" "$build/libtile.a" -lpthread -ldl -lm
}

timed() { # WHAT COMMAND...
    local begin=$EPOCHREALTIME
    "${@:2}"
    awk -v begin="$begin" -v end="$EPOCHREALTIME" -v what="$1" 'BEGIN { printf "%-40s %6.2f s\n", what, end - begin }'
}

case ${1:-} in
build)
    rm -rf "$out" && mkdir -p "$out"
    TILEC_CACHE=off timed "12 configurations, one process" compile tuned -j1
    TILEC_CACHE=off timed "12 configurations, $(nproc) processes" compile tuned
    export TILEC_CACHE=$out/cache
    compile tuned
    timed "12 configurations, from the cache" compile tuned
    compile tuned --export "product_add = Product(adds=True).compile(n=$size, k=$size)"
    program tune
    ;;
run)
    rm -rf "$out/choices"
    export TILE_CACHE=$out/choices
    "$out/tune" "$size"
    echo "== a second process"
    "$out/tune" "$size" | grep -E 'first call|choice|ok'
    echo "== without tuning"
    TILE_TUNE=first "$out/tune" "$size" | grep -E '^\*|first call' || true
    ;;
*)
    echo "usage: tune.sh build | run [N]" >&2
    exit 2
    ;;
esac
