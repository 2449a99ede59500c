#!/usr/bin/env bash
# compile_time.sh: how long tilec takes, from process start to end, without any cache of its own.
#
#     compile_time.sh [--runs N] [--json FILE] [SOURCE [TILEC OPTION]... [-- SOURCE ...]...]
#
# Each SOURCE is compiled for sm_90a to an object and a header, N times (11), each time by a new
# process; without one, the kernels of this folder. A row says what ptxas costs: the same source
# with PTX for the driver to compile. Runs of the rows are interleaved. BUILD is the build folder.
set -eu
export LC_ALL=C TILEC_CACHE=off
build=$(realpath "${BUILD:-$(dirname "$0")/../../build}")
kernels=$(realpath "$(dirname "$0")/kernels")
runs=11 json=
while :; do
    case ${1:-} in
        --runs) runs=$2; shift 2 ;;
        --json) json=$2; shift 2 ;;
        *) break ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

names=() commands=() # of the rows; a command is quoted for eval
add_row() { # NAME COMMAND...
    names+=("$1"); shift
    commands+=("$(printf '%q ' "$@")")
}
add_source() { # SOURCE OPTION...
    local output=(-o "$work/kernel.o" -H "$work/kernel.h" --arch=sm_90a)
    add_row "$(basename "$1")" "$build/tilec" "$@" "${output[@]}"
    add_row "$(basename "$1"), no ptxas" "$build/tilec" "$@" "${output[@]}" --ptxas=none
}

add_row "tilec --version" "$build/tilec" --version
if [ $# -eq 0 ]; then
    set -- "$kernels/add_one.tile" -- "$kernels/matmul.tile" \
        --export 'matmul = Matmul().compile(n_size=4096, k_size=4096)'
fi
group=()
for word in "$@" --; do
    if [ "$word" != -- ]; then group+=("$word"); continue; fi
    [ ${#group[@]} -eq 0 ] || add_source "${group[@]}"
    group=()
done

failed=0
run_row() { # INDEX: appends microseconds to its file
    local start=$EPOCHREALTIME end
    if ! eval "${commands[$1]}" >"$work/output" 2>&1; then
        echo "failed: ${commands[$1]}" >&2
        cat "$work/output" >&2
        return 1
    fi
    end=$EPOCHREALTIME
    echo $(((${end/[.,]/}) - (${start/[.,]/}))) >>"$work/times.$1"
}
for ((run = -1; run < runs; run++)); do # the first one fills the page cache, and does not count
    for index in "${!names[@]}"; do
        [ -e "$work/failed.$index" ] && continue
        run_row "$index" || { failed=1; touch "$work/failed.$index"; }
        [ $run -ge 0 ] || rm -f "$work/times.$index"
    done
done

least_median_most() { # INDEX: in milliseconds
    sort -n "$work/times.$1" 2>/dev/null | awk '{ t[NR] = $1 / 1000 }
        END {
            middle = (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2
            if (NR) printf "%.1f %.1f %.1f", t[1], middle, t[NR]
        }'
}
printf '%-32s %10s %10s %10s   ms, %d runs, load %s\n' row least median most "$runs" \
    "$(cut -d' ' -f1 /proc/loadavg)"
[ -z "$json" ] || echo '[' >"$json"
separator=
for index in "${!names[@]}"; do
    read -r least median most <<<"$(least_median_most "$index")"
    if [ -z "${median:-}" ]; then printf '%-32s failed\n' "${names[$index]}"; continue; fi
    printf '%-32s %10s %10s %10s\n' "${names[$index]}" "$least" "$median" "$most"
    [ -z "$json" ] || {
        printf '%s  {"row": "%s", "least_ms": %s, ' "$separator" "${names[$index]}" "$least"
        printf '"median_ms": %s, "most_ms": %s, "runs": %d}' "$median" "$most" "$runs"
    } >>"$json"
    separator=$',\n'
done
[ -z "$json" ] || printf '\n]\n' >>"$json"
exit $failed
