#!/usr/bin/env bash
# bundle.sh: packs build/bundle.tar.gz: all that the measurements need on a machine that has a GPU
# and maybe nothing else. There:
#
#     tar xzf bundle.tar.gz && bundle/gpu.sh RESULTS
#
# The programs are built by programs.sh, whose variables choose other kernels. TILEC_ACCEPT names a
# folder of further programs with .accept files, as for tests/run.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
stage=$build/bundle
shopt -s nullglob
most_bytes=$((60 << 20))

tests/bench/programs.sh
for folder in samples/*/; do
    name=$(basename "$folder")
    env -u MAKEFLAGS make -s -C "$folder" TILE_BUILD="$(realpath --relative-to="$folder" "$build")" TILE_ARCH=sm_90a,sm_80,compute_80,emulator \
        TILE_OUT="$(realpath --relative-to="$folder" "$build")/samples/$name" all
done

rm -rf "$stage"
mkdir -p "$stage/build/unit"
cp -p "$build/tilec" "$build"/libtile*.a "$build/libtile.so" "$stage/build/"
cp -rp "$build/exported" "$stage/build/"
strip "$stage/build/tilec"
cp -rp "$build/bench" "$build/samples" "$stage/build/"
# The runtime's test and its pretended driver; cmocka travels along.
for file in runtime_test emulator_test libfake_cuda.so; do
    [ ! -e "$build/unit/$file" ] || cp -p "$build/unit/$file" "$stage/build/unit/"
done
[ ! -e "$build/unit/runtime_test" ] ||
    cp -L "$(ldd "$build/unit/runtime_test" | awk '/libcmocka/ { print $3 }')" "$stage/build/unit/"
mkdir -p "$stage/tests" "$stage/runtime"
cp -rp tests/bench tests/exec tests/run "$stage/tests/"
rm -rf "$stage/tests/bench/results"
cp -rp runtime/include "$stage/runtime/"
if [ -n "${TILEC_ACCEPT:-}" ]; then
    mkdir "$stage/accept"
    find "$TILEC_ACCEPT" -maxdepth 1 -type f -exec cp -p {} "$stage/accept/" \;
fi
cat >"$stage/gpu.sh" <<'END'
#!/bin/sh
exec "$(dirname "$0")/tests/bench/gpu.sh" "$@"
END
chmod +x "$stage/gpu.sh"

tar czf "$build/bundle.tar.gz.new" -C "$build" bundle
mv "$build/bundle.tar.gz.new" "$build/bundle.tar.gz"
bytes=$(stat -c %s "$build/bundle.tar.gz")
echo "$build/bundle.tar.gz: $((bytes >> 20)) MiB"
if [ "$bytes" -gt "$most_bytes" ]; then
    echo "bundle.sh: more than $((most_bytes >> 20)) MiB" >&2
    exit 1
fi
