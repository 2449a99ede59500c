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
echo '== tuned, of two sources'
cat > project/tuned.tile <<'END'
import tilus
from tilus import float32, int32


@tilus.autotune("block", [32, 64])
class Twice(tilus.Script):
    def __init__(self, block: int):
        super().__init__()
        self.block = block

    def __call__(self, n: int32, x_ptr: ~float32):
        self.attrs.blocks = n // self.block
        self.attrs.warps = 1
        x = self.global_view(x_ptr, dtype=float32, shape=[n])
        first: int32 = self.blockIdx.x * self.block
        self.store_global(x, self.load_global(x, offsets=[first], shape=[self.block]) * 2.0, offsets=[first])


twice = Twice()
END
sed 's/twice = /thrice = /; s/2\.0/3.0/; /autotune/d; s/Twice()/Twice(32)/' project/tuned.tile > project/fixed.tile
printf '#!/bin/sh\nfor last in "$@"; do [ "$before" = -o ] && echo cubin > "$last"; before=$last; done\n' > ptxas
chmod +x ptxas
export FAKE_CUDA_COSTS=run0_0=2,run0_1=1
TILE_DEVICE=cuda TILE_CUDA_LIBRARY=$TILE_BUILD/unit/libfake_cuda.so TILE_CACHE= \
    $TILEC tune project/tuned.tile --ptxas=./ptxas --arch=sm_90a --args 'Twice()(4096, zeros((4096,), float32))' -o project/tuned.json > said || cat said
echo 'tilec_add_library(more SOURCES tuned.tile fixed.tile TUNE tuned.json ARCHS compute_80)' >> project/CMakeLists.txt
rm -r build
configure build -DCMAKE_CUDA_ARCHITECTURES=80 && cmake --build build --target more > said 2>&1 || cat said
nm build/libmore.a | grep -E ' T (twice|thrice)$' | cut -d' ' -f3
sleep 0.02
touch project/tuned.json
cmake --build build --target more | grep -o 'Compiling.*' | sort
echo '== mistakes'
sed -i '/more/d' project/CMakeLists.txt
for more in 'RUNTIME;FAST' 'SOURCES;saxpy.tile;other.tile'; do rm -rf build; configure build -DMORE="$more"; done
sed -i 's/SOURCES saxpy/saxpy/' project/CMakeLists.txt; rm -rf build; configure build
sed -i 's/kernels saxpy.tile IMPORT/kernels IMPORT/' project/CMakeLists.txt; rm -rf build; configure build
rm root/opt/tile/bin/tilec; rm -rf build; PATH=/usr/bin:/bin configure build
sed -i 's/tilec 0.1/tilec 0.2/' project/CMakeLists.txt; rm -rf build; configure build
true
