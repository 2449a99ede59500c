#!/usr/bin/env bash
# gpu.sh OUT: checks and measures on a GPU; in an unpacked bundle (bundle.sh), or in the tree after
# tests/bench/programs.sh and `make samples`.
#
# Writes OUT/log.txt, OUT/results.json and OUT/summary.txt, whose text is also printed last. Nothing
# stops the run: each step has its time limit, all of them share GPU_BUDGET seconds (540), and what
# did not fit is called skipped. No setting of the GPU is touched. With TILE_DEVICE=emulator the
# checks run on the emulator, which is a rehearsal.
#
# CUBLAS_LIBRARY names cuBLAS; else it is looked for. Exit status 1 if a step failed.
set -u
export LC_ALL=C
out=${1:?usage: gpu.sh OUT}
mkdir -p "$out"
out=$(realpath "$out")
cd "$(dirname "$0")/../.." || exit
build=${BUILD:-build}
bench=$build/bench
export TILE_DEVICE=${TILE_DEVICE:-cuda}
gpu=$([ "$TILE_DEVICE" = emulator ] || echo yes)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$out/log.txt
: >"$log"
: >"$work/steps"
deadline=$((SECONDS + ${GPU_BUDGET:-540}))

# ---- steps ---------------------------------------------------------------------------------------

# limited LIMIT COMMAND...: within its limit and what is left; 124 out of time, 125 not even begun
limited() {
    local limit=$1 left=$((deadline - SECONDS)); shift
    [ "$left" -ge 5 ] || return 125
    timeout -k 5 "$((limit < left ? limit : left))" "$@"
}

verdict() { # STATUS
    case $1 in
        0) echo ok ;;
        124 | 137) echo "out of time" ;;
        125) echo skipped ;;
        *) echo "FAILED ($1)" ;;
    esac
}

note_step() { # NAME STATUS SECONDS
    printf '%s\t%s\t%s\n' "$1" "$(verdict "$2")" "$3" >>"$work/steps"
    printf '%-52s %-14s %5s s\n' "$1" "$(verdict "$2")" "$3"
}

# step NAME LIMIT COMMAND...: the output goes to the log
step() {
    local name=$1 limit=$2 begin=$EPOCHREALTIME status; shift 2
    printf '\n==== %s\n$ %s\n' "$name" "$*" >>"$log"
    limited "$limit" "$@" >"$work/output" 2>&1
    status=$?
    cat "$work/output" >>"$log"
    note_step "$name" $status "$(seconds_since "$begin")"
    return $status
}

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'; }

# ---- programs of the language: tests/exec, and a folder like it ----------------------------------

accept_line() { # NUMBER NAME SOURCE STATEMENTS
    local begin=$EPOCHREALTIME status
    limited 60 "$build/tilec" run "$3" "$4" >"$work/accept.$1.log" 2>&1
    status=$?
    printf '%s\t%s\t%s\n' "$2" $status "$(seconds_since "$begin")" >"$work/accept.$1.end"
}

# The milestones that count are those of tests/run; a file without a "from:" line always does.
counts() { # FILE.accept
    local milestones from
    from=$(sed -n 's/^from: //p' "$1")
    milestones=$(sed -n 's/^milestones="\([^"]*\)".*/\1/p' tests/run)
    [ -z "$from" ] || [[ ";$milestones;" == *";$from;"* ]]
}

# Each is a process with a CUDA context of its own: half the processors, from 2 to 8.
most_jobs=$(($(nproc) / 2))
most_jobs=$((most_jobs < 2 ? 2 : most_jobs > 8 ? 8 : most_jobs))

accept_folder() { # FOLDER: starts its lines, a few at a time
    local file source line number
    for file in "$1"/*.accept; do
        counts "$file" || continue
        for source in "${file%.accept}".{tile,py}; do
            [ ! -e "$source" ] || break
        done
        number=0
        while IFS= read -r line; do
            case $line in from:* | '#'* | '') continue ;; esac
            while [ "$(jobs -rp | wc -l)" -ge "$most_jobs" ]; do wait -n; done
            accepted=$((accepted + 1)) number=$((number + 1))
            accept_line $accepted "run $(basename "$source"): $number" "$source" "$line" &
        done <"$file"
    done
    wait
}

accept_results() {
    local number name status seconds
    for ((number = 1; number <= accepted; number++)); do
        IFS=$'\t' read -r name status seconds <"$work/accept.$number.end"
        printf '\n==== %s\n' "$name" >>"$log"
        cat "$work/accept.$number.log" >>"$log"
        note_step "$name" "$status" "$seconds"
    done
}

# ---- finding things ------------------------------------------------------------------------------

find_cublas() {
    local packages folder
    packages=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)
    for folder in "$packages/nvidia" /usr/local/cuda/lib64 /usr/local/cuda/targets; do
        [ -d "$folder" ] || continue
        find -L "$folder" -name 'libcublas.so.[0-9]*' 2>/dev/null | sort | head -n 1 | grep . &&
            return
    done
}

find_sanitizer() {
    local path
    for path in "$(command -v compute-sanitizer)" /usr/local/cuda/bin/compute-sanitizer \
        /usr/local/cuda/compute-sanitizer/compute-sanitizer /opt/nvidia/*/compute-sanitizer; do
        [ ! -f "$path" ] || [ ! -x "$path" ] || { echo "$path"; return; }
    done
}

gpu_query() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -n 1; }

# ---- the run -------------------------------------------------------------------------------------

environment() {
    uname -a
    grep -m 1 'model name' /proc/cpuinfo
    nproc
    gpu_query name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw
    "$build/tilec" --version
    echo "cuBLAS: ${CUBLAS_LIBRARY:-none}"
    echo "compute-sanitizer: ${sanitizer:-none}"
    echo "ptxas: $(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || echo none)"
}

sanitize() { # TOOL NAME LIMIT PROGRAM ARGUMENT...
    local tool=$1 name=$2 limit=$3; shift 3
    step "$tool $name" "$limit" "$sanitizer" --tool "$tool" --error-exitcode 9 "$@"
}

check_first() {
    step "add_one" 60 "$bench/add_one" --json "$work/add_one.json"
    step "matmul, small" 60 "$bench/matmul" --no-bench 1 384 256 16 384 256 65 384 256 100 384 256
}

# Early, on a GPU that nothing else uses, and before anything has a chance to hang.
measure() {
    local i
    step "matmul" 180 "$bench/matmul" --json "$work/matmul.json"
    sed -n '/^microseconds/,$p' "$work/output" >>"$work/tables"
    for i in 1 2 3; do
        step "launch, $i" 30 "$bench/launch"
        grep '^launch: .* ratio ' "$work/output" >>"$work/launch"
    done
    step "compile time" 60 tests/bench/compile_time.sh --json "$work/compile.json"
    { echo; cat "$work/output"; echo; cat "$work/launch"; } >>"$work/tables"
}

check_rest() {
    local sample
    for sample in "$build"/samples/*/; do
        sample=$(basename "$sample")
        step "sample $sample" 60 "$build/samples/$sample/$sample"
    done
    accepted=0
    accept_folder tests/exec
    [ ! -d "${TILEC_ACCEPT:-accept}" ] || accept_folder "${TILEC_ACCEPT:-accept}"
    accept_results
    step "the runtime's own test" 60 \
        env -u TILE_DEVICE LD_LIBRARY_PATH="$build/unit" "$build/unit/runtime_test"
}

# Under NVIDIA's checkers all is slow: small sizes.
sanitize_all() {
    [ -n "$sanitizer" ] || return
    sanitize memcheck add_one 60 "$bench/add_one"
    sanitize memcheck matmul 60 "$bench/matmul" --no-bench 65 384 256 1 384 256
    sanitize racecheck matmul 90 "$bench/matmul" --no-bench 65 384 256
    sanitize racecheck add_one 60 "$bench/add_one"
    sanitize synccheck matmul 60 "$bench/matmul" --no-bench 65 384 256
    sanitize memcheck "sample matmul" 60 "$build/samples/matmul/matmul"
    sanitize racecheck "sample matmul" 60 "$build/samples/matmul/matmul"
}

# ---- results -------------------------------------------------------------------------------------

field() { # START TEXT
    printf '%s": "%s",\n' "$1" "$(printf %s "$2" | sed 's/\\/\\\\/g; s/"/\\"/g' | tr -d '\n\t')"
}

launch_json() { # launch: NAME X ns, bare cuLaunchKernelEx Y ns, ratio Z
    local number='([0-9.]+)'
    sed -E "s/^launch: (.*) $number ns, bare cuLaunchKernelEx $number ns, ratio $number\$/\
{\"entry\": \"\1\", \"ns\": \2, \"bare_ns\": \3, \"ratio\": \4}/" "$work/launch" 2>/dev/null |
        paste -sd, -
}

steps_json() {
    awk -F'\t' '{
            separator = NR > 1 ? "," : ""
            printf "%s\n  {\"step\": \"%s\", \"result\": \"%s\", ", separator, $1, $2
            printf "\"seconds\": %s}", $3
        }' "$work/steps"
}

file_json() { if [ -s "$1" ]; then cat "$1"; else echo null; fi; }

write_results() {
    field '{"date' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    field ' "gpu' "$(gpu_query name)"
    field ' "driver' "$(gpu_query driver_version)"
    field ' "state' "$(gpu_query clocks.sm,clocks.mem,temperature.gpu,power.draw)"
    field ' "tilec' "$("$build/tilec" --version 2>/dev/null)"
    field ' "cublas' "$CUBLAS_LIBRARY"
    printf ' "steps": [%s],\n "launch": [%s],\n' "$(steps_json)" "$(launch_json)"
    printf ' "compile": %s,\n' "$(file_json "$work/compile.json")"
    printf ' "add_one": %s,\n' "$(file_json "$work/add_one.json")"
    printf ' "matmul": %s}\n' "$(file_json "$work/matmul.json")"
}

write_summary() {
    local failed
    failed=$(cut -f 2 "$work/steps" | grep -vc '^ok$')
    echo
    [ "$failed" -eq 0 ] || failed_tails
    cat "$work/tables" 2>/dev/null
    echo
    awk -F'\t' '$2 != "ok" { printf "%-52s %-14s %5s s\n", $1, $2, $3 }' "$work/steps"
    echo "$(($(wc -l <"$work/steps") - failed)) steps ok, $failed not; log.txt has their output"
}

# The last lines that each failed step wrote; no more than a terminal holds.
failed_tails() {
    awk -F'\t' 'NR == FNR { if ($2 != "ok") bad[$1] = 1; next }
        /^==== / { name = substr($0, 6); next }
        name in bad { lines[name, ++counts[name]] = $0 }
        END {
            for (name in counts) {
                printf "%s\n", name
                for (i = counts[name] > 6 ? counts[name] - 5 : 1; i <= counts[name]; i++)
                    if (lines[name, i] != "")
                        printf "    %.160s\n", lines[name, i]
            }
        }' "$work/steps" "$log" | head -n 60
}

shopt -s nullglob
export CUBLAS_LIBRARY=${CUBLAS_LIBRARY:-$(find_cublas)}
# cuBLAS's companion lies beside it.
if [ -n "$CUBLAS_LIBRARY" ]; then
    LD_LIBRARY_PATH=$(dirname "$CUBLAS_LIBRARY")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
sanitizer=$(find_sanitizer)
environment >>"$log" 2>&1
check_first
if [ -n "$gpu" ]; then
    measure
    step "add_one from PTX" 60 "$bench/add_one_ptx"
    step "add_one, compute_80 alone" 60 "$bench/add_one_portable"
    step "matmul, compute_80 alone" 90 "$bench/matmul_portable" --no-bench 1 384 256 16 384 256 65 384 256 100 384 256
    step "numerics, the same bits" 120 tests/bench/same_bits.sh "$bench/numerics_check"
fi
check_rest
[ -z "$gpu" ] || sanitize_all
write_results >"$out/results.json"
write_summary >"$out/summary.txt"
cat "$out/summary.txt"
! cut -f 2 "$work/steps" | grep -qv '^ok$'
