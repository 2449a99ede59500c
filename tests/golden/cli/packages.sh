# The archive is used where it is unpacked; the same bytes twice; the package for Debian has what it should, and no names of who made it.
cd "$TMP" || exit
make_package() { make -s -C "$TILE_ROOT" BUILD="$TILE_BUILD" PACKAGE="$TMP/$1" SOURCE_DATE_EPOCH=1000000000 DEB_COMPRESSION=none GZIP_LEVEL=-1 -o build "${@:2}" 2>&1 | grep -E 'Error |(error|warning):'; }
make_package package tarball
(umask 077; TZ=Asia/Kolkata make_package again tarball)
cmp package/*.tar.gz again/*.tar.gz && echo "the same twice"
mkdir here
tar -C here -xzf package/*.tar.gz
root=$(echo here/*)
basename "$root" | sed 's/-[a-z0-9_]*$/-MACHINE/'
(cd "$root" && ls . lib bin)
tar -tvzf package/*.tar.gz | awk '{ print $1, $2, $4, $5 }' | sort | uniq -c | sed 's/^ *[0-9]* //' | sort -u
export PKG_CONFIG_LIBDIR=$root/lib/pkgconfig
cp "$TILE_ROOT"/samples/add_one/add_one.tile "$TILE_ROOT"/samples/add_one/main.c .
"$root/bin/tilec" add_one.tile --arch=emulator -o add_one.o -H add_one.h
# shellcheck disable=SC2046
$TILE_CC $(pkg-config --cflags libtile) -o app main.c add_one.o $(pkg-config --libs libtile_emulator) && LD_LIBRARY_PATH=$root/lib ./app
command -v dpkg-deb > /dev/null || { echo "there is no dpkg-deb"; exit 77; }
make_package package deb
dpkg-deb -I package/*.deb | grep -E '^ (Package|Section|Depends|Recommends)' | sed 's/2\.[0-9]*/2.N/'
dpkg-deb -c package/*.deb | awk '{ print $2 }' | sort -u
dpkg-deb -c package/*.deb | awk '{ print $6 }' | sed 's|^./||' | grep -vE '/$|^$|share/man|share/tile/editors' | sort
dpkg-deb -c package/*.deb | grep -c 'man1/tilec.1.gz'
