#!/usr/bin/env bash
# add_one_of_each.sh [FOLDER]: a copy of the tree gets one of each by edits.sh (which are the recipes of HACKING.md), is built, and each
# that was added is tried. FOLDER, if given, keeps the copy; else it goes. Ends with a line for what failed, and status 1.
set -u
cd "$(dirname "$0")/../.."
edits=$PWD/tests/house/edits.sh tree=${1:-$(mktemp -d)}
[ -n "${1:-}" ] || trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"
for path in compiler grammar runtime stdlib man Makefile tests/reference tests/golden/passes; do
    mkdir -p "$tree/$(dirname $path)" && cp -Rp $path "$tree/$(dirname $path)"
done
# The recipes name each file that the edits touch.
for file in $(sed -nE 's/^(behind|before) ([^ ]+) .*/\2/p; s/.*>>?(compiler[^ ]*) <<.*/\1/p' "$edits" | sort -u); do
    grep -qF "$(basename "$file")" HACKING.md || [[ $file == *count_dots* ]] || { echo "HACKING.md does not name $file"; exit 1; }
done
bash "$edits" "$tree" || exit 1
# Without optimisation, as it is built for a few seconds of use.
make -s -j2 -C "$tree" BUILD=build OPT=-O0 SANITIZE= Q=@ build/tilec build/reference/interpret >"$tree/log" 2>&1 || { tail -n 20 "$tree/log"; exit 1; }

bash "$PWD/tests/house/try.sh" "$tree"
