#!/usr/bin/env bash
# same_code.sh OLD NEW [NAME.accept...]: two tilec programs make the same code, byte for byte. OLD and NEW are programs. Without names,
# of the programs of tests/exec, samples/ and tests/bench, and, if TILEC_ACCEPT names a folder, of its .accept files. Each line of a
# .accept file is compiled to PTX of sm_90a and sm_80 and to the emulator's object code; each sample and kernel to an object for the
# same, and to PTX alone. What is compared is the caches of the two, without the names of entries, which go by the compiler itself; the
# objects and texts; and which programs are refused. JOBS at a time of each (1); messages are not compared.
set -eu
cd "$(dirname "$0")/../.."
old=$(realpath "$1") new=$(realpath "$2")
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archs=sm_90a,sm_80,emulator:sm_90a
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
compile_one() { # PROGRAM FOLDER NUMBER LINE: the status and the sum of what is written go to FOLDER/said/NUMBER
    local kind source statements status=0 out=$2/out.$3
    IFS=$'\t' read -r kind source statements <<<"$4"
    case $kind in
        run) timeout 300 "$1" run --ptxas=none --fast-emulator --device emulator --arch=$archs "$source" "$statements" >/dev/null 2>&1 </dev/null || status=$? ;;
        object) timeout 300 "$1" "$source" --ptxas=none --arch=$archs -o "$out" >/dev/null 2>&1 </dev/null || status=$? ;;
        ptx) timeout 300 "$1" "$source" --ptxas=none --arch=sm_90a --emit=ptx -o "$out" >/dev/null 2>&1 </dev/null || status=$? ;;
    esac
    echo "$kind $source: status $status $([ ! -e "$out" ] || sha256sum <"$out")" >"$2/said/$3"
    rm -f "$out"
}
export -f compile_one
export archs
make_all() { # PROGRAM FOLDER
    mkdir -p "$2/said"
    TILEC_CACHE=$2/cache xargs -a "$work/list" -d '\n' -P "${JOBS:-1}" -n 1 bash -c 'compile_one "$0" "$1" "$(printf %s "$2" | sha256sum | cut -c1-16)" "$2"' "$1" "$2"
}
# Of each entry the bytes behind its head: magic, key, length and hash (compiler/codegen/cache.c).
bodies() { find "$1" -type f | while IFS= read -r entry; do tail -c +"$((16 + 32 + 8 + 32 + 1))" "$entry" | sha256sum; done | sort; }

list "$@" | awk '!seen[$0]++' >"$work/list"
make_all "$old" "$work/old" &
make_all "$new" "$work/new"
wait
for side in old new; do
    bodies "$work/$side/cache" >"$work/$side.sums"
    (cd "$work/$side/said" && grep -H . *) >"$work/$side.said"
done
[ -s "$work/old.sums" ] || { echo "nothing was compiled"; exit 1; }
bad=0
diff "$work/old.said" "$work/new.said" >"$work/diff" || { grep '^[<>]' "$work/diff" | head -20; bad=1; }
diff "$work/old.sums" "$work/new.sums" >"$work/diff" || { echo "$(grep -c '^<' "$work/diff") of $(wc -l <"$work/old.sums") results in the cache differ"; bad=1; }
[ $bad = 0 ] || exit 1
echo "$(wc -l <"$work/new.said") programs, of which $(grep -c 'status 0' "$work/new.said") are compiled: $(wc -l <"$work/new.sums") results, and the same bytes"
