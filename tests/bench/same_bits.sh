#!/usr/bin/env bash
# same_bits.sh PROGRAM: PROGRAM is tests/numerics/check.c with code for the GPU and the emulator. Each function is within its bound
# on the GPU, and its results are the emulator's, bit for bit.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TILE_DEVICE=emulator "$1" --digest >"$work/emulator"
TILE_DEVICE=${TILE_DEVICE:-cuda} "$1" --digest >"$work/gpu"
diff "$work/emulator" "$work/gpu"
echo "$(wc -l <"$work/gpu") functions and formats: the same bits"
