# Objects are made for Linux on x86_64 and aarch64. Another host is refused, whichever way its triple is written.
cd $TMP
cp $TILE_ROOT/samples/add_one/add_one.tile .
for host in x86_64-w64-mingw32 x86_64-pc-windows-msvc x86_64-apple-darwin arm64-apple-macos x86_64-freebsd x86_64-foo x86_64-linux-gnux32 \
    aarch64-linux-gnu_ilp32 aarch64_be-linux-gnu i686-linux-gnu sparc ''; do
    $TILEC add_one.tile --arch=compute_80 --host="$host" -o refused.o 2>&1 | grep error
    [ ! -e refused.o ] || echo "refused.o was written"
done
for host in x86_64 x86_64-linux-gnu x86_64-pc-linux-gnu x86_64-linux-musl aarch64 arm64 aarch64-linux-gnu aarch64-unknown-linux-android; do
    $TILEC add_one.tile --arch=compute_80 --host="$host" -o x.o && $TILEC info x.o | sed -n '1s/x.o, for //p'
done
