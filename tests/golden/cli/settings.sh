# Settings of the environment that mean nothing, or cannot be followed, are told: by the first launch, and in a program by the log.
cd $TMP
cp $TILE_ROOT/samples/add_one/add_one.tile .
launch() { $TILEC run add_one.tile 'a = arange(4, float32); b = zeros(4, float32); add_one(4, a, b); print(b)' 2>&1 | grep -v '^ '; }
export TILE_DEVICE=emulator
for value in on file off first '' foo ON; do echo "== TILE_TUNE=$value"; TILE_TUNE=$value launch; done
echo '== TILE_EMULATOR=foo'; TILE_EMULATOR=foo launch
echo '== TILE_DEVICE=foo'; TILE_DEVICE=foo launch
echo '== TILE_RECORD'; TILE_RECORD=/proc/none/such launch; TILE_RECORD=/dev/full launch; mkdir folder; TILE_RECORD=folder launch
$TILEC add_one.tile --arch=emulator -o add_one.o -H add_one.h
cat > main.c <<'END'
#include "add_one.h"
#include <stdio.h>
static void say(const char *text, void *context) { printf("%s: %s\n", (const char *)context, text); }
int main(void)
{
    float *a;
    tile_set_log(say, "the log");
    tile_alloc((void **)&a, 512);
    tile_copy_in(a, (float[128]){1}, 512, NULL);
    for (int i = 0; i < 2; i++) printf("%s %s\n", tile_status_name(add_one(NULL, 128, a, a)), tile_last_error());
    tile_free(a);
    return 0;
}
END
$TILE_CC -I$TILE_ROOT/runtime/include -I. main.c add_one.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -o main -ldl -lpthread -lm
TILE_RECORD=/proc/none/such ./main; TILE_TUNE=foo ./main
