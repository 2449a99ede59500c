#!/usr/bin/env bash
# spills.sh [-j N] [--arch ARCH] [FOLDER]: what ptxas says of each kernel of the bench, of samples/, stdlib/ and of the programs of
# tests/exec and, if TILEC_ACCEPT names a folder, of its .accept files: those that spill, and those whose wgmma wait for each other. FOLDER
# (none) gets what was said of all. Programs run on a driver that takes all code and does nothing when it launches (tests/tools/fake_cuda.c),
# with assertions off; N at a time (JOBS, 1). It takes some ten minutes of a core. BUILD is the build folder, CC the C compiler.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here"
jobs=${JOBS:-1} arch=sm_90a
while :; do
    case ${1:-} in
        -j) jobs=$2; shift 2 ;;
        --arch) arch=$2; shift 2 ;;
        *) break ;;
    esac
done
tilec=$(realpath "${BUILD:-build}/tilec") folder=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "${FAKE_CUDA:-}" ] || {
    FAKE_CUDA=$work/libfake_cuda.so
    ${CC:-cc} -shared -fPIC -D_GNU_SOURCE -Iruntime -Iruntime/include -o "$FAKE_CUDA" tests/tools/fake_cuda.c -lpthread
}
export tilec work arch FAKE_CUDA

# A line a program: NUMBER KIND SOURCE STATEMENTS, with tabs.
list() {
    local accept source
    for accept in tests/exec/*.accept $(find "${TILEC_ACCEPT:-/nonexistent}" -maxdepth 1 -name '*.accept' 2>/dev/null); do
        source=${accept%.accept}.tile
        [ -e "$source" ] || source=${accept%.accept}.py
        grep -vE '^(from:|#|$)' "$accept" | awk -v source="$source" '{ print "run\t" source "\t" $0 }'
    done
    find samples stdlib \( -name '*.tile' -o -name '*.py' \) -print | LC_ALL=C sort | awk '{ print "object\t" $0 }'
}
build_one() { # LINE
    local number kind source statements
    IFS=$'\t' read -r number kind source statements <<<"$1"
    export TILEC_CACHE=$work/cache.$number
    {
        echo "# $kind $source $statements"
        case $kind in
            run) TILE_DEVICE=cuda TILE_TUNE=off FAKE_CUDA_TAKES_ALL=1 TILE_CUDA_LIBRARY=$FAKE_CUDA \
                    timeout 300 "$tilec" run --at-most=1000000 --arch="$arch" -Rperf "$source" "$statements" ;;
            object) timeout 300 "$tilec" "$source" --arch="$arch" -Rperf -o "$work/object.$number" ;;
        esac
    } >"$work/said/$number" 2>&1 </dev/null || true
    rm -rf "$work/cache.$number" "$work/object.$number"
}
# The bench's own scripts, with a tilec that says what it is told.
build_bench() { # SCRIPT
    local folder=$work/bench.$1
    mkdir -p "$folder"
    printf '#!/bin/sh\nexec "%s" "$@" -Rperf 2>>"%s"\n' "$tilec" "$work/said/$1" >"$folder/tilec"
    chmod +x "$folder/tilec"
    echo "# tests/bench/$1.sh" >"$work/said/$1"
    BUILD=$folder CC=true BENCH_ARCH=$arch ARCH=$arch TILEC_CACHE=off timeout 600 bash "tests/bench/$1.sh" >/dev/null 2>&1 ||
        echo "tests/bench/$1.sh fails" >>"$work/said/$1"
}
export -f build_one build_bench

mkdir "$work/said"
scripts='programs compare batched gradients'
for script in $scripts; do echo "$script"; done | xargs -P "$jobs" -I{} bash -c 'build_bench {}'
list | awk '!seen[$0]++ { print ++n "\t" $0 }' >"$work/list"
xargs -a "$work/list" -d '\n' -P "$jobs" -I{} bash -c 'build_one "$1"' bash {}
[ -z "$folder" ] || { mkdir -p "$folder"; cp "$work/said/"* "$folder/"; }

# A kernel is counted once a program.
cat "$work/said/"* | awk '
    /^# / { program = substr($0, 3, 150) }
    /remark: [0-9]+ warps.* bytes of spills/ { kernels++; if (!/ 0 bytes of spills/) { spill++; print program; print "    " $0 } }
    /wgmma instructions wait for each other/ { wait++; print program; print "    " $0 }
    /^tests\/bench\/.* fails$/ { print }
    END {
        printf "%d kernels of %s: %d spill, %d have wgmma that wait for each other\n", kernels, ENVIRON["arch"], spill, wait
        exit spill + wait > 0
    }'
