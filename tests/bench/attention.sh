#!/usr/bin/env bash
# attention.sh FOLDER [BUILD]: builds FOLDER/libattention.so of tests/exec/attention.tile for the shapes that attention.py measures on a
# GPU, beside cuDNN's: `python3 tests/bench/attention.py FOLDER`.
set -eu
cd "$(dirname "$0")/../.."
folder=$1 build=${2:-build}
mkdir -p "$folder"
{
    cat tests/exec/attention.tile
    cat <<'END'


def of(batch, heads, rows, dim):
    return [T.Tensor((batch, heads, rows, dim), T.float16)] * 3


for causal in (False, True):
    attention.compile(*of(1, 16, 16384, 128), causal=causal)
    attention.compile(*of(4, 16, 4096, 128), causal=causal)
    attention.compile(*of(16, 16, 1024, 128), causal=causal)
    attention.compile(*of(4, 16, 4096, 64), causal=causal)
    attention.compile(*of(2, 3, 1000, 128), causal=causal)
attention.compile(*of(4, 16, 4096, 128), block_M=64, block_N=64, threads=128)
END
} > "$folder/attention.tile"
"$build/tilec" "$folder/attention.tile" --arch=sm_90a -o "$folder/attention.o" -H "$folder/attention.h"
gcc -shared -fPIC -o "$folder/libattention.so" "$folder/attention.o" -Wl,--whole-archive "$build/exported/libtile.a" -Wl,--no-whole-archive -ldl -lpthread -Wl,-Bsymbolic
