#!/usr/bin/env bash
# tensor_parallel.sh OUT [FOLDER]: what FOLDER (build/tp) has, where several GPUs are: the sample tensor_parallel, built by
#     make -C samples/tensor_parallel TILE_BUILD=../../build TILE_OUT=../../build/tp all
# and programs.sh's two_gpus, if it is there. First small layers, whose results are compared with double precision on the CPU, then ranks
# that fail, then times. With one GPU two ranks share it and sum in memory. Each step has a limit; all of them take BUDGET seconds
# (180) at most. OUT gets log.txt, table.md and lines of JSON.
# shellcheck disable=SC2086 # $mode is a list of words
set -u
out=$1 folder=${2:-build/tp}
program=$folder/tensor_parallel
mkdir -p "$out"
exec > >(tee "$out/log.txt") 2>&1
failures=0 begin=$SECONDS mode=

# Multicast is left off: a program that dies while it uses it can take the switch with it.
export NCCL_NVLS_ENABLE=0 NCCL_DEBUG=${NCCL_DEBUG:-WARN}
wheel=$(python3 -c 'from importlib.util import find_spec as f; print(f("nvidia.nccl").submodule_search_locations[0])' 2>/dev/null)
[ -n "${NCCL_LIBRARY:-}" ] || [ ! -e "$wheel/lib/libnccl.so.2" ] || export NCCL_LIBRARY=$wheel/lib/libnccl.so.2

# step WANTED-STATUS SECONDS NAME COMMAND...
step() {
    local wanted=$1 limit=$2 name=$3 status from=$SECONDS
    shift 3
    if [ $((SECONDS - begin + limit)) -gt "${BUDGET:-180}" ]; then limit=$((${BUDGET:-180} - SECONDS + begin)); fi
    echo "== $name"
    if [ "$limit" -lt 5 ]; then echo "-- no time is left"; failures=$((failures + 1)); return 1; fi
    timeout -k 5 "$limit" "$@"
    status=$?
    echo "-- status $status, $((SECONDS - from)) s"
    [ "$status" = "$wanted" ] && return
    echo "-- FAIL: $wanted was expected"
    failures=$((failures + 1))
    return 1
}

# measure NAME ARGUMENTS...: rows go into the table.
measure() {
    local name=$1
    shift
    echo "$name" >> "$out/table.md"
    step 0 "${LIMIT:-80}" "$name" bash -o pipefail -c '"$@" | tee -a "$0"' "$out/table.md" "$program" --json "$out/${name// /-}.json" "$@"
}

gpus=$(nvidia-smi -L 2>/dev/null | grep -c GPU)
nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv
nvidia-smi topo -m | head -6
echo "NCCL: ${NCCL_LIBRARY:-of the system}"
rm -f "$out/table.md"

step 0 30 "one GPU, small" "$program" --small --gpus 1 --rounds 3
if [ "$gpus" -lt 2 ]; then
    step 0 30 "NCCL with one rank, small" "$program" --small --gpus 1 --always --rounds 3
    step 0 30 "two ranks on a GPU, small" "$program" --small --gpus 2 --loop-back --rounds 3
    step 3 30 "a rank that fails" "$program" --small --parts mlp --gpus 2 --loop-back --fail 1
    measure "one GPU" --gpus 1 --chunks 1,4,8
else
    all=2
    for ((n = 4; n <= gpus; n *= 2)); do all+=,$n; done
    # where a graph cannot have NCCL's work it is launched piece by piece
    step 0 45 "$gpus GPUs, small" "$program" --small --gpus "$all" --chunks 1,2,4 --rounds 3 || mode=--eager
    step 3 30 "a rank that fails" "$program" --small --parts mlp --gpus 2 --fail 1
    step 4 30 "a rank that does not come back" "$program" --small --parts mlp --gpus 2 --stall 1 --limit 8
    measure "all" $mode --gpus "$all" --chunks 1,2,4
    LIMIT=30 measure "one lane" $mode --parts mlp,layer --gpus 2 --chunks 4 --lanes 1 --rounds 5
    export NCCL_MAX_CTAS=16
    LIMIT=30 measure "16 blocks of NCCL" $mode --parts mlp,layer --gpus 2 --chunks 2,4 --rounds 5
    [ ! -e "$folder/two_gpus" ] || step 0 40 "libtile on two GPUs" "$folder/two_gpus"
fi
echo "$failures failures, $((SECONDS - begin)) s"
[ "$failures" = 0 ]
