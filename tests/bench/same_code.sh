#!/usr/bin/env bash
# same_code.sh OLD NEW [NAME.accept...]: two tilec programs make the same code, byte for byte, of the programs of tests/exec (and of
# samples/ and bench/kernels, where they build as they stand). OLD and NEW are programs; each kernel is compiled to PTX of sm_90a and
# sm_80 and to the emulator's object code. What the caches of the two hold is compared without the names of entries, which go by the
# compiler itself.
set -eu
cd "$(dirname "$0")/../.."
old=$1 new=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- tests/exec/*.accept

lines() { grep -vE '^(from:|#|$)' "$1"; }
make_all() { # PROGRAM FOLDER
    local accept line source
    export TILEC_CACHE=$2
    for accept in "${@:3}"; do
        source=${accept%.accept}.tile
        [ -e "$source" ] || source=${accept%.accept}.py
        lines "$accept" | while IFS= read -r line; do
            "$1" run --ptxas=none --fast-emulator --device emulator --arch=sm_90a,sm_80,emulator:sm_90a "$source" "$line" >/dev/null 2>&1 </dev/null || true
        done
    done
    for source in samples/*/*.tile tests/bench/kernels/*; do
        "$1" "$source" --ptxas=none --arch=sm_90a,sm_80,emulator:sm_90a -o "$work/object.o" >/dev/null 2>&1 </dev/null || true
    done
}
# Of each entry the bytes behind its head: magic, key, length and hash (compiler/codegen/cache.c).
bodies() { find "$1" -type f | while IFS= read -r entry; do tail -c +"$((16 + 32 + 8 + 32 + 1))" "$entry" | sha256sum; done | sort; }

make_all "$old" "$work/old" "$@" &
make_all "$new" "$work/new" "$@"
wait
bodies "$work/old" >"$work/old.sums"
bodies "$work/new" >"$work/new.sums"
[ -s "$work/old.sums" ] || { echo "nothing was compiled"; exit 1; }
diff "$work/old.sums" "$work/new.sums" >"$work/diff" || { echo "$(grep -c '^<' "$work/diff") of $(wc -l <"$work/old.sums") differ"; exit 1; }
echo "$(wc -l <"$work/new.sums") results: the same bytes"
