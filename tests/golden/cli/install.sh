# What `make install` puts down is enough: a sample is built from it with pkg-config and with tile.mk, outside the tree, and runs.
set -e
make -s -C $TILE_ROOT BUILD=$TILE_BUILD DESTDIR=$TMP/root PREFIX=/opt/tile -o build install > /dev/null
cd $TMP
find root -type f -o -type l | sort | sed 's/^root//'
sample() { mkdir $1; cp $TILE_ROOT/samples/add_one/add_one.tile $TILE_ROOT/samples/add_one/main.c $1; cd $1; }
export PKG_CONFIG_LIBDIR=$TMP/root/opt/tile/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TMP/root
pkg-config --modversion libtile; $TMP/root/opt/tile/bin/tilec --version
flags=$(pkg-config --cflags libtile) libs=$(pkg-config --libs libtile) static=$(pkg-config --libs --static libtile)
(sample shared
echo "== pkg-config, shared"
$TMP/root/opt/tile/bin/tilec add_one.tile --arch=sm_80,emulator --ptxas=none -o add_one.o -H add_one.h
$TILE_CC $flags -c main.c -o main.o
$TILE_CC -o app main.o add_one.o -L$TMP/root/opt/tile/lib -ltile_emulator $libs -lm
LD_LIBRARY_PATH=$TMP/root/opt/tile/lib ./app
readelf -d app | grep -o 'libtile.so.0')
(cd shared
echo "== pkg-config, static"
$TILE_CC -o static main.o add_one.o -L$TMP/root/opt/tile/lib -Wl,-Bstatic -ltile_emulator $libs -Wl,-Bdynamic ${static#$libs} -lm
./static)
(sample makefile
echo "== tile.mk"
printf 'include %s\napp: main.o add_one.o\n\t$(CC) -o $@ $^ $(TILE_LIBS)\nmain.o: main.c add_one.h\n\t$(CC) $(TILE_CFLAGS) -c -o $@ $<\n' \
  $TMP/root/opt/tile/share/tile/tile.mk > Makefile
make -s CC="$TILE_CC" TILEFLAGS=--ptxas=none app 
LD_LIBRARY_PATH=$TMP/root/opt/tile/lib ./app
make -s CC="$TILE_CC" -q app && echo "nothing left to do"
touch add_one.tile; make -s CC="$TILE_CC" -q app || echo "a changed kernel is seen")
echo "== a folder with blanks in its name"
make -s -C $TILE_ROOT BUILD=$TILE_BUILD DESTDIR="$TMP/the root" -o build install > /dev/null
ls "the root/usr/local" "the root/usr/local/lib"
