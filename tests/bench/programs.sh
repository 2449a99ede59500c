#!/usr/bin/env bash
# programs.sh: builds what is measured, and what measures it, into build/bench.
#
# Other kernels with the same arguments are measured in the same way:
#   ADD_SOURCE      file of add_one(n: i32, a: f32 pointer, b: f32 pointer)
#   ADD_EXPORTS     what tilec is to export, one 'add_one = EXPR' a line; empty: what the file does
#   MATMUL_SOURCE   file of matmul(m: i32, n: key, k: key, a, b, c: f16 pointers)
#   MATMUL_EXPORTS  one 'matmul = EXPR' a line; each size that is measured has to be among them
#   BENCH_ARCH      what to compile for (default sm_90a,sm_80,compute_80,emulator)
# BUILD is the build folder, CC the C compiler.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
out=$build/bench
arch=${BENCH_ARCH:-sm_90a,sm_80,compute_80,emulator}
cc=${CC:-gcc}
flags="-std=c11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror"
flags="$flags -Iruntime -Iruntime/include -Itests/bench"
libraries="$build/libtile_emulator.a $build/libtile.a -lm -lpthread -ldl"

add_source=${ADD_SOURCE:-tests/bench/kernels/add_one.tile}
matmul_source=${MATMUL_SOURCE:-tests/bench/kernels/matmul.tile}
# The two weights of the benchmark, and a small one for checkers, under which everything is slow.
matmul_exports=${MATMUL_EXPORTS:-"matmul = Matmul().compile(n_size=4096, k_size=4096)
matmul = Matmul().compile(n_size=12288, k_size=4096)
matmul = Matmul().compile(n_size=384, k_size=256)"}

# kernel FOLDER NAME SOURCE EXPORTS OPTION...: FOLDER/NAME.o and .h
kernel() {
    local folder=$1 name=$2 source=$3 exports=$4 line
    local options=("${@:5}")
    while IFS= read -r line; do
        [ -z "$line" ] || options+=(--export "$line")
    done <<<"$exports"
    mkdir -p "$folder"
    "$build/tilec" "$source" "${options[@]}" -o "$folder/$name.o" -H "$folder/$name.h"
}

# program NAME SOURCE FOLDER OBJECT...: $out/NAME, with the headers of FOLDER
program() {
    local name=$1 source=$2 folder=$3
    # shellcheck disable=SC2086 # lists of words
    $cc $flags -I"$folder" -o "$out/$name" "$source" "${@:4}" $libraries
}

mkdir -p "$out"
kernel "$out/kernels" add_one "$add_source" "${ADD_EXPORTS:-}" "--arch=$arch"
kernel "$out/kernels" matmul "$matmul_source" "$matmul_exports" "--arch=$arch"
kernel "$out/kernels" staged tests/bench/kernels/staged.tile "" "--arch=$arch"
# The same without an assembler: the driver compiles the PTX.
kernel "$out/ptx" add_one "$add_source" "${ADD_EXPORTS:-}" --arch=sm_90a,sm_80 --ptxas=none
# PTX of the lowest version for every GPU, and nothing else.
kernel "$out/portable" add_one "$add_source" "${ADD_EXPORTS:-}" --arch=compute_80
kernel "$out/portable" matmul "$matmul_source" "$matmul_exports" --arch=compute_80
# The functions of math.tile, to compare a GPU's bits with the emulator's.
kernel "$out/numerics" kernels tests/numerics/kernels.tile "" "--arch=${NUMERICS_ARCH:-compute_80,emulator}"

program add_one tests/bench/add_one.c "$out/kernels" tests/bench/bench.c "$out/kernels/add_one.o"
program add_one_ptx tests/bench/add_one.c "$out/ptx" tests/bench/bench.c "$out/ptx/add_one.o"
program add_one_portable tests/bench/add_one.c "$out/portable" tests/bench/bench.c "$out/portable/add_one.o"
program matmul_portable tests/bench/matmul.c "$out/portable" -O3 tests/bench/bench.c "$out/portable/matmul.o"
# shellcheck disable=SC2086 # lists of words
$cc -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -Iruntime/include -I"$out/numerics" -o "$out/numerics_check" \
    tests/numerics/check.c "$out/numerics/kernels.o" $libraries
program matmul tests/bench/matmul.c "$out/kernels" -O3 tests/bench/bench.c "$out/kernels/matmul.o"
program launch tests/bench/launch.c "$out/kernels" "$out/kernels/add_one.o"
program two_gpus tests/bench/two_gpus.c "$out/kernels" "$out/kernels/staged.o"
