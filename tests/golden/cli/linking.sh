# How programs link kernels: only those that they call, as they like (PIE or not, static, LTO), and in plug-ins, whose libtile is
# their own and seen by nobody.
cd "$TMP" || exit
sed 's/^add_one = .*//' "$TILE_ROOT/samples/add_one/add_one.tile" > two.tile
printf 'add_one = AddOne(128, 4)\nadd_more = AddOne(256, 4)\n' >> two.tile
"$TILEC" two.tile --arch=sm_80,emulator --ptxas=none -o two.o -H two.h || exit
cat > main.c <<'END'
#include "two.h"
#include <stdio.h>
#include <stdlib.h>
int run(void)
{
    float host[4] = {1, 2, 3, 4};
    void *x, *y;
    tile_set_device("emulator");
    tile_status status = tile_alloc(&x, sizeof host);
    if (!status) status = tile_alloc(&y, sizeof host);
    if (!status) status = tile_copy_in(x, host, sizeof host, NULL);
    if (!status) status = add_one(NULL, 4, x, y);
    if (!status) status = tile_copy_out(host, y, sizeof host, NULL);
    printf("%g %g%s\n", host[0], host[3], tile_last_error());
    return status;
}
#ifndef PLUGIN
int main(void) { return run(); }
#endif
END
cat > host.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names)
{
    for (int i = 1; i < count; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
        int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : NULL;
        if (!run) return puts(dlerror()), 1;
        if (run()) return 1;
        printf("%s: libtile is %s\n", names[i], dlsym(library, "tile_launch") ? "seen" : "its own");
    }
    return 0;
}
END
flags="-O1 -I$TILE_ROOT/runtime/include -I." libraries="$TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lm -lpthread -ldl"
try() { # NAME FLAG...: what the program prints
    local name=$1
    shift
    # shellcheck disable=SC2086 # lists of words
    $TILE_CC $flags "$@" main.c two.o $libraries -o "$name" 2> said || { cat said; return; }
    echo "$name: $(./"$name" 2>&1)"
}
try position-independent -fPIE -pie
try fixed -fno-pie -no-pie
try sections -Wl,--gc-sections
for name in position-independent sections; do
    nm "$name" | grep -c add_more
    readelf -SW "$name" | grep -c two
done
echo "smaller by 10000 bytes: $(($(stat -c %s position-independent) - $(stat -c %s sections) > 10000))"
case $TILE_CC in gcc) ;; *) echo "not with $TILE_CC"; exit 77 ;; esac
try lto -flto
try static -static
file=$(readelf -d static | grep -c NEEDED); echo "static needs $file libraries"
for name in one two; do
    # shellcheck disable=SC2086
    $TILE_CC $flags -DPLUGIN -fPIC -shared main.c two.o $libraries -o $name.so
done
nm -D --defined-only one.so | awk '{ print $3 }' | grep -v '^_'
$TILE_CC host.c -ldl -o host && ./host ./one.so ./two.so
