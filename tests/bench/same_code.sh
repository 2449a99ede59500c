#!/usr/bin/env bash
# same_code.sh [--ptx] [-j N] [--sources FOLDER] [--keep FOLDER] OLD NEW [NAME.accept...]: two tilec programs make the same code, byte for
# byte. OLD and NEW are programs. Without names, of the programs of tests/exec, samples/, tests/bench and stdlib/ in FOLDER (this checkout),
# and, if TILEC_ACCEPT names a folder, of its .accept files. Each line of a .accept file is run, and each sample and kernel compiled to an
# object and to PTX of its own. What is compared is the caches of the two, program by program, without the names of entries, which go by the
# compiler itself; the objects and texts; and which programs are refused. N at a time of each (JOBS, 1); messages are not compared. --keep:
# what differs is left in FOLDER.
#
# Lines are compiled to PTX of sm_90a and sm_80 and to the emulator's object code, and run on it. With --ptx, for sm_90a and sm_80 alone, a
# tenth of the work: lines run on a driver (tests/tools/fake_cuda.c) that takes all PTX and does nothing when it launches, with assertions
# off (--at-most). No GPU, ptxas or LLVM is needed, and no compiler if FAKE_CUDA names that driver built.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
ptx= keep= sources=$here jobs=${JOBS:-1}
while :; do
    case ${1:-} in
        --ptx) ptx=1; shift ;;
        -j) jobs=$2; shift 2 ;;
        --sources) sources=$2; shift 2 ;;
        --keep) mkdir -p "$2"; keep=$(realpath "$2"); shift 2 ;;
        *) break ;;
    esac
done
old=$(realpath "$1") new=$(realpath "$2")
shift 2
cd "$sources"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Of a program that is refused, for one as those of sm_90a alone are for sm_80, the code of the first architectures.
archs=sm_90a,sm_80,emulator:sm_90a fewer=sm_90a,emulator:sm_90a run=(--fast-emulator --device emulator)
if [ "$ptx" ]; then
    archs=sm_90a,sm_80 fewer=sm_90a run=(--at-most=1000000)
    [ "${FAKE_CUDA:-}" ] || {
        FAKE_CUDA=$work/libfake_cuda.so
        ${CC:-cc} -shared -fPIC -D_GNU_SOURCE -I"$here/runtime" -I"$here/runtime/include" -o "$FAKE_CUDA" "$here/tests/tools/fake_cuda.c" -lpthread
    }
    export TILE_DEVICE=cuda TILE_TUNE=off FAKE_CUDA_TAKES_ALL=1 TILE_CUDA_LIBRARY=$FAKE_CUDA
fi
given=$#
[ $given -gt 0 ] || set -- tests/exec/*.accept $(find "${TILEC_ACCEPT:-/nonexistent}" -maxdepth 1 -name '*.accept' 2>/dev/null)

# A line a program: KIND SOURCE STATEMENTS, with tabs.
list() {
    local accept source
    for accept in "$@"; do
        source=${accept%.accept}.tile
        [ -e "$source" ] || source=${accept%.accept}.py
        grep -vE '^(from:|#|$)' "$accept" | awk -v source="$source" '{ print "run\t" source "\t" $0 }'
    done
    [ $given -gt 0 ] || find samples tests/bench stdlib \( -name '*.tile' -o -name '*.py' \) -print | LC_ALL=C sort | awk '{ print "object\t" $0; print "ptx\t" $0 }'
}
# Of each entry the bytes behind its head: magic, key, length and hash (compiler/codegen/cache.c).
bodies() { # CACHE FOLDER
    local entry count=0
    for entry in "$1"/*; do
        [ -f "$entry" ] || continue
        count=$((count + 1))
        tail -c +"$((16 + 32 + 8 + 32 + 1))" "$entry" >"$2/$count"
    done
}
# What a program gives: its status in `status`, what is written in `made`, the sums of that in `sums`.
compile_one() { # PROGRAM FOLDER NUMBER LINE
    local kind source statements status arch of=$2/$3 program=$1
    IFS=$'\t' read -r kind source statements <<<"$4"
    mkdir -p "$of/made"
    for arch in $archs $fewer; do
        case $kind in
            run) set -- run "${run[@]}" --ptxas=none --arch=$arch "$source" "$statements" ;;
            object) set -- "$source" --ptxas=none --arch=$arch -o "$of/made/object" ;;
            ptx) set -- "$source" --ptxas=none --arch=sm_90a --emit=ptx -o "$of/made/text" ;;
        esac
        status=0
        TILEC_CACHE=$of/cache timeout 300 "$program" "$@" >/dev/null 2>&1 </dev/null || status=$?
        [ $status != 0 ] && [ $kind != ptx ] || break
    done
    echo "$status" >"$of/status"
    bodies "$of/cache" "$of/made"
    find "$of/made" -type f -exec sha256sum {} + | cut -d' ' -f1 | LC_ALL=C sort >"$of/sums"
    rm -rf "$of/cache"
    [ "$keep" ] || rm -rf "$of/made"
}
compile_all() { # PROGRAM FOLDER: the lines from standard input, each behind its number
    local line
    run=($run)
    while IFS= read -r line; do compile_one "$1" "$2" "${line%%$'\t'*}" "${line#*$'\t'}"; done
}
export -f compile_one compile_all bodies
export archs fewer keep
make_all() { # PROGRAM FOLDER
    mkdir -p "$2"
    run="${run[*]}" xargs -a "$work/list" -d '\n' -P "$jobs" -n 4 bash -c 'printf "%s\n" "${@:3}" | compile_all "$1" "$2"' bash "$1" "$2"
}

list "$@" | awk '!seen[$0]++ { print ++n "\t" $0 }' >"$work/list"
make_all "$old" "$work/old" &
make_all "$new" "$work/new"
wait
same=0 both=0 refused=0 changed=0 differ=0 results=0
while IFS=$'\t' read -r number kind source statements; do
    a=$work/old/$number b=$work/new/$number
    [ -e "$a/status" ] && [ -e "$b/status" ] || { echo "not compiled: $kind $source $statements"; differ=$((differ + 1)); continue; }
    n=$(wc -l <"$b/sums") before=$(<"$a/status") after=$(<"$b/status")
    if [ "$before" != "$after" ]; then
        changed=$((changed + 1))
        echo "status $before, then $after: $kind $source $statements" | cut -c1-300
    elif ! cmp -s "$a/sums" "$b/sums"; then
        differ=$((differ + 1))
        echo "$(comm -23 "$a/sums" "$b/sums" | wc -l) of $n results differ: $kind $source $statements" | cut -c1-300
    else
        [ "$n" -eq 0 ] || { same=$((same + 1)) results=$((results + n)); }
        [ "$after" = 0 ] && both=$((both + 1)) || refused=$((refused + 1))
        continue
    fi
    [ ! "$keep" ] || { mkdir -p "$keep/$number"; cp -r "$a/made" "$keep/$number/old"; cp -r "$b/made" "$keep/$number/new"; }
done <"$work/list"
[ $results -gt 0 ] || { echo "nothing was compiled"; exit 1; }
echo "$(wc -l <"$work/list") programs: $both end with status 0 and $refused with the same other one, $changed with another one, $differ give other bytes; $same of them give $results results, the same bytes"
[ $((changed + differ)) = 0 ]
