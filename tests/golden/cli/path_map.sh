# An object of a source in one folder is that of the same source in another, byte for byte, where -ffile-prefix-map hides the folder: its
# places for the emulator, its lines for debuggers, and the sources it carries, whose imports are found by their new names.
cd $TMP
export TILEC_CACHE=$TMP/cache
for folder in one two; do
    mkdir -p $folder/parts
    cp $TILE_ROOT/samples/add_one/add_one.tile $folder
    printf 'BLOCK = 128\n' > $folder/parts/sizes.py
    sed -i '1i from sizes import BLOCK' $folder/add_one.tile
done
build() { for folder in one two; do $TILEC $TMP/$folder/add_one.tile -I$TMP/$folder/parts --ptxas=none "$@" -o $folder.o || exit; done; }
same() { cmp -s one.o two.o && echo "the same" || echo "different"; }
all() { build "$@" -ffile-prefix-map=$TMP/one=/source -ffile-prefix-map=$TMP/two=/source; same; strings -a one.o | grep -c "$TMP"; }
echo '== a GPU alone needs no map'; build --arch=sm_80; same
echo '== the emulator'; build --arch=emulator; same; all --arch=emulator
echo '== lines'; build --arch=sm_80 -g; same; all --arch=sm_80 -g
echo '== with its source'; build --arch=emulator --with-source; same; all --arch=emulator --with-source
strings -a one.o | grep /source | sort -u
echo '== of several maps the last that fits; what begins otherwise stays'
$TILEC $TMP/one/add_one.tile -I$TMP/one/parts --arch=emulator -ffile-prefix-map=$TMP=/a -ffile-prefix-map=$TMP/one=/b -ffile-prefix-map=/none=/c -o x.o; strings -a x.o | grep add_one.tile | sort -u
echo '== refused'
$TILEC $TMP/one/add_one.tile -ffile-prefix-map=$TMP -o x.o 2>&1 | sed "s|$TMP|TMP|"
