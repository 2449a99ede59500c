#!/usr/bin/env bash
# tune.sh build: compiles the kernels in their configurations and the programs that measure them
# into build/bench/tune, on any machine, and times that: 12 configurations, by one process and by
# as many as there are processors, and from the cache.
# tune.sh run: where the GPU is: what tuning chooses beside each configuration measured by itself,
# the choice of a second process, and of an object that it was built into; a kernel that adds to its
# result; what libtilec takes to compile for a call. With PROGRAM, a file: runs it whole, twice.
# BUILD is the build folder, CC the C compiler, ARCH what to build for (sm_90a), SIZE that of the
# products (4096). TUNED_SOURCE and TUNED_EXPORT choose another product: a file, and an expression.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench/tune
arch=${ARCH:-sm_90a}
size=${SIZE:-4096}
kernels=tests/bench/kernels
source=${TUNED_SOURCE:-$kernels/tuned.tile}
product=${TUNED_EXPORT:-Product().compile(n=$size, k=$size)}

compile() { # NAME SOURCE EXPORT OPTION...
    "$build/tilec" "$2" --arch="$arch" -o "$out/$1.o" -H "$out/$1.h" --export "$3" "${@:4}" 2>/dev/null
}
tuned() { compile tuned "$source" "product = $product" "$@"; }

program() { # NAME OBJECT...
    ${CC:-gcc} -O2 -std=gnu11 -Iruntime -Iruntime/include -Itests/bench -I"$out" -o "$out/$1" "tests/bench/$1.c" \
        tests/bench/bench.c "${@:2}" "$build/libtile_emulator.a" "$build/libtile.a" -lpthread -ldl -lm
}

timed() { # WHAT COMMAND...
    local begin=$EPOCHREALTIME
    "${@:2}"
    awk -v begin="$begin" -v end="$EPOCHREALTIME" -v what="$1" 'BEGIN { printf "%-40s %6.2f s\n", what, end - begin }'
}

failed=0
# check PATTERN COMMAND...: what it says that the pattern matches; the rest of the run goes on if it fails
check() {
    local status=0
    "${@:2}" >"$out/said" 2>&1 || status=$?
    grep -E "$1" "$out/said" || true
    [ $status -eq 0 ] || { echo "FAILED ($status): ${*:2}"; tail -n 20 "$out/said"; failed=1; }
}

case ${1:-} in
build)
    rm -rf "$out" && mkdir -p "$out"
    TILEC_CACHE=off timed "12 configurations, one process" tuned -j1
    TILEC_CACHE=off timed "12 configurations, $(nproc) processes" tuned
    export TILEC_CACHE=$out/cache
    tuned
    timed "12 configurations, from the cache" tuned
    compile tuned_add $kernels/tuned.tile "product_add = Product(adds=True).compile(n=$size, k=$size)"
    compile ahead $kernels/matmul.tile "ahead = Matmul().compile(n_size=$size, k_size=$size)"
    compile late $kernels/matmul.tile "late = Matmul().compile(n_size=128, k_size=128)" --with-source
    rm -rf "$out/cache"
    program tune "$out/tuned.o" "$out/tuned_add.o"
    program late "$out/late.o" "$out/ahead.o"
    ;;
run)
    rm -rf "$out/choices" "$out/cache"
    export TILE_CACHE=$out/choices TILE_COMPILER=$build/libtilec.so TILEC_CACHE=off
    timed "12 configurations, $(nproc) processes" tuned
    if [ "${TILE_DEVICE:-}" != emulator ]; then
        check . "$out/tune" "$size"
        echo "== a second process"
        check 'first call|choice|ok' "$out/tune" "$size"
        echo "== without tuning"
        TILE_TUNE=first "$out/tune" "$size" | grep -E '^\*|first call' || true
    fi
    echo "== compiled for a call"
    check . "$out/late" "$size"
    echo "== a second process"
    check 'first call' "$out/late" "$size"
    echo "== without the library"
    if TILE_CACHE=off TILE_COMPILER=off "$out/late" "$size" 2>&1; then failed=1; fi
    for what in "first, which measures" "second, which does not"; do
        [ -n "${PROGRAM:-}" ] || break
        echo "== $(basename "$PROGRAM"), the $what"
        # without the commands of tools
        check '^[^ ]|^ +[^ "]' "$build/tilec" run -v "$PROGRAM" ${STATEMENTS:+"$STATEMENTS"}
    done
    exit $failed
    ;;
*)
    echo "usage: tune.sh build | run" >&2
    exit 2
    ;;
esac
