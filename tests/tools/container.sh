#!/usr/bin/env bash
# container.sh FOLDER: by hand, as root: what packaging/Containerfile says, where there is no docker: its RUN steps in the smallest
# Debian 12, which fresh_root.sh makes in the folder, with the package that `make deb` wrote. Then add_one is compiled there and run, by
# hand and as CMake does it.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
root=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
make -s -C "$here" deb
"$here/tests/tools/fresh_root.sh" "$root" true
cp "$here"/build/package/tilec_*.deb "$root/tmp/"
# RUN and what its lines go on with; nothing else of the file does something in a folder.
steps=$(awk '/^RUN / { inside = 1; sub(/^RUN /, "") } inside { line = $0; more = sub(/\\$/, "", line); printf "%s ", line; if (!more) { inside = 0; print "" } }' \
    "$here/packaging/Containerfile")
inside() { setsid env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TILE_DEVICE=emulator chroot "$root" bash -ec "$1" </dev/null; }
inside "$steps" >"$root.steps.log" 2>&1 || { tail -n 20 "$root.steps.log"; exit 1; }
cp -r "$here/samples" "$root/work"
inside 'tilec --version
cd /work/add_one && tilec add_one.tile --arch=emulator -o add_one.o -H add_one.h
cc main.c add_one.o $(pkg-config --cflags --libs libtile_emulator libtile) -o add_one && ./add_one
cd /work/cmake && cmake -G Ninja -B build . >/dev/null && cmake --build build >/dev/null && ls build'
