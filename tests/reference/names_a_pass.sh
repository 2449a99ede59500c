#!/usr/bin/env bash
# A pass that computes something else, or promises bounds or places that do not hold, must be named.
set -u
case='tests/exec/control.tile | Branches(steps=7) | | n=100 mode=5 a_ptr=100 b_ptr=100'
out=$(BREAK_AFTER=promote BREAK='s/ add %/ sub %/' tests/reference/check "$case" 2>&1) && { echo "a wrong pass went unseen"; exit 1; }
grep -q '\.promote\.ir: b_ptr\[0\] is' <<<"$out" || { echo "$out"; exit 1; }
out=$(BREAK_AFTER=bounds BREAK='s/bounds = \[[0-9]\]/bounds = [0]/' tests/reference/check "$case" 2>&1) && { echo "wrong bounds went unseen"; exit 1; }
grep -q '\.bounds\.ir: it cannot be run' <<<"$out" || { echo "$out"; exit 1; }
grep -q '{bounds} promises what does not hold' <<<"$out" || { echo "$out"; exit 1; }
# Where the tile is swizzled, rows 4 to 11 are so otherwise than rows 0 to 7; the verifier does not know where a part begins whose offset the call gives.
case='tests/exec/register_parts.tile | Parts(float32, 16, 8, 1, 8, 8, 0, 0) | | x_ptr=128 y_ptr=128 z_ptr=64 s_ptr=128 row=1'
out=$(BREAK_AFTER=infer_layout BREAK='s/\(%s = shared_alloc .*\)#l[0-9]*>/\1{shape [16, 8] block [16, 8] reg [[0,1],[0,2],[0,4],[1,0],[2,0],[4,4],[8,0]]}>/; s/\(%src = shared_view .*\), watched = 1}\(.*\)#l[0-9]*>/\1, aligned = 1, watched = 1}\2{shape [8, 8] block [8, 8] reg [[0,1],[0,2],[0,4],[1,0],[2,0],[4,4]]}>/' tests/reference/check "$case" 2>&1) && { echo "a part that lies elsewhere went unseen"; exit 1; }
grep -q '\.infer_layout\.ir: it cannot be run' <<<"$out" || { echo "$out"; exit 1; }
grep -q '{aligned} promises what does not hold' <<<"$out" || { echo "$out"; exit 1; }
# Copies joined from the other arm's place; each of the two tiles that one became where the other one belongs.
case=$(grep '| either |' tests/reference/cases)
out=$(BREAK_AFTER=join_reads BREAK='s/\(= select %[^,]*\), \(%[^,]*\), \(%[^ ]*\)/\1, \3, \2/' tests/reference/check "$case" 2>&1) && { echo "copies of the other arm went unseen"; exit 1; }
grep -q '\.join_reads\.ir: Out\[0\] is' <<<"$out" || { echo "$out"; exit 1; }
case=$(grep '| gradients |' tests/reference/cases | sed 's/128/192/g; s/=2x64/=3x64/')
for tiles in 'd\.1 :/d :' 'd :/d.1 :'; do
    out=$(BREAK_AFTER=split_tiles BREAK="s/shared_load %${tiles%/*}/shared_load %${tiles#*/}/" tests/reference/check "$case" 2>&1) && { echo "another tile went unseen"; exit 1; }
    grep -q '\.split_tiles\.ir: ' <<<"$out" || { echo "$out"; exit 1; }
done
# What it does not know it says, and that a loop waits for a block which comes later.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
refuses() { # FILE WHY
    out=$("$INTERPRET" "$folder" X '' "$1" 2>&1)
    [ $? -eq 2 ] && grep -q "$2" <<<"$out" || { echo "$out"; exit 1; }
}
refuses tests/reference/refused.ir 'this op is not interpreted'
refuses tests/reference/endless.ir 'the loop has too many rounds'
