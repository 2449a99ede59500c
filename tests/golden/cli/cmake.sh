# find_package(tilec) of what was installed: libraries of kernels by Make and Ninja, what makes them be built anew, shared and static
# libtile, another machine's objects, and mistakes.
needs cmake
needs ninja
make -s -C "$TILE_ROOT" BUILD="$TILE_BUILD" DESTDIR="$TMP/root" PREFIX=/opt/tile -o build install > /dev/null || exit
cd "$TMP" || exit
cp -r "$TILE_ROOT/samples/cmake" project
rm project/Makefile
flags=(-DCMAKE_PREFIX_PATH="$TMP/root/opt/tile" -DCMAKE_C_COMPILER="${TILE_CC%% *}" --log-level=WARNING)
[ "$TILE_CC" = "${TILE_CC#* }" ] || flags+=(-DCMAKE_C_FLAGS="${TILE_CC#* }")
configure() { cmake -S project -B "$@" "${flags[@]}" > said 2>&1 || { sed -n '/CMake Error/,/^Call Stack/p' said | grep '^  ' | sed "s|$TMP|TMP|"; return 1; }; }
built() { cmake --build "$1" 2>&1 | grep -E -o 'Compiling.*|error:.*|no work to do'; }
for generator in "Unix Makefiles" Ninja; do
    echo "== $generator"
    configure build -G "$generator" || continue
    built build
    build/saxpy
    built build
    touch project/shared/sizes.py
    built build
    ctest --test-dir build 2>&1 | grep -o '[0-9]*% tests passed.*'
    readelf -d build/saxpy | grep -o 'libtile.*so.0' | sort
    rm -r build
done
echo '== static'
configure build -DBUILD_SHARED_LIBS=OFF && cmake --build build > said 2>&1 && build/saxpy && readelf -d build/saxpy | grep -c libtile
echo '== another machine'
cat > project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
set(CMAKE_C_COMPILER_WORKS TRUE)
project(saxpy LANGUAGES C)
find_package(tilec 0.1 REQUIRED)
tilec_add_library(kernels SOURCES saxpy.tile IMPORT_DIRECTORIES shared EXPORT "saxpy = Saxpy().compile(block=256)" ${MORE})
END
rm -r build
PATH=$TMP/root/opt/tile/bin:$PATH configure build -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DTILEC_ARCHS=compute_80 && built build
$TILEC info build/kernels.tile/saxpy.o | head -n 1 | sed 's/.*, for //'
rm -r build
configure build -DCMAKE_CUDA_ARCHITECTURES='80-real;90;80-virtual' && cmake --build build > said 2>&1
grep -o 'built for.*' build/kernels.tile/saxpy.h
echo '== mistakes'
for more in 'RUNTIME;FAST' 'SOURCES;saxpy.tile;other.tile'; do rm -rf build; configure build -DMORE="$more"; done
sed -i 's/SOURCES saxpy/saxpy/' project/CMakeLists.txt; rm -rf build; configure build
sed -i 's/kernels saxpy.tile IMPORT/kernels IMPORT/' project/CMakeLists.txt; rm -rf build; configure build
rm root/opt/tile/bin/tilec; rm -rf build; PATH=/usr/bin:/bin configure build
sed -i 's/tilec 0.1/tilec 0.2/' project/CMakeLists.txt; rm -rf build; configure build
true
