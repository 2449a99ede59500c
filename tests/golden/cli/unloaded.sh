# A plug-in with a libtile of its own that is loaded and unloaded leaves nothing behind: no counts of its last launch, no lines recorded.
needs leaks
cd $TMP
$TILEC $TILE_ROOT/samples/add_one/add_one.tile --arch=emulator -o add_one.o -H add_one.h
cat > plugin.c <<'END'
#include "add_one.h"
tile_status call(void);
tile_status call(void)
{
    float *a = NULL;
    tile_status status = tile_set_device("emulator");
    if (!status) status = tile_alloc((void **)&a, 512);
    if (!status) status = tile_copy_in(a, (float[128]){1}, 512, NULL);
    if (!status) status = add_one(NULL, 128, a, a);
    tile_free(a);
    return status;
}
END
cat > main.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 5; i++) {
        void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
        int (*call)(void) = plugin ? (int (*)(void))dlsym(plugin, "call") : NULL;
        if (!call || call() || dlclose(plugin) || dlopen("./plugin.so", RTLD_NOLOAD | RTLD_NOW)) return 2;
    }
    puts("five times");
    return 0;
}
END
$TILE_CC -shared -fPIC -I$TILE_ROOT/runtime/include -I. plugin.c add_one.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -o plugin.so -ldl -lpthread -lm &&
$TILE_CC -fsanitize=leak main.c -o main -ldl && TILE_RECORD=$TMP/asked.txt ./main && sort asked.txt | uniq -c
