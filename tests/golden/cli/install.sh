# What `make install` puts down is enough: a sample is built from it with pkg-config and with tile.mk, outside the tree, and runs.
set -e
make -s -C $TILE_ROOT BUILD=$TILE_BUILD DESTDIR=$TMP/root PREFIX=/opt/tile -o build install > /dev/null
cd $TMP
find root -type f -o -type l | sort | sed 's/^root//'
sample() { mkdir $1; cp $TILE_ROOT/samples/add_one/add_one.tile $TILE_ROOT/samples/add_one/main.c $1; cd $1; }
export PKG_CONFIG_LIBDIR=$TMP/root/opt/tile/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$TMP/root
pkg-config --modversion libtile; $TMP/root/opt/tile/bin/tilec --version
flags=$(pkg-config --cflags libtile)
(sample shared
echo "== pkg-config, shared"
$TMP/root/opt/tile/bin/tilec add_one.tile --arch=sm_80,emulator --ptxas=none -o add_one.o -H add_one.h
$TILE_CC $flags -c main.c -o main.o
$TILE_CC -o app main.o add_one.o $(pkg-config --libs libtile_emulator)
LD_LIBRARY_PATH=$TMP/root/opt/tile/lib ./app
readelf -d app | grep -o 'libtile.so.0')
(cd shared
echo "== pkg-config, static"
rm -rf $TMP/root/only; mkdir $TMP/root/only; cp $TMP/root/opt/tile/lib/*.a $TMP/root/only
$TILE_CC -o static main.o add_one.o -L$TMP/root/only $(pkg-config --libs --static libtile_emulator | sed "s| -L[^ ]*||; s|^-L[^ ]*||")
rm -r $TMP/root/only
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
echo "== ldconfig where the linker looks in PREFIX/lib"
cat > ldconfig <<END
#!/bin/sh
[ \$# = 0 ] && echo called >> $TMP/called || echo "$TMP/known/lib: (from here)"
END
chmod +x ldconfig
install() { make -s -C $TILE_ROOT BUILD=$TILE_BUILD -o build LDCONFIG=$TMP/ldconfig install "$@" > /dev/null; cat called 2> /dev/null || true; rm -f called; }
install PREFIX=$TMP/unknown; install PREFIX=$TMP/known DESTDIR=$TMP/other
[ "$(id -u)" = 0 ] && install PREFIX=$TMP/known || echo called
