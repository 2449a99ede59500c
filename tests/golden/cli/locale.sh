# A program with a locale whose numbers have commas, or whose letters go by other rules: what is compiled at run time, what is
# recorded and printed, and what the cache gets is what the C locale gives.
export LOCPATH=$TMP/locales TILE_DEVICE=emulator TILE_COMPILER=$TILE_BUILD/libtilec.so
mkdir $LOCPATH
cd $TMP
for locale in de_DE tr_TR; do
    localedef -i $locale -f UTF-8 $LOCPATH/$locale.UTF-8 > said 2>&1 || { echo "no localedef that makes $locale"; exit 77; }
done
cat > line.py <<'END'
import tilus
from tilus import float32, int32


def halves():
    for i in (0, 1):
        yield float(f"{i}.5") + float(f"{0.25:.2f}")


class Line(tilus.Script):
    def __init__(self, slope=1.5):
        super().__init__()
        self.slope = slope

    def __call__(self, n: int32, offset: float, title: str, x_ptr: ~float32, y_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        x = self.load_global(self.global_view(x_ptr, dtype=float32, shape=[n]), offsets=[0], shape=[32])
        y = x * self.slope + offset + sum(list(halves()))
        assert title.upper() != "WRONG", f"{offset} is no offset of {title}"
        self.printf("%.2f\n", offset)
        self.store_global(self.global_view(y_ptr, dtype=float32, shape=[n]), y, offsets=[0])
END
cat > main.c <<'END'
#include "line.h"
#include <locale.h>
#include <stdio.h>
int main(int count, char **words)
{
    float host[32];
    char text[64];
    void *x, *y;
    if (!setlocale(LC_ALL, words[1])) return puts("there is no such locale"), 1;
    snprintf(text, sizeof text, "%g", 1.5);
    if ((text[1] == ',') != (count > 2)) return puts("the locale's numbers are not what the test thinks"), 1;
    for (int i = 0; i < 32; i++) host[i] = (float)i;
    tile_alloc(&x, sizeof host), tile_alloc(&y, sizeof host), tile_copy_in(x, host, sizeof host, NULL);
    const char *titles[] = {"title", "wrong"};
    for (int i = 0; i < 2; i++)
        if (line(NULL, 32, 0.25, titles[i], x, y)) puts(tile_last_error());
    tile_copy_out(host, y, sizeof host, NULL);
    for (int i = 0; i < 4; i++) printf("%d ", (int)(host[i] * 100));
    puts("hundredths");
    return 0;
}
END
$TILEC line.py --arch=emulator:sm_80 --export 'line = Line(slope=2.5).compile(offset=1.0, title="none")' --with-source -o line.o -H line.h &&
$TILE_CC -I$TILE_ROOT/runtime/include -I. main.c line.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -o line -ldl -lpthread -lm
run() { # LOCALE: a cache and a record of its own
    TILEC_CACHE=$TMP/$1.cache TILE_CACHE=$TMP/$1.cache TILE_RECORD=$TMP/$1.record ./line "$@" > $1.said 2>&1
    cat $1.record >> $1.said
    ls $1.cache >> $1.said
}
run C
grep -vE '^[0-9a-f]{64}$' C.said
for locale in de_DE tr_TR; do
    run $locale.UTF-8 commas
    diff C.said $locale.UTF-8.said
done
